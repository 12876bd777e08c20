//===- ChipLimits.h - what a kernel may ask of one multiprocessor ---------===//
//
// Hard limits by compute capability: CUDA C++ Programming Guide, "Features and
// Technical Specifications", table "Technical Specifications per Compute
// Capability". Used to decide whether a configuration is legal and how many
// blocks of it a multiprocessor holds.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_CHIPLIMITS_H
#define TESSERA_CONVERSION_KERNELTOGPU_CHIPLIMITS_H

#include <cstdint>
#include <optional>

namespace tessera::kernels {

struct ChipLimits {
  int computeCapability = 80;
  /// Dynamic shared memory of one block after opting in, bytes.
  int64_t sharedBytesPerBlock = 163 * 1024;
  int64_t sharedBytesPerSM = 164 * 1024;
  /// Shared memory that the system takes of each resident block, bytes.
  int64_t sharedBytesReserved = 1024;
  int64_t registersPerSM = 65536;
  int64_t registersPerThread = 255;
  int64_t threadsPerBlock = 1024;
  int64_t threadsPerSM = 2048;
  int64_t blocksPerSM = 32;
  /// Multiprocessors of the usual product of this capability; tells how many
  /// blocks fill the chip, no limit.
  int64_t multiprocessors = 108;
};

/// Limits of a chip by compute capability (80 for sm_80); nothing for chips
/// before sm_80, which lack cp.async and bf16 tensor cores.
std::optional<ChipLimits> chipLimits(int computeCapability);

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_CHIPLIMITS_H
