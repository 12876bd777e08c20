//===- Link.cpp - objects and runtime to one program ----------------------===//
#include "tessera/Runtime/ProgramFile.h"
#include "tessera/Support/File.h"
#include "tessera/Target/Executable.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace tessera;

std::string tessera::findRuntimeArchive() {
  if (auto path = sys::Process::GetEnv("TESSERA_RUNTIME_LIB"))
    return *path;
  std::string program = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findRuntimeArchive));
  SmallString<128> root(
      sys::path::parent_path(sys::path::parent_path(program)));
  for (StringRef folder : {"lib", "lib/tessera"}) {
    SmallString<128> path = root;
    sys::path::append(path, folder, "libtessera_rt.a");
    if (sys::fs::exists(path))
      return std::string(path);
  }
  return "";
}

std::string tessera::findLinker() {
  if (auto path = sys::Process::GetEnv("TESSERA_CXX"))
    return *path;
  for (StringRef name : {"clang++-22", "clang++", "g++", "c++"})
    if (auto path = sys::findProgramByName(name))
      return *path;
  return "";
}

static std::string writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return ("cannot write '" + path + "': " + code.message()).str();
  return "";
}

std::string tessera::linkExecutable(ArrayRef<StringRef> objects,
                                    const LinkOptions &options) {
  std::string linker = findLinker();
  if (linker.empty())
    return "no linker found: install clang or g++, or set TESSERA_CXX to a C++ "
           "compiler driver; '--emit=ptx' and '--emit=cubin' need none";
  std::string runtime = options.runtimeArchive.empty() ? findRuntimeArchive()
                                                       : options.runtimeArchive;
  if (runtime.empty() || !sys::fs::exists(runtime))
    return "no libtessera_rt.a" +
           (runtime.empty() ? std::string(" beside the program")
                            : " at '" + runtime + "'") +
           "; set TESSERA_RUNTIME_LIB to its path";

  if (sys::fs::is_directory(options.output))
    return "cannot write '" + options.output + "': Is a directory";
  SmallVector<SmallString<128>> paths;
  SmallString<128> log, result(options.output);
  bool special = isSpecialFile(options.output);
  if (!special)
    result += ".tmp-" + std::to_string(sys::Process::getProcessId());
  else if (sys::fs::createTemporaryFile("tessera", "exe", result))
    return "cannot create a temporary file to link";
  scope_exit cleanup([&] {
    for (auto &path : paths)
      sys::fs::remove(path);
    if (!log.empty())
      sys::fs::remove(log);
    sys::fs::remove(result);
  });
  for (StringRef object : objects) {
    SmallString<128> path;
    if (sys::fs::createTemporaryFile("tessera", "o", path))
      return "cannot create a temporary file to link";
    paths.push_back(path);
    std::string error = writeFile(path, object);
    if (!error.empty())
      return error;
  }
  if (sys::fs::createTemporaryFile("tessera", "log", log))
    return "cannot create a temporary file to link";

  SmallVector<StringRef> arguments = {linker, "-o", result};
  for (auto &path : paths)
    arguments.push_back(path);
  for (StringRef flag :
       {StringRef(runtime), StringRef("-static-libstdc++"),
        StringRef("-static-libgcc"), StringRef("-pthread"), StringRef("-ldl"),
        StringRef("-lm"), StringRef("-lrt")})
    arguments.push_back(flag);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  std::string error;
  int code = sys::ExecuteAndWait(linker, arguments, std::nullopt, redirects, 0,
                                 0, &error);
  if (code != 0) {
    std::string text = error;
    if (auto buffer = MemoryBuffer::getFile(log))
      text += (*buffer)->getBuffer().take_front(4000).str();
    return "linking with '" + linker + "' failed: " + text;
  }
  if (rt::Status failed = rt::sealProgram(std::string(result)))
    return failed.message();
  if (std::error_code failed = special
                                   ? sys::fs::copy_file(result, options.output)
                                   : sys::fs::rename(result, options.output))
    return "cannot write '" + options.output + "': " + failed.message();
  return "";
}
