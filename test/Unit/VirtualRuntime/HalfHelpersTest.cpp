//===- HalfHelpersTest.cpp - 16-bit float conversions ---------------------===//
//
// f16 against the compiler's own _Float16 arithmetic over all patterns, bf16
// against a search for the nearest neighbour.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Virtual/HalfHelpers.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tessera::vgpu;

namespace {

template <typename To, typename From>
To bits(From from) {
  To to;
  static_assert(sizeof(to) == sizeof(from));
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Value of a half by its definition in IEEE 754: sign, exponent, fraction.
double halfValue(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent == 0
                         ? std::ldexp(fraction, -24)
                         : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, ExtendsEveryPattern) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    double expected = halfValue(static_cast<uint16_t>(half));
    float got = extendF16(static_cast<uint16_t>(half));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(got)) << half;
    else
      ASSERT_EQ(got, expected) << half;
  }
}

/// The nearest half by trying the neighbours of a rounded guess.
bool isNearestHalf(uint16_t half, double value) {
  double own = std::fabs(halfValue(half) - value);
  uint16_t magnitude = half & 0x7fff, sign = half & 0x8000;
  for (int step : {-1, 1}) {
    int other = magnitude + step;
    if (other < 0 || other > 0x7bff)
      continue;
    double distance =
        std::fabs(halfValue(static_cast<uint16_t>(other | sign)) - value);
    if (distance < own || (distance == own && (magnitude & 1)))
      return false;
  }
  return true;
}

TEST(Half, RoundsToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    float value = std::ldexp(float(random()) / 4294967296.0f - 0.5f,
                             int(random() % 44) - 27);
    if (std::fabs(value) >= 65504)
      continue;
    ASSERT_TRUE(isNearestHalf(roundToF16(value), value)) << value;
  }
  // Halfway cases.
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    double middle =
        (halfValue(uint16_t(half)) + halfValue(uint16_t(half + 1))) / 2;
    ASSERT_EQ(roundToF16(static_cast<float>(middle)), half + (half & 1));
    ASSERT_EQ(roundToF16(static_cast<float>(-middle)),
              0x8000 | (half + (half & 1)));
  }
}

TEST(Half, Limits) {
  EXPECT_EQ(roundToF16(65504.0f), 0x7bff);
  EXPECT_EQ(roundToF16(65519.996f), 0x7bff);
  EXPECT_EQ(roundToF16(65520.0f), 0x7c00);
  EXPECT_EQ(roundToF16(INFINITY), 0x7c00);
  EXPECT_EQ(roundToF16(-INFINITY), 0xfc00);
  EXPECT_EQ(roundToF16(0x1p-25f), 0u);
  EXPECT_EQ(roundToF16(0x1.000002p-25f), 1u);
  EXPECT_TRUE(std::isnan(halfValue(roundToF16(NAN))));
}

TEST(BFloat, RoundsToNearestEven) {
  std::mt19937 random(2);
  for (int i = 0; i < 200000; ++i) {
    float value = bits<float>(static_cast<uint32_t>(random()));
    uint16_t rounded = roundToBF16(value);
    float low = bits<float>(uint32_t(rounded) << 16);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(low));
      continue;
    }
    if (std::isinf(low)) {
      ASSERT_GE(std::fabs(value), 0x1.ffp127f);
      continue;
    }
    double own = std::fabs(double(low) - value);
    for (int step : {-1, 1}) {
      float other = bits<float>(uint32_t(uint16_t(rounded + step)) << 16);
      if (!std::isfinite(other) || std::signbit(other) != std::signbit(low))
        continue;
      double distance = std::fabs(double(other) - value);
      ASSERT_TRUE(own < distance || (own == distance && !(rounded & 1)))
          << value;
    }
  }
  EXPECT_EQ(roundToBF16(INFINITY), 0x7f80);
}

TEST(Half, DoubleGoesThroughRoundToOdd) {
  // 1 + 2^-11 + 2^-40 is above the middle between 1 and its successor in f16;
  // rounded to f32 first (the middle itself) it would go down to even.
  EXPECT_EQ(roundToF16(narrowToOdd(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
  EXPECT_EQ(roundToF16(narrowToOdd(1 + 0x1p-11)), 0x3c00);
  EXPECT_EQ(roundToF16(narrowToOdd(1 + 0x1p-11 - 0x1p-40)), 0x3c00);
  EXPECT_EQ(roundToF16(narrowToOdd(-1 - 0x1p-11 - 0x1p-40)), 0xbc01);
  EXPECT_TRUE(std::isnan(narrowToOdd(NAN)));
  EXPECT_EQ(narrowToOdd(0.5), 0.5f);
}

} // namespace
