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

bool tessera::isSpecialFile(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return false;
  return status.type() != sys::fs::file_type::regular_file &&
         status.type() != sys::fs::file_type::directory_file;
}

Error tessera::flushStandardOutput() {
  outs().flush();
  if (!outs().has_error())
    return Error::success();
  std::string reason = outs().error().message();
  outs().clear_error();
  return makeError("cannot write standard output: " + reason);
}

/// Writes into what is at `path`.
static Error writeInto(StringRef path,
                       function_ref<void(raw_ostream &)> write) {
  std::error_code code;
  raw_fd_ostream os(path, code, sys::fs::CD_OpenExisting, sys::fs::FA_Write,
                    sys::fs::OF_None);
  if (!code) {
    write(os);
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return tessera::makeError("cannot write '" + path + "': " + code.message());
  return Error::success();
}

Error tessera::writeFileAtomically(StringRef path,
                                   function_ref<void(raw_ostream &)> write) {
  if (path == "-") {
    write(outs());
    return flushStandardOutput();
  }
  if (isSpecialFile(path))
    return writeInto(path, write);
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
