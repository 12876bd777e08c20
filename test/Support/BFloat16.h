//===- BFloat16.h - bf16 in the tests' own words ----------------*- C++ -*-===//
#ifndef TESSERA_TEST_SUPPORT_BFLOAT16_H
#define TESSERA_TEST_SUPPORT_BFLOAT16_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tessera::test {

/// To nearest even, as IEEE 754 narrows; NaN stays NaN.
inline uint16_t toBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}
inline float fromBF16(uint16_t half) {
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

} // namespace tessera::test

#endif // TESSERA_TEST_SUPPORT_BFLOAT16_H
