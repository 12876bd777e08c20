//===- File.cpp - reading files, writing them whole or not at all ---------===//
#include "tessera/Support/File.h"
#include "tessera/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

Expected<std::string> tessera::readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

Error tessera::writeFileAtomically(StringRef path,
                                   function_ref<void(raw_ostream &)> write) {
  if (path == "-") {
    write(outs());
    outs().flush();
    return Error::success();
  }
  Expected<sys::fs::TempFile> temp =
      sys::fs::TempFile::create(path + ".tmp-%%%%%%%%");
  if (!temp)
    return makeError("cannot write '" + path +
                     "': " + toString(temp.takeError()));
  {
    raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
    write(os);
    os.flush();
    if (os.has_error()) {
      std::string reason = os.error().message();
      os.clear_error();
      consumeError(temp->discard());
      return makeError("cannot write '" + path + "': " + reason);
    }
  }
  if (Error e = temp->keep(path))
    return makeError("cannot write '" + path + "': " + toString(std::move(e)));
  return Error::success();
}
