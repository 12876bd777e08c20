//===- ClosedFormTest.cpp - block costs against published formulas --------===//
#include "test/Support/ClosedForm/ClosedForm.h"
#include "tessera/CostModel/Memory.h"
#include "gtest/gtest.h"

using namespace tessera;

static ModelShape gpt(int64_t layers, int64_t hidden, int64_t heads) {
  ModelShape s;
  s.layers = layers;
  s.hidden = hidden;
  s.heads = s.kvHeads = heads;
  s.headDim = hidden / heads;
  s.ffn = 4 * hidden;
  s.vocab = 51200;
  s.sequence = 2048;
  s.tied = s.learnedPositions = true;
  return s;
}

static ModelShape decoder(int64_t layers, int64_t hidden, int64_t heads,
                          int64_t kv, int64_t headDim, int64_t ffn,
                          int64_t vocab) {
  ModelShape s;
  s.layers = layers;
  s.hidden = hidden;
  s.heads = heads;
  s.kvHeads = kv;
  s.headDim = headDim;
  s.ffn = ffn;
  s.vocab = vocab;
  s.sequence = 4096;
  s.gated = true;
  return s;
}

// Sizes as their papers and model cards print them.
TEST(Shapes, PublishedParameterCounts) {
  EXPECT_NEAR(gpt(96, 12288, 96).totalParameters() / 1e9, 174.6, 0.1);
  EXPECT_NEAR(gpt(105, 20480, 128).totalParameters() / 1e9, 529.6, 0.2);
  EXPECT_NEAR(decoder(80, 8192, 64, 8, 128, 28672, 128256).totalParameters() /
                  1e9,
              70.6, 0.1);
  EXPECT_NEAR(
      decoder(126, 16384, 128, 8, 128, 53248, 128256).totalParameters() / 1e9,
      405.9, 0.3);
  ModelShape mixtral = decoder(32, 4096, 32, 8, 128, 14336, 32000);
  mixtral.experts = 8;
  mixtral.topk = 2;
  mixtral.expertFfn = 14336;
  EXPECT_NEAR(mixtral.totalParameters() / 1e9, 46.7, 0.05);
  EXPECT_NEAR(mixtral.activeParameters() / 1e9, 12.9, 0.05);
  ModelShape qwen = decoder(48, 2048, 32, 4, 128, 6144, 151936);
  qwen.experts = 128;
  qwen.topk = 8;
  qwen.expertFfn = 768;
  EXPECT_NEAR(qwen.totalParameters() / 1e9, 30.5, 0.1);
  EXPECT_NEAR(qwen.activeParameters() / 1e9, 3.3, 0.1);
  ModelShape v3 = decoder(61, 7168, 128, 128, 56, 18432, 129280);
  v3.experts = 256;
  v3.topk = 8;
  v3.expertFfn = v3.sharedFfn = 2048;
  v3.denseLayers = 3;
  v3.queryRank = 1536;
  v3.keyRank = 512;
  v3.nopeDim = 128;
  v3.ropeDim = 64;
  v3.valueDim = 128;
  EXPECT_NEAR(v3.totalParameters() / 1e9, 671, 1);
  EXPECT_NEAR(v3.activeParameters() / 1e9, 37, 1);
}

namespace {
/// Activations of one layer in units of sequence * batch * hidden.
struct Activations {
  explicit Activations(const char *stack)
      : traits(llvm::cantFail(stackTraits(stack))) {}
  double operator()(const ModelShape &s, const Layout &l) {
    ModelFeatures f = closedFormFeatures(s, l, traits, Precision());
    return savedBytes(f.blocks[1], l.recompute) /
           (double(s.sequence) * l.microBatch * s.hidden);
  }
  StackTraits traits;
};
} // namespace

// arXiv 2205.05198, table 2, for unfused attention and dropout.
TEST(Features, KorthikantiActivations) {
  ModelShape s = gpt(4, 6144, 64);
  double attention = 5.0 * s.heads * s.sequence / s.hidden;
  Activations units("megatron-2022");
  Layout l;
  l.microBatch = 4;
  EXPECT_NEAR(units(s, l), 34 + attention, 0.01);
  l.tp = 8;
  EXPECT_NEAR(units(s, l), 10 + 24.0 / 8 + attention / 8, 0.01);
  l.sequenceParallel = true;
  EXPECT_NEAR(units(s, l), (34 + attention) / 8, 0.01);
  l.recompute = RecomputeKind::Selective;
  EXPECT_NEAR(units(s, l), 34.0 / 8, 0.01);
  l.recompute = RecomputeKind::Full;
  EXPECT_NEAR(units(s, l), 2.0 / 8, 0.01);
}

// arXiv 2104.04473, equation (3): 96 B s l h^2 (1 + s/6h + V/16lh); layers are
// run forward twice, the logits once.
TEST(Flops, MegatronHardwareFormula) {
  ModelShape s = gpt(96, 12288, 96);
  double B = 1536, S = 2048, L = 96, H = 12288, V = 51200;
  double formula =
      96 * B * S * L * H * H * (1 + S / (6 * H) + V / (16 * L * H));
  FlopConvention hardware;
  hardware.hardware = true;
  EXPECT_NEAR(conventionalFlops(s, 1536, hardware) / formula, 1.0, 1e-9);
}

// The ops of all blocks add up to the model's FLOPs: forward once, backward
// twice (attention's fused backward recomputes scores: 2.5 times).
TEST(Features, FlopsAddUp) {
  ModelShape s = gpt(3, 1024, 16);
  s.sequence = 256;
  for (int tp : {1, 4}) {
    Layout l;
    l.tp = tp;
    l.microBatch = 2;
    StackTraits traits = llvm::cantFail(stackTraits("megatron-2022"));
    ModelFeatures f = closedFormFeatures(s, l, traits, Precision());
    double forward = 0, backward = 0;
    for (const BlockCall &c : f.calls)
      for (const OpFeature &op : f.blocks[c.block].ops) {
        forward += double(c.count) * op.forward.matmulFlops;
        backward += double(c.count) * op.backward.matmulFlops;
      }
    EXPECT_NEAR(tp * forward * 3 / conventionalFlops(s, 2, FlopConvention()),
                1.0, 1e-9);
    EXPECT_DOUBLE_EQ(backward, 2 * forward);
  }
}

// Local parameters times ranks are the model's (norms and biases aside).
TEST(Features, ParametersAreSplit) {
  ModelShape qwen = decoder(4, 2048, 32, 4, 128, 6144, 151936);
  qwen.experts = 128;
  qwen.topk = 8;
  qwen.expertFfn = 768;
  Layout l;
  l.dp = 8;
  l.ep = 8;
  ModelFeatures f = closedFormFeatures(
      qwen, l, llvm::cantFail(stackTraits("nemo")), Precision());
  double dense = 0, expert = 0;
  for (const BlockCall &c : f.calls) {
    dense += double(c.count) * f.blocks[c.block].denseParameters;
    expert += double(c.count) * f.blocks[c.block].expertParameters;
  }
  EXPECT_NEAR((dense + 8 * expert) / qwen.totalParameters(), 1.0, 1e-3);
  EXPECT_DOUBLE_EQ(8 * expert, 4.0 * 128 * 3 * 2048 * 768);
}

// A token's top-8 copies of 2 bytes an element go out and come back, twice.
TEST(Features, ExpertTraffic) {
  ModelShape qwen = decoder(1, 2048, 32, 4, 128, 6144, 151936);
  qwen.experts = 128;
  qwen.topk = 8;
  qwen.expertFfn = 768;
  Layout l;
  l.dp = 8;
  l.ep = 8;
  ModelFeatures f = closedFormFeatures(
      qwen, l, llvm::cantFail(stackTraits("nemo")), Precision());
  int found = 0;
  for (const CollectiveFeature &c : f.blocks[1].collectives)
    if (c.axis == ParallelAxis::EP) {
      ++found;
      EXPECT_EQ(c.kind, CollectiveKind::AllToAll);
      EXPECT_EQ(c.bytes, 4096LL * 8 * 2048 * 2);
      EXPECT_EQ(c.forwardCount, 2);
      EXPECT_EQ(c.backwardCount, 2);
    }
  EXPECT_EQ(found, 1);
}

// Megatron-Core's all-gather dispatcher: all tokens of the group are gathered
// (2 bytes an element) with 128 flags and 32-bit weights each, and sums of that
// size are scattered; backward it is the other way round. What the rank's
// experts compute does not change.
TEST(Features, GatheredExpertTraffic) {
  ModelShape qwen = decoder(1, 2048, 32, 4, 128, 6144, 151936);
  qwen.experts = 128;
  qwen.topk = 8;
  qwen.expertFfn = 768;
  Layout l;
  l.dp = 8;
  l.ep = 4;
  StackTraits traits = llvm::cantFail(stackTraits("nemo"));
  ModelFeatures plain = closedFormFeatures(qwen, l, traits, Precision());
  l.dispatcher = DispatcherKind::AllGather;
  ModelFeatures f = closedFormFeatures(qwen, l, traits, Precision());
  int64_t tokens = 4096 * 4, forward = 0, backward = 0;
  for (const CollectiveFeature &c : f.blocks[1].collectives)
    if (c.axis == ParallelAxis::EP) {
      EXPECT_TRUE(c.kind == CollectiveKind::AllGather ||
                  c.kind == CollectiveKind::ReduceScatter);
      forward += c.bytes * c.forwardCount;
      backward += c.bytes * c.backwardCount;
    }
  EXPECT_EQ(forward, 2 * tokens * 2048 * 2 + tokens * 128 * 5);
  EXPECT_EQ(backward, 2 * tokens * 2048 * 2 + tokens * 128 * 4);
  EXPECT_EQ(f.blocks[1].transientBytes, 2 * tokens * 2048 * 2);
  auto flops = [](const ModelFeatures &features) {
    int64_t sum = 0;
    for (const OpFeature &op : features.blocks[1].ops)
      sum += op.forward.matmulFlops + op.backward.matmulFlops;
    return sum;
  };
  EXPECT_EQ(flops(f), flops(plain));
}
