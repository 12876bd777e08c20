//===- ClosedFormAgreementTest.cpp - the graph against the closed form ----===//
//
// Two sources of the same features that share no code: the closed form that
// the tests write out by hand from a model's sizes, and the graph asked through
// its ops. Where the two count differently on purpose, the test says so.
//
//===----------------------------------------------------------------------===//
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Import/ModelConfig.h"
#include "test/Support/ClosedForm/ClosedForm.h"
#include "gtest/gtest.h"
#include <array>
#include <map>

using namespace llvm;
using namespace tessera;

namespace {

struct Question {
  const char *model;
  const char *layout;
  const char *stack = "nemo";
  int64_t sequence = 2048;
  Precision precision = {};
};

/// One rank's sums over all blocks, each as often as it is called.
struct Totals {
  double forward = 0, backward = 0, attention = 0; ///< matrix FLOPs
  double forwardBytes = 0, backwardBytes = 0;
  double saved = 0, selective = 0;
  double dense = 0, expert = 0; ///< parameters
  double forwardLaunches = 0, backwardLaunches = 0;
  /// Bytes times calls, by axis and direction.
  std::array<std::array<double, 2>, kNumParallelAxes> moved = {};
};

Totals totalsOf(const ModelFeatures &f) {
  Totals t;
  for (const BlockCall &call : f.calls) {
    const BlockFeatures &block = f.blocks[call.block];
    double n = call.count;
    t.dense += n * double(block.denseParameters);
    t.expert += n * double(block.expertParameters);
    for (const OpFeature &op : block.ops) {
      t.forward += n * double(op.forward.matmulFlops);
      t.backward += n * double(op.backward.matmulFlops);
      if (op.kernel == KernelClass::Attention)
        t.attention += n * double(op.forward.matmulFlops);
      t.forwardBytes +=
          n * double(op.forward.bytesRead + op.forward.bytesWritten);
      t.backwardBytes +=
          n * double(op.backward.bytesRead + op.backward.bytesWritten);
      (op.selective ? t.selective : t.saved) += n * double(op.savedBytes);
      t.forwardLaunches += n * op.forwardLaunches;
      t.backwardLaunches += n * op.backwardLaunches;
    }
    for (const CollectiveFeature &c : block.collectives) {
      t.moved[int(c.axis)][0] += n * double(c.bytes) * c.forwardCount;
      t.moved[int(c.axis)][1] += n * double(c.bytes) * c.backwardCount;
    }
  }
  return t;
}

struct Both {
  Totals closed, graph;
  int64_t closedBoundary = 0, graphBoundary = 0;
  ModelFeatures features;
};

Both ask(const Question &q) {
  ModelConfig config = cantFail(readModelConfig(q.model));
  Layout layout = cantFail(parseLayout(q.layout));
  PlanProblem p;
  p.shape = shapeOf(config, q.sequence);
  p.model.traits = cantFail(stackTraits(q.stack));
  // The closed form knows no modules (KeptTest does).
  p.model.traits.selective = SelectivePart::Light;
  // The closed form writes out one product of queries, keys and values and one
  // of gate and up; ProductsTest.cpp has them apart.
  p.model.traits.jointHeads = p.model.traits.jointGate = true;
  // Nor does it choose what to recompute by operation; KeptTest.cpp does.
  p.model.traits.selectsOperations = false;
  p.precision = q.precision;
  ModelFeatures closed = ClosedFormProvider(p).features(layout);
  FeatureSourcePtr source = cantFail(makeGraphSource(config));
  std::string why;
  EXPECT_TRUE(source->supports(layout, q.sequence, &why)) << why;
  ModelFeatures graph =
      source->features(layout, {q.sequence, p.model.traits, p.precision});
  return {totalsOf(closed), totalsOf(graph), closed.boundaryBytes,
          graph.boundaryBytes, std::move(graph)};
}

void near(double graph, double closed, double within, const char *what) {
  if (closed == 0)
    EXPECT_EQ(graph, 0) << what;
  else
    EXPECT_NEAR(graph / closed, 1.0, within) << what;
}

void compare(const Question &q, double memory = 0.02, double bytes = 0.1) {
  SCOPED_TRACE(std::string(q.model) + " " + q.layout + " " + q.stack);
  auto [closed, graph, closedBoundary, graphBoundary, features] = ask(q);
  // The closed form counts half of all pairs of positions, s^2/2 (arXiv
  // 2204.02311 and most reports); the ops those that a causal mask leaves,
  // s(s+1)/2. Unfused attention computes all pairs in both.
  bool causal = cantFail(readModelConfig(q.model)).causal;
  double expected =
      closed.forward + (causal ? closed.attention / double(q.sequence) : 0);
  // A vocabulary that tp does not divide is padded.
  near(graph.forward, expected, 1e-6, "forward FLOPs");
  // The five products of a backward pass differ in width in latent attention.
  near(graph.backward, closed.backward, 5e-3, "backward FLOPs");
  near(graph.forwardBytes, closed.forwardBytes, bytes, "forward bytes");
  near(graph.backwardBytes, closed.backwardBytes, bytes, "backward bytes");
  near(graph.saved, closed.saved, memory, "kept");
  near(graph.selective, closed.selective, memory, "kept and cheap to redo");
  // Norms and biases are in the graph only.
  near(graph.dense, closed.dense, 2e-3, "parameters");
  near(graph.expert, closed.expert, 1e-12, "parameters of experts");
  near(graph.forwardLaunches, closed.forwardLaunches, 0.06, "launches");
  near(graph.backwardLaunches, closed.backwardLaunches, 0.06, "launches");
  EXPECT_EQ(graphBoundary, closedBoundary);
  Layout layout = cantFail(parseLayout(q.layout));
  // The head's input is not gathered again for the gradient of a frozen weight.
  if (q.precision.frozen && layout.sequenceParallel)
    closed.moved[int(ParallelAxis::TP)][1] -= double(graphBoundary) * layout.tp;
  if (layout.ep == 1) // the closed form lists what one rank sends itself
    closed.moved[int(ParallelAxis::EP)] = {};
  for (int axis = 0; axis < kNumParallelAxes; ++axis)
    for (int direction : {0, 1})
      EXPECT_EQ(graph.moved[axis][direction], closed.moved[axis][direction])
          << nameOf(static_cast<ParallelAxis>(axis)).str() << " "
          << (direction ? "backward" : "forward");
}

TEST(Agreement, Dense) {
  for (const char *layout :
       {"mb=1", "mb=3", "tp=2,mb=2", "tp=8,sp,mb=1", "tp=4,sp,mb=2,pp=4",
        "tp=2,sp,zero=3,mb=1", "cp=2,mb=1", "cp=4,tp=2,sp,cp-kind=ulysses",
        "cp=2,cp-kind=all-gather"})
    for (const char *model : {"llama-7b", "llama3-8b"})
      compare({model, layout});
}

// The table that embedding and head share lies on both ends of a pipeline.
TEST(Agreement, SharedTables) {
  for (const char *model : {"gpt3-175b", "llama3.2-3b"})
    for (const char *layout : {"mb=1", "pp=4,mb=1", "tp=2,sp,pp=2,mb=1"})
      compare({model, layout, "nemo", 2048});
}

TEST(Agreement, EncodersAndRelativeAttention) {
  for (const char *layout : {"mb=1", "tp=2,mb=2"}) {
    // The closed form has norms before the halves of a layer, BERT behind.
    compare({"bert-large", layout, "nemo", 512}, 0.25);
    compare({"gopher-280b", layout});
  }
}

TEST(Agreement, OlderStacks) {
  for (const char *stack : {"megatron-2021", "megatron-2022", "llm-foundry",
                            "deepspeed", "torchtitan"}) {
    compare({"gpt3-175b", "tp=8,mb=1", stack});
    compare({"gpt3-175b", "tp=8,sp,mb=2", stack});
  }
}

TEST(Agreement, NarrowFormatsAndAdapters) {
  Question fp8{"llama3-8b", "tp=2,sp,mb=1"};
  fp8.precision.linear = DataType::FP8;
  compare(fp8);
  Question adapters{"llama3-8b", "tp=2,sp,mb=1"};
  adapters.precision.frozen = true;
  compare(adapters);
}

TEST(Agreement, Experts) {
  for (const char *layout :
       {"mb=1", "dp=8,ep=8,mb=1", "dp=4,tp=2,sp,ep=4,mb=2",
        "dp=4,tp=4,sp,ep=8,mb=1", "dp=8,ep=8,mb=1,dispatcher=fused",
        "dp=4,tp=2,sp,ep=4,mb=1,dispatcher=all-gather"})
    compare({"mixtral-8x7b", layout}, 0.02, 0.15);
  // Expert tensor parallelism gathers the products' inputs, which the graph
  // keeps as they are; the closed form counts a rank's own.
  for (const char *layout :
       {"dp=4,tp=4,sp,ep=4,etp=2,mb=1",
        "dp=4,tp=4,sp,ep=4,etp=2,mb=1,dispatcher=all-gather"})
    compare({"mixtral-8x7b", layout}, 0.1, 0.15);
}

// Latent attention moves its latents over tp where the closed form has whole
// activations: the down-projections are done by each rank for its own tokens.
TEST(Agreement, LatentAttention) {
  compare({"deepseek-v3", "dp=8,ep=8,mb=1"}, 0.02, 0.15);
  auto [closed, graph, a, b, features] = ask({"deepseek-v3", "tp=4,sp,mb=1"});
  near(graph.forward, closed.forward + closed.attention / 2048, 1e-9, "FLOPs");
  near(graph.dense, closed.dense, 2e-3, "parameters");
  double tokens = 2048, latents = 1536 + 512 + 64, hidden = 7168;
  const BlockFeatures &block = features.blocks[1];
  double gathered = 0;
  for (const CollectiveFeature &c : block.collectives)
    if (c.kind == CollectiveKind::AllGather)
      gathered += double(c.bytes) * c.forwardCount;
  // The latents, and the input of the dense MLP.
  EXPECT_EQ(gathered, 2 * tokens * (latents + hidden));
}

// A window of 4096 in 16384 positions: 4096 * 4097 / 2 pairs in the triangle
// and 4096 for each of the other 12288 rows.
TEST(Graph, SlidingWindow) {
  auto [closed, graph, a, b, features] =
      ask({"mistral-7b", "mb=1", "nemo", 16384});
  double pairs = 4096.0 * 4097 / 2 + 4096.0 * 12288;
  EXPECT_EQ(graph.attention, 32.0 * 32 * 4 * 128 * pairs);
  EXPECT_LT(graph.attention, 0.5 * closed.attention);
}

TEST(Graph, WhatCannotBeSplitIsSaid) {
  FeatureSourcePtr source =
      cantFail(makeGraphSource(cantFail(readModelConfig("llama-7b"))));
  std::string why;
  EXPECT_FALSE(source->supports(cantFail(parseLayout("tp=3")), 2048, &why));
  EXPECT_NE(why.find("attention heads"), std::string::npos) << why;
}

} // namespace
