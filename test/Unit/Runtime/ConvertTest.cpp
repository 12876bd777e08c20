//===- ConvertTest.cpp - conversions against arithmetic in double ---------===//
//
// The reference rounds a double to a format with p significant bits by scaling
// to an integer and std::nearbyint (ties to even in the default mode); it
// shares no code and no bit trick with the runtime.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/DType.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tessera::rt;

namespace {
/// `x` rounded to `precision` significant bits with exponents in
/// [minExponent, maxExponent] (of the leading bit), subnormals below.
double roundTo(double x, int precision, int minExponent, int maxExponent) {
  if (x == 0 || std::isnan(x) || std::isinf(x))
    return x;
  int exponent = std::max(std::ilogb(x), minExponent);
  double unit = std::ldexp(1.0, exponent - precision + 1);
  double r = std::nearbyint(x / unit) * unit;
  if (std::fabs(r) >= std::ldexp(1.0, maxExponent + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  return r;
}
double toF16(double x) { return roundTo(x, 11, -14, 15); }
double toBF16(double x) { return roundTo(x, 8, -126, 127); }

/// Equal values, both NaN, and zeros of the same sign.
bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// Doubles around every kind of boundary, and random bits.
std::vector<double> interesting() {
  std::vector<double> v = {0.0,       -0.0,   1e-320,  -1e-320,   INFINITY,
                           -INFINITY, NAN,    65504,   65519.999, 65520,
                           65520.001, 3.4e38, 3.39e38, -3.4e38,   1e300,
                           -1e300,    1e-300};
  std::mt19937_64 rng(7);
  for (int e = -160; e <= 130; ++e)
    for (int i = 0; i < 40; ++i) {
      // Few significant bits, so that ties are common, then a nudge.
      double m = double(rng() % 8192) / 8192.0 + 1.0;
      double x = std::ldexp(m, e);
      v.push_back(x);
      v.push_back(-x);
      v.push_back(std::nextafter(x, INFINITY));
      v.push_back(std::nextafter(x, 0));
      // Just beside a tie, by less than half a float ulp.
      v.push_back(x * (1 + std::ldexp(1.0, -30)));
      v.push_back(x * (1 - std::ldexp(1.0, -30)));
    }
  return v;
}
} // namespace

TEST(Convert, EveryF16Widens) {
  for (int h = 0; h < 65536; ++h) {
    int exponent = (h >> 10) & 31, mantissa = h & 1023;
    double expected = exponent == 31 ? (mantissa ? NAN : INFINITY)
                      : exponent ? std::ldexp(1024 + mantissa, exponent - 25)
                                 : std::ldexp(mantissa, -24);
    if (h & 0x8000)
      expected = -expected;
    EXPECT_TRUE(same(f16ToFloat(uint16_t(h)), expected)) << h;
  }
}

TEST(Convert, EveryF16AndBF16SurvivesARoundTrip) {
  for (int h = 0; h < 65536; ++h) {
    float f = f16ToFloat(uint16_t(h)), b = bf16ToFloat(uint16_t(h));
    if (!std::isnan(f))
      EXPECT_EQ(floatToF16(f), h);
    else
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(f)))) << h;
    if (!std::isnan(b))
      EXPECT_EQ(floatToBF16(b), h);
    else
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBF16(b)))) << h;
  }
}

TEST(Convert, F32RoundsToNearestEven) {
  for (double d : interesting()) {
    float f = static_cast<float>(d);
    EXPECT_TRUE(same(f16ToFloat(floatToF16(f)), toF16(f))) << f;
    EXPECT_TRUE(same(bf16ToFloat(floatToBF16(f)), toBF16(f))) << f;
  }
}

TEST(Convert, F64IsRoundedOnce) {
  std::vector<double> in = interesting();
  std::vector<uint16_t> h(in.size()), b(in.size());
  std::vector<float> f(in.size());
  ASSERT_TRUE(convert(DType::F64, in.data(), DType::F16, h.data(), in.size()));
  ASSERT_TRUE(convert(DType::F64, in.data(), DType::BF16, b.data(), in.size()));
  ASSERT_TRUE(convert(DType::F64, in.data(), DType::F32, f.data(), in.size()));
  bool twiceDiffers = false;
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_TRUE(same(f16ToFloat(h[i]), toF16(in[i]))) << in[i];
    EXPECT_TRUE(same(bf16ToFloat(b[i]), toBF16(in[i]))) << in[i];
    EXPECT_TRUE(same(f[i], roundTo(in[i], 24, -126, 127))) << in[i];
    twiceDiffers |= !same(bf16ToFloat(floatToBF16(f[i])), toBF16(in[i]));
  }
  // The test data contain values on which rounding twice would be wrong.
  EXPECT_TRUE(twiceDiffers);
}

TEST(Convert, UnalignedSourceAndAllPairs) {
  const DType types[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
  for (DType s : types)
    for (DType d : types) {
      double values[] = {1.5, -2.25, 0.0, 96.0, -0.0078125};
      std::vector<char> raw(1 + 5 * sizeOf(s));
      ASSERT_TRUE(
          convert(DType::F64, values, s, std::vector<uint64_t>(5).data(), 5));
      std::vector<uint64_t> staged(5);
      convert(DType::F64, values, s, staged.data(), 5);
      std::memcpy(raw.data() + 1, staged.data(), 5 * sizeOf(s));
      std::vector<uint64_t> out(5);
      ASSERT_TRUE(convert(s, raw.data() + 1, d, out.data(), 5));
      double back[5];
      convert(d, out.data(), DType::F64, back, 5);
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(same(back[i], values[i])) << nameOf(s) << nameOf(d);
    }
}

TEST(Convert, IntegersAreNoFloats) {
  int32_t i = 3;
  float f = 7;
  EXPECT_FALSE(convert(DType::I32, &i, DType::F32, &f, 1));
  EXPECT_FALSE(convert(DType::F32, &f, DType::I64, &i, 1));
  EXPECT_EQ(f, 7);
}
