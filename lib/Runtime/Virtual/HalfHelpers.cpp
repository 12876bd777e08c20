//===- HalfHelpers.cpp - Conversions that compiled code may call ----------===//
//
// Compilers lower arithmetic on 16-bit floats to these functions of the
// compiler's own library where the CPU lacks the instruction. Not every
// system's library has them (libgcc 12 has no bfloat16 ones), so they are here,
// weak: a library's own definition is as good. A 16-bit float of either format
// is passed in the same register, so _Float16 stands for both.
//
//===----------------------------------------------------------------------===//

#include "HalfHelpers.h"

#include <cstring>

using namespace tessera::vgpu;

namespace {
template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Rounds a float to nearest even of a narrower format, given as mantissa and
/// smallest normal exponent. Works for f16; bf16 has f32's exponents.
uint16_t halfFromFloat(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  // 65520 and above round to infinity.
  if (magnitude >= 0x477ff000)
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 puts the rounding position where f32's own is.
    float shifted = bitCast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign |
                                 (bitCast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t odd = magnitude >> 13 & 1;
  uint32_t rounded = magnitude + 0xfff + odd - 0x38000000;
  return static_cast<uint16_t>(sign | rounded >> 13);
}
} // namespace

uint16_t tessera::vgpu::roundToBF16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t tessera::vgpu::roundToF16(float value) { return halfFromFloat(value); }

float tessera::vgpu::extendF16(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return bitCast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // The scale also normalises subnormals.
  float scaled = bitCast<float>(magnitude << 13) * 0x1p112f;
  return bitCast<float>(bitCast<uint32_t>(scaled) | sign);
}

float tessera::vgpu::narrowToOdd(double value) {
  // Rounding twice is right if the first rounding is to odd (Boldo, Melquiond,
  // "Emulation of FMA and correctly rounded sums", 2008).
  auto single = static_cast<float>(value);
  if (static_cast<double>(single) == value || value != value)
    return single;
  uint32_t bits = bitCast<uint32_t>(single);
  if (bits & 1)
    return single;
  double back = static_cast<double>(single);
  bool larger = back < 0 ? back < value : back > value;
  // Step towards zero if rounded away from it, else away from zero.
  return bitCast<float>(larger ? bits - 1 : bits + 1);
}

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" {
#define WEAK __attribute__((weak))
WEAK _Float16 __truncsfbf2(float v) { return bitCast<_Float16>(roundToBF16(v)); }
WEAK _Float16 __truncdfbf2(double v) {
  return bitCast<_Float16>(roundToBF16(narrowToOdd(v)));
}
WEAK _Float16 __truncsfhf2(float v) { return bitCast<_Float16>(roundToF16(v)); }
WEAK _Float16 __truncdfhf2(double v) {
  return bitCast<_Float16>(roundToF16(narrowToOdd(v)));
}
WEAK float __extendhfsf2(_Float16 v) {
  return extendF16(bitCast<uint16_t>(v));
}
#undef WEAK
}
#endif
