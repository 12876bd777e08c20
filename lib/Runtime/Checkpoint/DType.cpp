//===- DType.cpp - element types and their conversion ---------------------===//
//
// Names, sizes and exact conversions. F64 goes to the 16-bit types through a
// float rounded to odd, so that it is rounded once.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/DType.h"

namespace tessera::rt {

namespace {
struct TypeRow {
  DType type;
  size_t size;
  const char *name;
  const char *safetensors;
};
/// Safetensors names: the format's published list of `dtype` strings
/// (huggingface/safetensors, "Format").
constexpr TypeRow typeRows[] = {
    {DType::Bool, 1, "i1", "BOOL"},
    {DType::I8, 1, "i8", "I8"},
    {DType::U8, 1, "ui8", "U8"},
    {DType::I16, 2, "i16", "I16"},
    {DType::U16, 2, "ui16", "U16"},
    {DType::I32, 4, "i32", "I32"},
    {DType::U32, 4, "ui32", "U32"},
    {DType::I64, 8, "i64", "I64"},
    {DType::U64, 8, "ui64", "U64"},
    {DType::F8E4M3, 1, "f8E4M3FN", "F8_E4M3"},
    {DType::F8E5M2, 1, "f8E5M2", "F8_E5M2"},
    {DType::F16, 2, "f16", "F16"},
    {DType::BF16, 2, "bf16", "BF16"},
    {DType::F32, 4, "f32", "F32"},
    {DType::F64, 8, "f64", "F64"},
};
const TypeRow &rowOf(DType type) { return typeRows[static_cast<int>(type)]; }

template <DType T>
struct Element;
template <>
struct Element<DType::F64> {
  using Storage = double;
  static double widen(Storage s) { return s; }
  static Storage narrow(double d) { return d; }
};
template <>
struct Element<DType::F32> {
  using Storage = float;
  static float widen(Storage s) { return s; }
  static Storage narrow(float f) { return f; }
  static Storage narrow(double d) { return static_cast<float>(d); }
};
template <>
struct Element<DType::F16> {
  using Storage = uint16_t;
  static float widen(Storage s) { return f16ToFloat(s); }
  static Storage narrow(float f) { return floatToF16(f); }
  static Storage narrow(double d) { return floatToF16(doubleToFloatOdd(d)); }
};
template <>
struct Element<DType::BF16> {
  using Storage = uint16_t;
  static float widen(Storage s) { return bf16ToFloat(s); }
  static Storage narrow(float f) { return floatToBF16(f); }
  static Storage narrow(double d) { return floatToBF16(doubleToFloatOdd(d)); }
};

template <DType S, DType D>
void convertLoop(const void *src, void *dst, size_t n) {
  using SrcT = typename Element<S>::Storage;
  using DstT = typename Element<D>::Storage;
  const char *in = static_cast<const char *>(src);
  DstT *out = static_cast<DstT *>(dst);
  for (size_t i = 0; i < n; ++i) {
    SrcT s;
    std::memcpy(&s, in + i * sizeof(SrcT), sizeof(SrcT));
    out[i] = Element<D>::narrow(Element<S>::widen(s));
  }
}

template <DType S>
bool convertFrom(const void *src, DType dstType, void *dst, size_t n) {
  if (dstType == S) {
    if (n)
      std::memcpy(dst, src, n * sizeOf(S));
    return true;
  }
  switch (dstType) {
  case DType::F64:
    convertLoop<S, DType::F64>(src, dst, n);
    return true;
  case DType::F32:
    convertLoop<S, DType::F32>(src, dst, n);
    return true;
  case DType::F16:
    convertLoop<S, DType::F16>(src, dst, n);
    return true;
  case DType::BF16:
    convertLoop<S, DType::BF16>(src, dst, n);
    return true;
  default:
    return false;
  }
}
} // namespace

size_t sizeOf(DType type) { return rowOf(type).size; }
const char *nameOf(DType type) { return rowOf(type).name; }
const char *safetensorsNameOf(DType type) { return rowOf(type).safetensors; }

bool isFloat(DType type) {
  return type == DType::F16 || type == DType::BF16 || type == DType::F32 ||
         type == DType::F64;
}

std::optional<DType> parseDType(std::string_view name) {
  for (const TypeRow &row : typeRows)
    if (name == row.name)
      return row.type;
  return std::nullopt;
}

std::optional<DType> parseSafetensorsDType(std::string_view name) {
  for (const TypeRow &row : typeRows)
    if (name == row.safetensors)
      return row.type;
  return std::nullopt;
}

float f16ToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ffu;
  if (exponent == 0x1f) // infinity or NaN (quiet)
    return bitsToFloat(sign | 0x7f800000u | (mantissa << 13) |
                       (mantissa ? 0x400000u : 0));
  if (exponent == 0) { // zero or subnormal: mantissa * 2^-24, exact
    float f = float(mantissa) * 0x1p-24f;
    return sign ? -f : f;
  }
  return bitsToFloat(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t floatToF16(float f) {
  uint32_t u = floatToBits(f);
  uint16_t sign = uint16_t((u >> 16) & 0x8000u);
  uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) // NaN: keep the top bits, make it quiet
    return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) // 65520 and up rounds to infinity
    return uint16_t(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // below 2^-14: subnormal, units of 2^-24
    if (magnitude < 0x33000000u) // below 2^-25 rounds to zero
      return sign;
    uint32_t exponent = magnitude >> 23;
    uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t shift = 126 - exponent; // 14 .. 24
    uint32_t half = 1u << (shift - 1), kept = mantissa >> shift;
    uint32_t rest = mantissa & ((1u << shift) - 1);
    if (rest > half || (rest == half && (kept & 1)))
      ++kept;
    return uint16_t(sign | kept);
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

float doubleToFloatOdd(double d) {
  float f = static_cast<float>(d);
  double back = f;
  if (back == d || d != d || back == 0.0 || floatToBits(f) << 1 == 0xff000000u)
    // Exact, NaN, or beyond both ends of float: the 16-bit types round such
    // values the same way (to zero, to infinity).
    return f;
  uint32_t bits = floatToBits(f);
  if (bits & 1)
    return f;
  // Even and inexact: the odd neighbour on d's side.
  bool away = (back < d) == (d > 0);
  return bitsToFloat(away ? bits + 1 : bits - 1);
}

bool convert(DType srcType, const void *src, DType dstType, void *dst,
             size_t n) {
  switch (srcType) {
  case DType::F64:
    return convertFrom<DType::F64>(src, dstType, dst, n);
  case DType::F32:
    return convertFrom<DType::F32>(src, dstType, dst, n);
  case DType::F16:
    return convertFrom<DType::F16>(src, dstType, dst, n);
  case DType::BF16:
    return convertFrom<DType::BF16>(src, dstType, dst, n);
  default:
    return false;
  }
}

} // namespace tessera::rt
