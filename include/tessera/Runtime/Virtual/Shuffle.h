//===- Shuffle.h - Source lane of shfl.sync ---------------------*- C++ -*-===//
//
// PTX ISA, "shfl.sync". Used by the compiler (constant arguments become vector
// shuffles) and by the runtime (the rest).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_VIRTUAL_SHUFFLE_H
#define TESSERA_RUNTIME_VIRTUAL_SHUFFLE_H

#include <cstdint>

namespace tessera {
namespace vgpu {

/// `kind`: 0 bfly, 1 up, 2 down, 3 idx; `b` is the lane operand, `c` packs the
/// clamp (bits 0-4) and the segment mask (bits 8-12). Sets `source`, the own
/// lane if it is out of range, and returns whether it is in range.
inline bool shuffleSource(uint32_t kind, uint32_t lane, uint32_t b, uint32_t c,
                          uint32_t &source) {
  uint32_t clamp = c & 31, segment = (c >> 8) & 31;
  b &= 31;
  int maxLane = static_cast<int>((lane & segment) | (clamp & ~segment));
  int minLane = static_cast<int>(lane & segment);
  int j = 0;
  bool valid = false;
  switch (kind) {
  case 0:
    j = static_cast<int>(lane ^ b);
    valid = j <= maxLane;
    break;
  case 1:
    j = static_cast<int>(lane) - static_cast<int>(b);
    valid = j >= maxLane;
    break;
  case 2:
    j = static_cast<int>(lane + b);
    valid = j <= maxLane;
    break;
  default:
    j = minLane | static_cast<int>(b & ~segment);
    valid = j <= maxLane;
    break;
  }
  source = valid ? static_cast<uint32_t>(j) & 31 : lane;
  return valid;
}

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_RUNTIME_VIRTUAL_SHUFFLE_H
