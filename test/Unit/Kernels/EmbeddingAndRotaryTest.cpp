//===- EmbeddingAndRotaryTest.cpp - tables looked up by position or id ----===//
#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/RowKernels.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

TEST(Embedding, WholeTableAndSlice) {
  for (Element type : {Element::F32, Element::BF16})
    for (bool sliced : {false, true})
      for (int64_t cols : {1, 12, 96}) {
        EmbeddingSpec spec;
        spec.count = 11, spec.rows = 10, spec.cols = cols, spec.type = type;
        spec.hasOffset = sliced;
        const int64_t offset = sliced ? 20 : 0;
        Buffer table = Buffer::random(type, spec.rows * cols, 1);
        Buffer out(type, spec.count * cols);
        // Sliced: ids before, inside and after rows [20, 30).
        std::vector<int32_t> tokens{20, 29, 25, 20, 21, 22, 23, 24, 26, 27, 28};
        if (sliced)
          tokens = {0, 19, 20, 29, 30, 49, 25, 21, 5, 24, 1000};
        else
          for (int32_t &token : tokens)
            token -= 20;
        std::vector<tessera::KernelArg> arguments{tokens.data(), table.data(),
                                                  out.data()};
        if (sliced)
          arguments.push_back(offset);
        ASSERT_NO_FATAL_FAILURE(runSpec(spec, arguments));
        expectClose(
            out,
            [&](size_t i) {
              int64_t row = tokens[i / cols] - offset;
              return row >= 0 && row < spec.rows ? table[row * cols + i % cols]
                                                 : 0.0;
            },
            0, 0);
      }
}

TEST(Positions, AddsTheRowOfThePosition) {
  for (Element type : {Element::F32, Element::BF16})
    for (bool shifted : {false, true}) {
      PositionsSpec spec;
      spec.batch = 2, spec.seq = 5, spec.cols = 20, spec.positions = 16;
      spec.first = 2, spec.type = type, spec.hasOffset = shifted;
      const int64_t offset = shifted ? 5 : 0;
      Buffer x = Buffer::random(type, 2 * 5 * 20, 1);
      Buffer table = Buffer::random(type, 16 * 20, 2);
      Buffer out(type, 2 * 5 * 20);
      std::vector<tessera::KernelArg> arguments{x.data(), table.data(),
                                                out.data()};
      if (shifted)
        arguments.push_back(offset);
      ASSERT_NO_FATAL_FAILURE(runSpec(spec, arguments));
      expectClose(
          out,
          [&](size_t i) {
            size_t position = (i / 20) % 5 + 2 + offset;
            return x[i] + table[position * 20 + i % 20];
          },
          relativeError(type), 1e-6);
    }
}

void tryRotary(const RotarySpec &spec) {
  size_t n = spec.batch * spec.seq * spec.heads * spec.headDim;
  int64_t half = spec.rotaryDim / 2;
  Buffer x = Buffer::random(spec.type, n, 1), out(spec.type, n);
  std::vector<float> table(spec.positions * spec.rotaryDim);
  auto angle = [&](int64_t p, int64_t i) {
    return p * std::pow(10000.0, -2.0 * i / spec.rotaryDim);
  };
  for (int64_t p = 0; p < spec.positions; ++p)
    for (int64_t i = 0; i < half; ++i) {
      table[p * spec.rotaryDim + 2 * i] = std::cos(angle(p, i));
      table[p * spec.rotaryDim + 2 * i + 1] = std::sin(angle(p, i));
    }
  ASSERT_NO_FATAL_FAILURE(runSpec(
      spec, std::vector<tessera::KernelArg>{x.data(), table.data(), out.data()}));
  expectClose(
      out,
      [&](size_t at) {
        int64_t d = at % spec.headDim;
        int64_t p = at / (spec.heads * spec.headDim) % spec.seq;
        if (d >= spec.rotaryDim)
          return x[at];
        int64_t i = d % half;
        double c = std::cos(angle(p, i)), s = std::sin(angle(p, i));
        return d < half ? x[at] * c - x[at + half] * s
                        : x[at] * c + x[at - half] * s;
      },
      relativeError(spec.type), spec.type == Element::F32 ? 1e-6 : 1e-2);
}

TEST(Rotary, WholeAndPartialHeads) {
  for (Element type : {Element::F32, Element::BF16})
    for (auto [headDim, rotaryDim] :
         {std::pair<int64_t, int64_t>{64, 64}, {12, 12}, {10, 10}, {20, 8},
          {80, 32}, {2, 2}}) {
      RotarySpec spec;
      spec.batch = 2, spec.seq = 7, spec.heads = 3, spec.headDim = headDim;
      spec.rotaryDim = rotaryDim, spec.positions = 9, spec.type = type;
      tryRotary(spec);
    }
}

TEST(Rotary, RefusesWhatItCannotDo) {
  RotarySpec spec;
  spec.batch = 1, spec.seq = 8, spec.heads = 1, spec.headDim = 8;
  spec.rotaryDim = 7, spec.positions = 8;
  std::string why;
  EXPECT_FALSE(check(spec, why));
  EXPECT_EQ(why, "rotary dimension must be even and at most the head dimension "
                 "8, got 7");
  spec.rotaryDim = 8, spec.positions = 4;
  EXPECT_FALSE(check(spec, why));
  EXPECT_EQ(why, "table has 4 positions, the sequence needs 8");
}

} // namespace
