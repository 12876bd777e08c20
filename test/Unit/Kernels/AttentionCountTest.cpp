//===- AttentionCountTest.cpp - what attention kernels do, counted --------===//
//
// The virtual GPU counts operations and traffic; here they are held against
// what follows from the mask: a key tile is loaded and multiplied for a query
// tile exactly if some query of the one sees some key of the other.
//
//===----------------------------------------------------------------------===//
#include "AttentionTest.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

static AttentionSpec specOf(Element type, int64_t sequence, int64_t headDim) {
  AttentionSpec s;
  s.type = type;
  s.batch = 2;
  s.seqQ = s.seqKV = sequence;
  s.heads = 4;
  s.kvHeads = 2;
  s.headDim = headDim;
  s.scale = 1 / std::sqrt(static_cast<double>(headDim));
  return s;
}

static tessera_virtual_counters countAttention(const AttentionSpec &spec,
                                               const AttentionConfig &config) {
  tessera_virtual_counters counters = {};
  auto harness = compileAttention(spec, config, /*instrument=*/true);
  if (!harness)
    return counters;
  Inputs inputs = randomInputs(spec, 11);
  Buffer out(spec.type, inputs.q.size());
  tessera::LaunchOptions options;
  options.count = true;
  tessera_virtual_reset_counters();
  EXPECT_EQ(harness->launch(
                "attention", toHarness(attentionLaunchShape(spec, config)),
                {inputs.q.data(), inputs.k.data(), inputs.v.data(), out.data()},
                options),
            "");
  tessera_virtual_get_counters(&counters);
  return counters;
}

/// Pairs of query and key tiles that see each other, over all heads.
static uint64_t visiblePairs(const AttentionSpec &s, int64_t blockQ,
                             int64_t blockKV) {
  uint64_t pairs = 0;
  for (int64_t q0 = 0; q0 < s.seqQ; q0 += blockQ)
    for (int64_t k0 = 0; k0 < s.seqKV; k0 += blockKV) {
      bool seen = false;
      for (int64_t i = q0; i < std::min(q0 + blockQ, s.seqQ); ++i)
        for (int64_t j = k0; j < std::min(k0 + blockKV, s.seqKV); ++j)
          seen |= (!s.causal || j <= i) && (s.window == 0 || j > i - s.window);
      pairs += seen;
    }
  return pairs * s.batch * s.heads;
}

TEST(AttentionCounts, OnlyVisibleTilesAreComputed) {
  AttentionConfig config{32, 16, 2, 2};
  for (bool causal : {true, false})
    for (int64_t window : {0, 1, 20, 48}) {
      SCOPED_TRACE(testing::Message()
                   << "causal " << causal << " window " << window);
      AttentionSpec spec = specOf(Element::BF16, 160, 32);
      spec.causal = causal;
      spec.window = window;
      tessera_virtual_counters counters = countAttention(spec, config);
      uint64_t pairs = visiblePairs(spec, 32, 16);
      // Two products of 32 x 16 x 32.
      EXPECT_EQ(counters.flops_tensor, pairs * 2 * 2 * 32 * 16 * 32);
      // The queries once, a key and a value tile for each pair.
      uint64_t queries = 2 * 160 * 4 * 32 * 2;
      EXPECT_EQ(counters.async_copy_bytes, queries + pairs * 2 * 16 * 32 * 2);
      EXPECT_EQ(counters.global_store_bytes, queries);
    }
}

// The swizzle's promise, for every number of chunks a row modulo eight.
TEST(AttentionCounts, NoBankConflicts) {
  for (int64_t headDim : {16, 32, 48, 64, 80, 96, 112, 128, 144, 192, 256}) {
    SCOPED_TRACE(headDim);
    AttentionSpec spec = specOf(Element::BF16, 64, headDim);
    spec.batch = spec.heads = spec.kvHeads = 1;
    tessera_virtual_counters counters = countAttention(spec, {32, 32, 2, 2});
    EXPECT_GT(counters.shared_load_requests, 0u);
    EXPECT_EQ(counters.shared_bank_conflicts, 0u);
  }
}

TEST(AttentionCounts, F32) {
  AttentionConfig config{32, 32, 1, 1};
  for (int64_t window : {0, 20}) {
    SCOPED_TRACE(window);
    AttentionSpec spec = specOf(Element::F32, 128, 64);
    spec.window = window;
    tessera_virtual_counters counters = countAttention(spec, config);
    uint64_t pairs = visiblePairs(spec, 32, 32);
    EXPECT_EQ(counters.flops_tensor, 0u);
    // Two products of 32 x 32 x 64, and no more than a tenth for the softmax.
    uint64_t products = pairs * 2 * 2 * 32 * 32 * 64;
    EXPECT_GE(counters.flops_f32, products);
    EXPECT_LE(counters.flops_f32, products + products / 10);
    // One barrier before the loop, two for each pair, one before the sums.
    uint64_t blocks = 4 * spec.heads * spec.batch;
    EXPECT_EQ(counters.barriers, 2 * blocks + 2 * pairs);
    EXPECT_EQ(counters.shuffles, 0u);
  }
}
