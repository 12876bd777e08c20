//===- ChipLimits.cpp - what a kernel may ask of one multiprocessor -------===//
#include "tessera/Conversion/KernelToGPU/ChipLimits.h"

using namespace tessera::kernels;

std::optional<ChipLimits> tessera::kernels::chipLimits(int computeCapability) {
  constexpr int64_t KiB = 1024;
  ChipLimits limits;
  limits.computeCapability = computeCapability;
  switch (computeCapability) {
  case 80: // A100
    return limits;
  case 86: // A40, GeForce 30
    limits.multiprocessors = 84;
    limits.blocksPerSM = 16;
    limits.threadsPerSM = 1536;
    limits.sharedBytesPerBlock = 99 * KiB;
    limits.sharedBytesPerSM = 100 * KiB;
    return limits;
  case 89:  // L4, L40, GeForce 40
  case 120: // GeForce 50
    limits.multiprocessors = computeCapability == 89 ? 142 : 170;
    limits.blocksPerSM = computeCapability == 89 ? 24 : 32;
    limits.threadsPerSM = 1536;
    limits.sharedBytesPerBlock = 99 * KiB;
    limits.sharedBytesPerSM = 100 * KiB;
    return limits;
  case 90:  // H100, H200
  case 100: // B200
  case 103: // B300
    limits.multiprocessors = computeCapability == 90 ? 132 : 148;
    limits.sharedBytesPerBlock = 227 * KiB;
    limits.sharedBytesPerSM = 228 * KiB;
    return limits;
  default:
    return std::nullopt;
  }
}
