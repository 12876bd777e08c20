//===- ProductsTest.cpp - which matrix products a stack makes one of ------===//
//
// Shapes as the frameworks' modules have them: Megatron-Core's linear_qkv and
// linear_fc1 are one product each; TorchTitan's wq, wk, wv and w1, w3, and the
// gate of llm-foundry's MPTGLU, are products of their own. Written out by hand
// for one layer of Llama-3-8B (4096 wide, 32 heads and 8 of keys and values of
// 128, MLP of 14336) and Mixtral 8x7B.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Step.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Hardware/Cluster.h"
#include "tessera/Import/ModelConfig.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

namespace {

constexpr int64_t kTokens = 2048;

BlockFeatures layerOf(StringRef model, StringRef stack,
                      StringRef layout = "mb=1", int64_t tokens = kTokens,
                      Precision precision = Precision(), int block = 1) {
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig(model))));
  ModelFeatures f =
      source->features(cantFail(parseLayout(layout)),
                       {tokens, cantFail(stackTraits(stack)), precision});
  return f.blocks[block];
}

std::vector<int64_t> widths(const BlockFeatures &block, KernelClass kernel) {
  std::vector<int64_t> out;
  for (const OpFeature &op : block.ops)
    if (op.kernel == kernel)
      out.push_back(op.shape.n);
  return out;
}

struct Sum {
  int64_t flops = 0, backwardFlops = 0, read = 0, written = 0, saved = 0;
  int64_t backwardRead = 0, backwardWritten = 0;
  int launches = 0, backwardLaunches = 0;
};
Sum sumOf(const BlockFeatures &block) {
  Sum s;
  for (const OpFeature &op : block.ops) {
    s.flops += op.forward.matmulFlops;
    s.backwardFlops += op.backward.matmulFlops;
    s.read += op.forward.bytesRead;
    s.written += op.forward.bytesWritten;
    s.backwardRead += op.backward.bytesRead;
    s.backwardWritten += op.backward.bytesWritten;
    s.saved += op.savedBytes;
    s.launches += op.forwardLaunches;
    s.backwardLaunches += op.backwardLaunches;
  }
  return s;
}

using Widths = std::vector<int64_t>;

TEST(Products, OneOrApart) {
  auto matmul = KernelClass::Matmul;
  for (const char *stack :
       {"nemo", "megatron-core", "megatron-bridge", "megatron-2021"}) {
    SCOPED_TRACE(stack);
    Widths n = widths(layerOf("llama3-8b", stack), matmul);
    if (StringRef(stack) == "megatron-2021") // scores and context, unfused
      n.erase(n.begin() + 1, n.begin() + 3);
    EXPECT_EQ(n, (Widths{6144, 4096, 28672, 4096}));
  }
  EXPECT_EQ(widths(layerOf("llama3-8b", "torchtitan"), matmul),
            (Widths{4096, 1024, 1024, 4096, 14336, 14336, 4096}));
  EXPECT_EQ(widths(layerOf("llama3-8b", "llm-foundry"), matmul),
            (Widths{6144, 4096, 14336, 14336, 4096}));
  // On four ranks.
  EXPECT_EQ(widths(layerOf("llama3-8b", "torchtitan", "tp=4,sp"), matmul),
            (Widths{1024, 256, 256, 4096, 3584, 3584, 4096}));
}

TEST(Products, Experts) {
  auto grouped = KernelClass::GroupedMatmul;
  EXPECT_EQ(widths(layerOf("mixtral-8x7b", "nemo", "ep=8,dp=8"), grouped),
            (Widths{28672, 4096}));
  EXPECT_EQ(widths(layerOf("mixtral-8x7b", "torchtitan", "ep=8,dp=8"), grouped),
            (Widths{14336, 14336, 4096}));
}

// "MXFP8 Kernel Breakdown by Pass" of pytorch/ao's torchao/prototype/
// moe_training/README.md (0b1bb11): eight experts of 7168 to 2048 and 131,072
// rows on B200; the kernels of the three products, of quantisation and of
// ordering the scales, in us.
TEST(Products, ExpertsIn8Bits) {
  double products = 1838.1 + 1838.1 + 2412.4;
  double around = 580.6 + 76.8 + 198.7 + 11.4 + 166.0 + 76.8 + 192.5 + 11.0 +
                  191.7 + 670.7 + 17.4 + 31.6;
  Precision narrow;
  narrow.linear = DataType::FP8;
  BlockFeatures layer = layerOf("deepseek-v3", "torchtitan", "ep=32,dp=32,mb=1",
                                16384, narrow, 2);
  StepModel model = cantFail(
      makeStepModel(cantFail(parseCluster("b200-sxm:4x8")), "torchtitan"));
  DeviceModel device = model.device();
  double product = 0, quantise = 0;
  for (size_t i = 1; i < layer.ops.size() && product == 0; ++i) {
    const OpFeature &op = layer.ops[i];
    if (op.kernel != KernelClass::GroupedMatmul)
      continue;
    ASSERT_EQ(op.shape.batch, 8);
    ASSERT_EQ(op.shape.m, 16384);
    ASSERT_EQ(op.shape.n, 2048);
    ASSERT_EQ(op.shape.k, 7168);
    for (Direction d : {Direction::Forward, Direction::Backward}) {
      product += 1e6 * opTime(op, d, device);
      quantise += 1e6 * opTime(layer.ops[i - 1], d, device);
    }
  }
  EXPECT_NEAR(quantise / around, 1.0, 0.15);
  // The rate is that of Megatron-Core's kernels, one for each expert.
  EXPECT_GT(product / products, 0.9);
  EXPECT_LT(product / products, 1.5);
}

/// The same work and the same memory, but the input is read again for each
/// product, its gradient written for each and added up, and each is a launch.
TEST(Products, WhatApartCosts) {
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig("llama3-8b"))));
  for (bool compiled : {false, true}) {
    StackTraits traits = cantFail(stackTraits("torchtitan"));
    traits.fusedElementwise = compiled;
    Layout layout = cantFail(parseLayout("mb=1"));
    auto ask = [&] {
      return sumOf(
          source->features(layout, {kTokens, traits, Precision()}).blocks[1]);
    };
    Sum apart = ask();
    traits.jointHeads = traits.jointGate = true;
    Sum joint = ask();
    int64_t input = 2 * kTokens * 4096, more = 3; // k, v and up
    EXPECT_EQ(apart.flops, joint.flops);
    EXPECT_EQ(apart.backwardFlops, joint.backwardFlops);
    EXPECT_EQ(apart.saved, joint.saved);
    EXPECT_EQ(apart.written, joint.written);
    EXPECT_EQ(apart.read - joint.read, more * input);
    EXPECT_EQ(apart.launches - joint.launches, more);
    // Read once more for the weight's gradient; the sum of two gradients reads
    // both where it is a kernel.
    EXPECT_EQ(apart.backwardRead - joint.backwardRead,
              more * (compiled ? 2 : 3) * input);
    EXPECT_EQ(apart.backwardWritten - joint.backwardWritten,
              more * (compiled ? 1 : 2) * input);
    EXPECT_EQ(apart.backwardLaunches - joint.backwardLaunches,
              more * (compiled ? 2 : 3));
  }
}

} // namespace

// Two norms (36 bytes an element forward, 90 backward, where one kernel has 4
// and its share), the rotation of 40 heads of 128 and the gate of 14336.
TEST(Composed, PyTorchsOperationsAreKernelsOfTheirOwn) {
  StackTraits traits = cantFail(stackTraits("torchtitan"));
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig("llama3-8b"))));
  auto traffic = [&] {
    Sum s = sumOf(
        source->features(Layout(), {kTokens, traits, Precision()}).blocks[1]);
    return std::pair(s.read + s.written, s.backwardRead + s.backwardWritten);
  };
  auto fused = traffic();
  traits.composed = true;
  auto composed = traffic();
  double norms = 2.0 * kTokens * 4096, heads = kTokens * 5120.0,
         gate = kTokens * 14336.0;
  EXPECT_NEAR(double(composed.first - fused.first),
              norms * (36 - 4) + heads * (21 - 4) + gate * (10 - 6),
              0.02 * double(composed.first));
  EXPECT_GT(composed.second - fused.second, composed.first - fused.first);
}

// GPT's layer norm and activation are one kernel each in any case.
TEST(Composed, LeavesLayerNormsAlone) {
  StackTraits traits = cantFail(stackTraits("llm-foundry"));
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig("gpt3-175b"))));
  auto read = [&] {
    return sumOf(source->features(Layout(), {kTokens, traits, Precision()})
                     .blocks[1])
        .read;
  };
  int64_t before = read();
  traits.composed = !traits.composed;
  EXPECT_EQ(read(), before);
}
