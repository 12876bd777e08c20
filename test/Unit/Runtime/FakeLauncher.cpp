//===- FakeLauncher.cpp - the launcher as a command -----------------------===//
//
// `runtime-launch N command...`: what `tessera run -n N` does.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Launch.h"
#include <cstdlib>

int main(int argc, char **argv) {
  return tessera::rt::launchRanks(argc > 1 ? std::atoi(argv[1]) : 0,
                                  {argv + (argc > 1 ? 2 : argc), argv + argc});
}
