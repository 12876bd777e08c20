//===- File.cpp - reading files, writing them whole or not at all ---------===//
#include "tessera/Support/File.h"
#include "tessera/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <vector>

using namespace llvm;

/// Configs, clusters, graphs and tables of measurements are far smaller; what
/// parsers make of a text takes many times its size.
static constexpr size_t kLargestText = size_t(64) << 20;

static Error tooLarge(StringRef path) {
  return tessera::makeError("'" + path + "' has more than the " +
                            Twine(kLargestText >> 20) +
                            " MiB that are read of a text");
}

/// What has no size beforehand: standard input, a pipe.
static Expected<std::string> readStream(sys::fs::file_t file, StringRef path) {
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (text.size() <= kLargestText) {
    Expected<size_t> count = sys::fs::readNativeFile(file, chunk);
    if (!count)
      return tessera::makeError("cannot read '" + path +
                                "': " + toString(count.takeError()));
    if (*count == 0)
      return text;
    text.append(chunk.data(), *count);
  }
  return tooLarge(path);
}

Expected<std::string> tessera::readFile(StringRef path) {
  if (path == "-")
    return readStream(sys::fs::getStdinHandle(), path);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status)) {
    // Some devices never end.
    if (status.type() == sys::fs::file_type::character_file ||
        status.type() == sys::fs::file_type::block_file)
      return makeError("cannot read '" + path + "': it is a device");
    if (status.type() == sys::fs::file_type::regular_file &&
        status.getSize() > kLargestText)
      return tooLarge(path);
  }
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return makeError("cannot read '" + path +
                     "': " + toString(file.takeError()));
  Expected<std::string> text = readStream(*file, path);
  sys::fs::closeFile(*file);
  return text;
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
