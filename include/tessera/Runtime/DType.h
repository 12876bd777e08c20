//===- DType.h - element types and their conversion -------------*- C++ -*-===//
//
// The element types that files, manifests and collectives share, and exact
// conversions between the floating-point ones (round to nearest, ties to even;
// NaN stays NaN; overflow goes to infinity).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DTYPE_H
#define TESSERA_RUNTIME_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::rt {

enum class DType : uint8_t {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
};

/// Bytes of one element.
size_t sizeOf(DType type);
/// The name in manifests: "f32", "bf16", "i32", ...
const char *nameOf(DType type);
/// True for F16, BF16, F32 and F64.
bool isFloat(DType type);
/// From a manifest's name ("f32"); nothing for an unknown one.
std::optional<DType> parseDType(std::string_view name);
/// From a safetensors name ("F32", "BF16", "F8_E4M3"); nothing for others.
std::optional<DType> parseSafetensorsDType(std::string_view name);
/// The safetensors name of a type.
const char *safetensorsNameOf(DType type);

inline float bitsToFloat(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
inline uint32_t floatToBits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

inline float bf16ToFloat(uint16_t h) { return bitsToFloat(uint32_t(h) << 16); }
inline uint16_t floatToBF16(float f) {
  uint32_t u = floatToBits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) // NaN: keep it one, make it quiet
    return uint16_t((u >> 16) | 0x40);
  return uint16_t((u + 0x7fffu + ((u >> 16) & 1)) >> 16);
}
float f16ToFloat(uint16_t h);
uint16_t floatToF16(float f);
/// To float, rounded to odd: a second rounding to a type of at most 22
/// significant bits is then right (Boldo and Melquiond, "Emulation of FMA and
/// correctly rounded sums: proved algorithms using rounding to odd", 2008).
float doubleToFloatOdd(double d);

/// Converts `n` elements between two floating-point types. `src` needs no
/// alignment; `dst` must be aligned for its type. False when either type is no
/// float type (nothing is written).
bool convert(DType srcType, const void *src, DType dstType, void *dst,
             size_t n);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_DTYPE_H
