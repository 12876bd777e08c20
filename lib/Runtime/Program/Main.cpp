//===- Main.cpp - main of every executable --------------------------------===//
//
// Only in libtessera_rt.a, where the linker finds it for an executable.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Program.h"

int main(int argc, char **argv) {
  return tessera::rt::programMain(argc, argv, tessera_manifest,
                                  tessera_forward);
}
