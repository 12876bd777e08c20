//===- Ptxas.cpp - PTX to cubin -------------------------------------------===//

#include "tessera/Target/Ptx.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

/// The pip wheel puts ptxas below site-packages of the active virtual
/// environment, of the Python that is on PATH, or of the user.
void wheelDirectories(SmallVectorImpl<std::string> &directories) {
  SmallVector<std::string> roots;
  if (auto env = sys::Process::GetEnv("VIRTUAL_ENV"))
    roots.push_back(*env);
  if (auto python = sys::findProgramByName("python3")) {
    SmallString<128> prefix(*python);
    sys::path::remove_filename(prefix);
    sys::path::remove_filename(prefix);
    roots.push_back(std::string(prefix));
  }
  if (auto home = sys::Process::GetEnv("HOME"))
    roots.push_back(*home + "/.local");
  roots.push_back("/usr/local");
  roots.push_back("/usr");
  for (const std::string &root : roots) {
    std::error_code ec;
    SmallString<128> lib(root);
    sys::path::append(lib, "lib");
    for (sys::fs::directory_iterator it(lib, ec), end; !ec && it != end;
         it.increment(ec)) {
      if (!sys::path::filename(it->path()).starts_with("python3"))
        continue;
      for (StringRef packages : {"site-packages", "dist-packages"})
        for (StringRef wheel : {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"}) {
          SmallString<128> directory(it->path());
          sys::path::append(directory, packages, wheel);
          directories.push_back(std::string(directory));
        }
    }
  }
}

/// "ptxas info    : Compiling entry function 'k' for 'sm_80'" starts a kernel;
/// the lines that follow belong to it.
std::vector<tessera::KernelResources> parseReport(StringRef report) {
  std::vector<tessera::KernelResources> kernels;
  Regex entry("Compiling entry function '([^']+)'");
  Regex stack("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, "
              "([0-9]+) bytes spill loads");
  Regex registers("Used ([0-9]+) registers");
  Regex shared("([0-9]+) bytes smem");
  auto number = [](StringRef text) {
    unsigned value = 0;
    (void)text.getAsInteger(10, value);
    return value;
  };
  SmallVector<StringRef> lines, match;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    if (entry.match(line, &match)) {
      kernels.emplace_back();
      kernels.back().kernel = match[1].str();
    }
    if (kernels.empty())
      continue;
    tessera::KernelResources &kernel = kernels.back();
    if (stack.match(line, &match)) {
      kernel.stackBytes = number(match[1]);
      kernel.spillStoreBytes = number(match[2]);
      kernel.spillLoadBytes = number(match[3]);
    }
    if (registers.match(line, &match))
      kernel.registers = number(match[1]);
    if (shared.match(line, &match))
      kernel.sharedBytes = number(match[1]);
  }
  return kernels;
}

std::string readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

} // namespace

std::string tessera::findPtxas() {
  if (auto path = sys::Process::GetEnv("TESSERA_PTXAS"))
    return *path;
  if (auto path = sys::findProgramByName("ptxas"))
    return *path;
  SmallVector<std::string> directories;
  for (const char *name : {"CUDA_PATH", "CUDA_HOME"})
    if (auto root = sys::Process::GetEnv(name))
      directories.push_back(*root + "/bin");
  directories.push_back("/usr/local/cuda/bin");
  wheelDirectories(directories);
  for (const std::string &directory : directories) {
    std::string path = directory + "/ptxas";
    if (sys::fs::can_execute(path))
      return path;
  }
  return "";
}

std::optional<std::string>
tessera::assemblePtx(StringRef ptx, StringRef chip, std::string &error,
                     std::vector<KernelResources> *resources) {
  std::string ptxas = findPtxas();
  if (ptxas.empty()) {
    error = "no ptxas found: set TESSERA_PTXAS, install a CUDA toolkit, or "
            "'pip install nvidia-cuda-nvcc'";
    return std::nullopt;
  }
  SmallString<128> input, output, log;
  if (sys::fs::createTemporaryFile("tessera", "ptx", input) ||
      sys::fs::createTemporaryFile("tessera", "cubin", output) ||
      sys::fs::createTemporaryFile("tessera", "log", log)) {
    error = "cannot create temporary files for ptxas";
    return std::nullopt;
  }
  scope_exit cleanup([&] {
    sys::fs::remove(input);
    sys::fs::remove(output);
    sys::fs::remove(log);
  });
  {
    std::error_code ec;
    raw_fd_ostream stream(input, ec);
    if (!ec) {
      stream << ptx;
      stream.close();
      ec = stream.error();
      stream.clear_error();
    }
    if (ec) {
      error = "cannot write '" + std::string(input) + "': " + ec.message();
      return std::nullopt;
    }
  }
  std::string arch = ("-arch=" + chip).str();
  StringRef args[] = {ptxas, "-v", "-O3", arch, input, "-o", output};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  std::string message;
  int code =
      sys::ExecuteAndWait(ptxas, args, std::nullopt, redirects, 0, 0, &message);
  std::string report = readFile(log);
  if (code != 0) {
    error = ptxas + " failed" + (message.empty() ? "" : ": " + message) + "\n" +
            report;
    return std::nullopt;
  }
  if (resources)
    *resources = parseReport(report);
  return readFile(output);
}
