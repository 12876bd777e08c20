//===- Options.cpp - Options of the virtual GPU ---------------------------===//
//
// Defaults come from the environment once; tessera_virtual_set_options
// replaces them.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cstdlib>
#include <mutex>
#include <thread>

using namespace tessera::vgpu;

namespace {
struct State {
  std::mutex mutex;
  bool read = false;
  tessera_virtual_options options = {};
  std::string error;
};

State &state() {
  static State *instance = new State; // outlives every caller
  return *instance;
}

/// Non-negative number in `name`, or `fallback` if it is not set.
uint64_t readNumber(const char *name, uint64_t fallback, std::string &error) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return fallback;
  char *end = nullptr;
  uint64_t value = std::strtoull(text, &end, 0);
  if (*end != '\0' || *text == '-') {
    error = std::string(name) + " is \"" + text +
            "\", expected a non-negative number";
    return fallback;
  }
  return value;
}

void readEnvironment(State &s) {
  if (s.read)
    return;
  s.read = true;
  auto number = [&](const char *name) { return readNumber(name, 0, s.error); };
  s.options.threads = uint32_t(number("TESSERA_VIRTUAL_THREADS"));
  s.options.seed = number("TESSERA_VIRTUAL_SEED");
  s.options.check = uint32_t(number("TESSERA_VIRTUAL_CHECK"));
  s.options.count = uint32_t(number("TESSERA_VIRTUAL_COUNT"));
  s.options.simd = uint32_t(number("TESSERA_VIRTUAL_SIMD"));
}
} // namespace

tessera_virtual_options tessera::vgpu::currentOptions(std::string &error) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  readEnvironment(s);
  error = s.error;
  return s.options;
}

uint32_t tessera::vgpu::defaultThreads() {
  uint32_t cores = std::thread::hardware_concurrency();
  // Ranks on this node, by launcher: ours, Open MPI, Slurm, torchrun.
  for (const char *name : {"TESSERA_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                           "SLURM_NTASKS_PER_NODE", "LOCAL_WORLD_SIZE"}) {
    std::string ignored;
    uint64_t ranks = readNumber(name, 0, ignored);
    if (ranks > 0) {
      cores = static_cast<uint32_t>(cores / ranks);
      break;
    }
  }
  return cores ? cores : 1;
}

extern "C" void tessera_virtual_get_options(tessera_virtual_options *options) {
  std::string ignored;
  *options = currentOptions(ignored);
}

extern "C" void
tessera_virtual_set_options(const tessera_virtual_options *options) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.read = true;
  s.error.clear();
  s.options = *options;
}
