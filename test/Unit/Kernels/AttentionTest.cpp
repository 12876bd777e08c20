//===- AttentionTest.cpp - attention kernels compute attention ------------===//
#include "AttentionTest.h"

#include <limits>
#include <ostream>

namespace tessera::kernels {
static void PrintTo(Element type, std::ostream *os) {
  *os << (type == Element::BF16 ? "bf16" : "f32");
}
} // namespace tessera::kernels

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

class Attention : public testing::TestWithParam<Element> {
protected:
  AttentionSpec spec(int64_t seqQ, int64_t seqKV, int64_t headDim) const {
    AttentionSpec s;
    s.type = GetParam();
    s.batch = 1;
    s.seqQ = seqQ;
    s.seqKV = seqKV;
    s.heads = s.kvHeads = 1;
    s.headDim = headDim;
    s.scale = 1 / std::sqrt(static_cast<double>(headDim));
    return s;
  }
  /// Small tiles, so that short sequences take several.
  AttentionConfig small() const {
    if (GetParam() == Element::BF16)
      return {32, 16, 2, 2};
    return {16, 16, 1, 1};
  }
  AttentionConfig large() const {
    if (GetParam() == Element::BF16)
      return {64, 64, 4, 2};
    return {64, 64, 4, 1};
  }
};

INSTANTIATE_TEST_SUITE_P(, Attention,
                         testing::Values(Element::BF16, Element::F32),
                         [](const testing::TestParamInfo<Element> &info) {
                           return info.param == Element::BF16 ? "bf16" : "f32";
                         });

TEST_P(Attention, DefaultConfiguration) {
  AttentionSpec s = spec(100, 100, 64);
  s.batch = 2;
  s.heads = 2;
  s.kvHeads = 1;
  runAttention(s, defaultAttentionConfig(s, *chipLimits(80)));
}

TEST_P(Attention, WholeTiles) {
  AttentionSpec s = spec(128, 128, 64);
  runAttention(s, large());
}

// Rows that start 16-, 8-, 4- and 2-byte (f32: 4-byte) aligned, and every
// remainder of the padding to fragments.
TEST_P(Attention, HeadDimensions) {
  for (int64_t headDim :
       {1, 7, 8, 12, 16, 20, 24, 30, 40, 80, 96, 112, 192, 256}) {
    SCOPED_TRACE(headDim);
    AttentionSpec s = spec(35, 35, headDim);
    s.heads = s.kvHeads = 2;
    runAttention(s, small());
  }
}

TEST_P(Attention, SequenceLengths) {
  for (auto [seqQ, seqKV] : std::initializer_list<std::pair<int64_t, int64_t>>{
           {1, 1}, {1, 50}, {17, 16}, {33, 70}, {70, 33}, {64, 48}})
    for (bool causal : {true, false}) {
      SCOPED_TRACE(testing::Message() << seqQ << " queries, " << seqKV
                                      << " keys, causal " << causal);
      AttentionSpec s = spec(seqQ, seqKV, 16);
      s.causal = causal;
      runAttention(s, small());
    }
}

TEST_P(Attention, GroupedQueries) {
  AttentionSpec s = spec(40, 40, 16);
  s.batch = 2;
  s.heads = 9;
  s.kvHeads = 3;
  runAttention(s, small());
}

TEST_P(Attention, MultiQuery) {
  AttentionSpec s = spec(40, 40, 24);
  s.heads = 4;
  runAttention(s, small());
}

TEST_P(Attention, Windows) {
  for (int64_t window : {1, 5, 16, 17, 40, 99, 100, 1000})
    for (bool causal : {true, false}) {
      SCOPED_TRACE(testing::Message()
                   << "window " << window << " causal " << causal);
      AttentionSpec s = spec(100, 100, 16);
      s.window = window;
      s.causal = causal;
      runAttention(s, small());
    }
}

// The window of the last queries lies behind the last key.
TEST_P(Attention, QueriesWithoutKeysGiveZeros) {
  for (bool causal : {true, false}) {
    AttentionSpec s = spec(90, 20, 16);
    s.window = 8;
    s.causal = causal;
    runAttention(s, small());
  }
}

TEST_P(Attention, Scales) {
  for (double scale : {-0.7, 0.0, 30.0}) {
    SCOPED_TRACE(scale);
    AttentionSpec s = spec(40, 40, 16);
    s.scale = scale;
    // Few products: a large scale magnifies the rounding of the scores.
    Inputs inputs = randomInputs(s, 3);
    for (size_t i = 0; i < inputs.q.size(); ++i)
      inputs.q.set(i, std::round(inputs.q[i] * 2) / 2);
    for (size_t i = 0; i < inputs.k.size(); ++i)
      inputs.k.set(i, std::round(inputs.k[i] * 2) / 2);
    runAttention(s, small(), inputs);
  }
}

TEST_P(Attention, NanQueryStaysInItsRow) {
  AttentionSpec s = spec(40, 40, 16);
  Inputs inputs = randomInputs(s, 5);
  inputs.q.set(21 * 16 + 3, std::numeric_limits<double>::quiet_NaN());
  runAttention(s, small(), inputs);
}

TEST_P(Attention, NanKeyReachesItsQueriesOnly) {
  AttentionSpec s = spec(40, 40, 16);
  s.window = 10;
  Inputs inputs = randomInputs(s, 5);
  inputs.k.set(21 * 16 + 3, std::numeric_limits<double>::quiet_NaN());
  runAttention(s, small(), inputs);
}

TEST_P(Attention, NanValueReachesItsColumn) {
  AttentionSpec s = spec(40, 40, 16);
  s.causal = false;
  Inputs inputs = randomInputs(s, 5);
  inputs.v.set(21 * 16 + 3, std::numeric_limits<double>::quiet_NaN());
  runAttention(s, small(), inputs);
}

TEST(AttentionBF16, Configurations) {
  AttentionSpec s;
  s.batch = s.heads = s.kvHeads = 1;
  s.seqQ = s.seqKV = 150;
  s.headDim = 32;
  s.scale = 0.2;
  for (AttentionConfig config :
       {AttentionConfig{64, 32, 2, 1}, AttentionConfig{128, 32, 4, 3},
        AttentionConfig{128, 64, 8, 2}, AttentionConfig{16, 128, 1, 2},
        AttentionConfig{48, 48, 1, 4}}) {
    SCOPED_TRACE(testing::Message()
                 << config.blockQ << " x " << config.blockKV << ", "
                 << config.warps << " warps, " << config.stages << " stages");
    runAttention(s, config);
  }
}

TEST(AttentionF32, Configurations) {
  AttentionSpec s;
  s.type = Element::F32;
  s.batch = s.heads = s.kvHeads = 1;
  s.seqQ = s.seqKV = 150;
  s.headDim = 36;
  s.scale = 0.2;
  for (AttentionConfig config :
       {AttentionConfig{64, 64, 2, 1}, AttentionConfig{32, 32, 1, 1},
        AttentionConfig{64, 128, 4, 1}, AttentionConfig{16, 32, 2, 1}}) {
    SCOPED_TRACE(testing::Message() << config.blockQ << " x " << config.blockKV
                                    << ", " << config.warps << " warps");
    runAttention(s, config);
  }
}

} // namespace
