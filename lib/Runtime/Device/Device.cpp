//===- Device.cpp - the current device and the launch entry ---------------===//
//
// tessera_launch is what emitted host code calls. Failures there are fatal: the
// forward pass has no way to report them.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Device.h"

#include "tessera/Runtime/Fatal.h"

namespace tessera::rt {

namespace {
Device *current = nullptr;
} // namespace

Device *currentDevice() { return current; }
void setCurrentDevice(Device *device) { current = device; }

} // namespace tessera::rt

using namespace tessera::rt;

extern "C" void tessera_launch(const tessera_binary_table *table,
                               uint32_t kernel, uint64_t gridX, uint64_t gridY,
                               uint64_t gridZ, uint64_t blockX, uint64_t blockY,
                               uint64_t blockZ, uint32_t dynamicSharedBytes,
                               void *stream, void **params) {
  if (table->version != TESSERA_BINARY_TABLE_VERSION)
    fatal("binary table has version " + std::to_string(table->version) +
          ", this runtime reads version " +
          std::to_string(TESSERA_BINARY_TABLE_VERSION));
  if (kernel >= table->num_kernels)
    fatal(std::string("binary '") + table->name + "' has no kernel number " +
          std::to_string(kernel) + " (it holds " +
          std::to_string(table->num_kernels) + ")");
  if (!currentDevice())
    fatal(std::string("kernel '") + table->kernel_names[kernel] +
          "' launched before a device was opened");
  // A grid without blocks is legal in emitted code (an empty shard) and does
  // nothing; CUDA would reject it.
  if (gridX == 0 || gridY == 0 || gridZ == 0)
    return;
  LaunchDims dims{
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicSharedBytes};
  if (Status s = currentDevice()->launch(table, kernel, dims, stream, params))
    fatal(s.message());
}
