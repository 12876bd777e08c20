//===- HalfHelpers.h - 16-bit float conversions -----------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_HALFHELPERS_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_HALFHELPERS_H

#include <cstdint>

namespace tessera {
namespace vgpu {

/// To nearest, ties to even; NaN stays NaN.
uint16_t roundToBF16(float value);
uint16_t roundToF16(float value);
/// Exact.
float extendF16(uint16_t half);
/// f64 to f32, rounding to odd, so that a second rounding is right.
float narrowToOdd(double value);

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_HALFHELPERS_H
