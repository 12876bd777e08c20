//===- File.cpp - reading files, writing them whole or not at all ---------===//
#include "tessera/Support/File.h"
#include "tessera/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

Expected<std::string> tessera::readFile(StringRef path) {
  // Some devices never end.
  sys::fs::file_status status;
  if (path != "-" && !sys::fs::status(path, status) &&
      (status.type() == sys::fs::file_type::character_file ||
       status.type() == sys::fs::file_type::block_file))
    return makeError("cannot read '" + path + "': it is a device");
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

Error tessera::checkWritable(StringRef path) {
  if (path == "-" || isSpecialFile(path))
    return Error::success();
  auto refuse = [&](const Twine &why) {
    return makeError("cannot write '" + path + "': " + why);
  };
  if (path.empty() || sys::path::is_separator(path.back()))
    return refuse("expected the name of a file");
  if (sys::fs::is_directory(path))
    return refuse("it is a folder");
  StringRef folder = sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (!sys::fs::exists(folder))
    return refuse("no folder '" + folder + "'");
  if (!sys::fs::is_directory(folder))
    return refuse("'" + folder + "' is no folder");
  if (std::error_code code =
          sys::fs::access(folder, sys::fs::AccessMode::Write))
    return refuse("folder '" + folder + "': " + code.message());
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
