//===- Main.cpp - gpu-check
//------------------------------------------------===//
//
//   gpu-check kernels [--device=auto|virtual|cuda] [--filter TEXT]
//                     [--repeat N] [--spoil]
//   gpu-check losses GOT.safetensors REFERENCE.safetensors
//                    [--tolerance T | --mean T]
//   gpu-check run -n RANKS PROGRAM [OPTION...]
//   gpu-check devices
//
// Needs nothing but a driver, and not even that with --device=virtual.
//
//===----------------------------------------------------------------------===//
#include "Runner.h"

#include "tessera/Runtime/Launch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::rt;

static int fail(const std::string &message, int code = exitFailure) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

namespace {
/// Options "--name=value" or "--name value"; what is none of them is taken in
/// order.
class Line {
public:
  Line(int argc, char **argv) : words(argv, argv + argc) {}
  bool flag(const std::string &name) {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] == name) {
        words.erase(words.begin() + i);
        return true;
      }
    return false;
  }
  std::optional<std::string> value(const std::string &name) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].rfind(name + "=", 0) == 0) {
        std::string result = words[i].substr(name.size() + 1);
        words.erase(words.begin() + i);
        return result;
      }
      if (words[i] == name && i + 1 < words.size()) {
        std::string result = words[i + 1];
        words.erase(words.begin() + i, words.begin() + i + 2);
        return result;
      }
    }
    return std::nullopt;
  }
  std::vector<std::string> words;
};

bool parsePositive(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && number > 0;
}
} // namespace

static Expected<std::unique_ptr<Device>> openDevice(const std::string &kind) {
  if (kind == "virtual")
    return createVirtualDevice();
  if (kind == "cuda")
    return createCudaDevice(0);
  if (kind != "auto")
    return failure("unknown device '", kind,
                   "', expected auto, virtual or cuda");
  auto count = countCudaDevices();
  return count && *count > 0 ? createCudaDevice(0) : createVirtualDevice();
}

static int kernelsCommand(Line line) {
  check::RunOptions options;
  std::string kind = line.value("--device").value_or("auto");
  options.filter = line.value("--filter").value_or("");
  options.spoil = line.flag("--spoil");
  if (auto text = line.value("--repeat")) {
    double number = 0;
    if (!parsePositive(*text, number) || number != int(number))
      return fail("--repeat must be at least 1, got '" + *text + "'",
                  exitUsage);
    options.repeat = int(number);
  }
  if (!line.words.empty())
    return fail("unknown argument '" + line.words[0] + "'", exitUsage);
  auto device = openDevice(kind);
  if (!device)
    return fail(device.message());
  std::printf("%s\n", (*device)->describe().c_str());
  setCurrentDevice(device->get());
  return check::runKernels(**device, options) ? 0 : exitFailure;
}

static int lossesCommand(Line line) {
  auto mean = line.value("--mean"), token = line.value("--tolerance");
  if (mean && token)
    return fail("--mean and --tolerance exclude each other", exitUsage);
  std::string text = mean ? *mean : token.value_or("1e-4");
  double tolerance = 0;
  if (!parsePositive(text, tolerance))
    return fail("a tolerance must be above 0, got '" + text + "'", exitUsage);
  if (line.words.size() != 2)
    return fail("losses takes two files, the run's and the reference",
                exitUsage);
  return check::compareLosses(line.words[0], line.words[1], tolerance,
                              mean.has_value())
             ? 0
             : exitFailure;
}

static int runCommand(Line line) {
  double ranks = 1;
  if (line.words.size() >= 2 && line.words[0] == "-n") {
    if (!parsePositive(line.words[1], ranks) || ranks != int(ranks))
      return fail("-n needs a number of ranks, got '" + line.words[1] + "'",
                  exitUsage);
    line.words.erase(line.words.begin(), line.words.begin() + 2);
  }
  if (line.words.empty())
    return fail("run needs a program", exitUsage);
  return launchRanks(int(ranks), line.words);
}

static int devicesCommand() {
  auto count = countCudaDevices();
  if (!count)
    return fail(count.message());
  std::printf("%d\n", *count);
  return 0;
}

int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  Line line(argc > 2 ? argc - 2 : 0, argv + (argc > 2 ? 2 : 0));
  if (command == "kernels")
    return kernelsCommand(line);
  if (command == "losses")
    return lossesCommand(line);
  if (command == "run")
    return runCommand(line);
  if (command == "devices")
    return devicesCommand();
  return fail("expected 'kernels', 'losses', 'run' or 'devices', got '" +
                  command + "'",
              exitUsage);
}
