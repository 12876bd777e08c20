//===- KeptTest.cpp - what a layer keeps for its backward pass ------------===//
//
// By the formulas of arXiv 2205.05198 (table 2) for GPT, term by term, and by
// hand for what came after it: grouped queries and gates, experts, latent
// attention. In bytes for each element of a layer's input.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Memory.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Import/ModelConfig.h"
#include "gtest/gtest.h"

#include <set>

using namespace llvm;
using namespace tessera;

namespace {

constexpr double kSequence = 2048;

struct Question {
  const char *model;
  const char *stack;
  const char *layout = "mb=1";
  DataType type = DataType::BF16;
};

BlockFeatures layerOf(const Question &q) {
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig(q.model))));
  Precision precision;
  precision.linear = q.type;
  ModelFeatures f = source->features(
      cantFail(parseLayout(q.layout)),
      {int64_t(kSequence), cantFail(stackTraits(q.stack)), precision});
  // The last layer: of a model with experts the others may be dense.
  return f.blocks[f.blocks.size() - 2];
}

double kept(const Question &q, double width,
            RecomputeKind recompute = RecomputeKind::None) {
  return savedBytes(layerOf(q), recompute) / (kSequence * width);
}

// Means and variances of rows, which the paper leaves out.
constexpr double kStatistics = 0.002;

// torchtitan/distributed/activation_checkpoint.py, "op": every odd one of the
// products wq, wk, wv, wo, w1, w3, w2, and attention with its 32-bit sums; the
// layer's input besides. Llama 3 8B, in units of 4096 elements of 2 bytes.
TEST(Kept, EverySecondProduct) {
  double heads = 32, wide = 14336.0 / 4096, narrow = 1024.0 / 4096;
  double units =
      1 + 1 + narrow + 1 + wide + 1; // input, q, v, attention, w1, w2
  double sums = 4 * heads / 4096;
  EXPECT_NEAR(kept({"llama3-8b", "torchtitan"}, 4096, RecomputeKind::Selective),
              2 * units + sums, 0.01);
  // k, the attention's output and up are products of a forward pass again.
  double again = 0;
  for (const OpFeature &op : layerOf({"llama3-8b", "torchtitan"}).ops)
    if (op.selective && op.kernel == KernelClass::Matmul)
      again += double(op.forward.matmulFlops);
  EXPECT_DOUBLE_EQ(again, 2 * kSequence * 4096 * (1024.0 + 4096.0 + 14336.0));
}

TEST(Kept, FormulasOfKorthikantiEtAl) {
  const double h = 12288, a = 96, t = 8;
  double scores = 5 * a * kSequence / h; // 80
  auto gpt = [&](const char *layout, RecomputeKind r = RecomputeKind::None) {
    return kept({"gpt3-175b", "megatron-2022", layout}, h, r);
  };
  // sbh (34 + 5as/h)
  EXPECT_NEAR(gpt("mb=1"), 34 + scores, kStatistics);
  // sbh (10 + 24/t + 5as/(ht))
  EXPECT_NEAR(gpt("tp=8,mb=1"), 10 + 24 / t + scores / t, kStatistics);
  // sbh/t (34 + 5as/h)
  EXPECT_NEAR(gpt("tp=8,sp,mb=1"), (34 + scores) / t, kStatistics);
  // sbh (10 + 24/t)
  EXPECT_NEAR(gpt("tp=8,mb=1", RecomputeKind::Selective), 10 + 24 / t,
              kStatistics);
  // sbh 34/t
  EXPECT_NEAR(gpt("tp=8,sp,mb=1", RecomputeKind::Selective), 34 / t,
              kStatistics);
  // 2 sbh
  EXPECT_EQ(gpt("mb=1", RecomputeKind::Full), 2);
  // Everything is proportional to the microbatch.
  EXPECT_NEAR(gpt("tp=8,sp,mb=4") / 4, (34 + scores) / t, kStatistics);
  EXPECT_NEAR(gpt("cp=2,mb=1"), (34 + scores) / 2, kStatistics);
}

// The cross entropy's logits in 32 bits are 4 sbv/t of the paper's section 4.3;
// the product before it leaves them in 16.
TEST(Kept, Logits) {
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig("gpt3-175b"))));
  auto head = [&](const char *stack) {
    ModelFeatures f =
        source->features(cantFail(parseLayout("tp=8,sp,mb=1")),
                         {2048, cantFail(stackTraits(stack)), Precision()});
    return savedBytes(f.blocks.back(), RecomputeKind::None);
  };
  double logits = 2048.0 * 50264 / 8; // 50257 rounded up to eight parts
  // The final norm's input and output.
  double norm = 2 * 2.0 * 2048 * 12288 / 8;
  EXPECT_NEAR(head("megatron-2022") / ((4 + 2) * logits + norm), 1, 0.01);
  EXPECT_NEAR(head("megatron-bridge") / (2 * logits + norm), 1, 0.01);
}

// Llama 3 8B: 32 heads and 8 of keys and values, MLP of 14336 (3.5 widths).
// Norms keep input and output, attention q, k, v, its result and a 32-bit sum a
// row, the gated MLP both its products and their activation.
TEST(Kept, GroupedQueriesAndGates) {
  double norms = 2 * (2 + 2), attention = 2 * (1 + 2 * 0.25 + 1);
  double statistics = 4.0 * 32 / 4096, mlp = 2 * 3.5 * 3;
  EXPECT_NEAR(kept({"llama3-8b", "megatron-core"}, 4096),
              norms + attention + statistics + mlp, kStatistics);
  // Recomputed: attention's core, whose operands and result stay.
  EXPECT_NEAR(
      kept({"llama3-8b", "megatron-core"}, 4096, RecomputeKind::Selective),
      norms + attention + mlp, kStatistics);
  // Under FP8 what only products need is kept in 8 bits: the norms' outputs and
  // the activation. The attention's result is needed by itself, too.
  EXPECT_NEAR(kept({"llama3-8b", "megatron-core", "mb=1", DataType::FP8}, 4096),
              2 * (2 + 1) + attention + statistics + 3.5 * (2 + 2 + 1),
              kStatistics);
}

// Mixtral 8x7B: two experts of 14336 for each token. Tokens are kept as they
// reach their experts; experts' results only where they are weighed last.
TEST(Kept, Experts) {
  double norms = 2 * (2 + 2), attention = 2 * (1 + 2 * 0.25 + 1);
  double statistics = 4.0 * 32 / 4096, mlp = 2 * 3.5 * 3;
  double results = 2 * 2;
  // Scores of 8 experts, and what was chosen.
  double router = 0.05;
  double dense = norms + attention + statistics;
  Question late{"mixtral-8x7b", "llm-foundry", "dp=8,ep=8,mb=1"};
  Question early{"mixtral-8x7b", "megatron-core", "dp=8,ep=8,mb=1"};
  EXPECT_NEAR(kept(early, 4096), dense + 2 * (2 + mlp), router);
  EXPECT_NEAR(kept(late, 4096), dense + 2 * (2 + mlp) + results, router);
}

// DeepSeek-V3 recomputes "all RMSNorm operations and MLA up-projections"
// (arXiv 2412.19437, section 3.2.3): of attention the latents, the result, and
// the shared rotary part of the keys stay.
TEST(Kept, LatentAttention) {
  Question q{"deepseek-v3", "megatron-bridge", "dp=64,ep=64,mb=1"};
  double all = kept(q, 7168), some = kept(q, 7168, RecomputeKind::Selective);
  double heads = 128, query = 128 + 64, value = 128;
  double made = 2 * heads * (2 * query + value);
  double norms = 2 * (2 * 7168 + 1536 + 512);
  // Megatron-Core's "moe_act": of the eight experts, not of the shared one.
  double activations = 2 * 2048 * 8;
  EXPECT_NEAR(all - some, (made + norms + activations) / 7168, 0.02);
}

// Megatron-Core's transformer_layer.py: in dense layers the norms are parts of
// the products, so that "core_attn" is what selective recomputation has, and
// with fused attention it frees the rows' statistics alone; before experts
// there is a norm of its own ("layernorm"), and "moe_act".
TEST(Kept, ModulesOfMegatronCore) {
  for (const char *stack : {"nemo", "megatron-core", "megatron-bridge"}) {
    auto freed = [&](const char *model, double width) {
      Question q{model, stack};
      return kept(q, width) - kept(q, width, RecomputeKind::Selective);
    };
    EXPECT_NEAR(freed("llama3-8b", 4096), 4 * 32 / 4096.0, 0.002) << stack;
    EXPECT_NEAR(freed("mixtral-8x7b", 4096), 2 + 2 * 2 * 14336 / 4096.0, 0.02)
        << stack;
  }
}

// What is done again takes time: attention's forward pass in dense layers.
TEST(Kept, WhatIsDoneAgain) {
  auto redone = [](const char *model, const char *stack) {
    std::set<KernelClass> kernels;
    for (const OpFeature &op : layerOf({model, stack}).ops)
      if (op.selective)
        kernels.insert(op.kernel);
    return kernels;
  };
  EXPECT_EQ(redone("llama3-8b", "nemo"),
            std::set<KernelClass>{KernelClass::Attention});
  EXPECT_FALSE(redone("mixtral-8x7b", "nemo").count(KernelClass::Attention));
  EXPECT_FALSE(redone("mixtral-8x7b", "nemo").count(KernelClass::Matmul));
}

} // namespace
