//===- GraphTest.cpp - closed form against the graph's own costs ----------===//
//
// Two sources of the same numbers that share no code: the closed form of the
// cost model, and the cost interface of the imported ops, evaluated on the
// local shapes of a planned and partitioned copy. Matrix products and
// parameters must agree.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Search/Provider.h"
#include "tessera/Import/Import.h"
#include "tessera/Transforms/Plan/CountUnderMesh.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tessera;

namespace {

struct Totals {
  double matmulFlops = 0, parameters = 0;
};

/// One forward pass of one rank by the ops' interface.
std::optional<Totals> fromGraph(StringRef model, int64_t sequence, int tp,
                                std::string &why) {
  MLIRContext context;
  context.loadDialect<TesseraDialect, func::FuncDialect>();
  ImportOptions options;
  options.model = model.str();
  options.batch = 1;
  options.sequence = sequence;
  options.dtype = "bf16";
  auto module = importModel(context, options, [&](const llvm::Twine &message) {
    why = message.str();
  });
  if (failed(module))
    return std::nullopt;
  PlanOptions plan;
  auto mesh = parseMesh("tp=" + std::to_string(tp), why);
  if (!mesh)
    return std::nullopt;
  plan.mesh = *mesh;
  ShardingFailure failure;
  auto counts = countUnderMesh(**module, plan, failure);
  if (!counts) {
    why = failure.message;
    return std::nullopt;
  }
  return Totals{double(counts->forward.matmulFlops),
                double(counts->parameterBytes) / 2};
}

/// The same by the closed form; `attention` is the part of the attention core.
Totals fromClosedForm(StringRef model, int64_t sequence, int tp,
                      double &attention) {
  ModelConfig config = llvm::cantFail(readModelConfig(model));
  PlanProblem p;
  p.shape = shapeOf(config, sequence);
  p.model.traits = llvm::cantFail(stackTraits("nemo"));
  Layout l;
  l.tp = tp;
  l.sequenceParallel = tp > 1;
  ModelFeatures f = ClosedFormProvider(p).features(l);
  Totals totals;
  attention = 0;
  for (const BlockCall &call : f.calls) {
    const BlockFeatures &block = f.blocks[call.block];
    totals.parameters +=
        call.count * double(block.denseParameters + block.expertParameters);
    for (const OpFeature &op : block.ops) {
      double flops = call.count * double(op.forward.matmulFlops);
      totals.matmulFlops += flops;
      if (op.kernel == KernelClass::Attention)
        attention += flops;
    }
  }
  return totals;
}

void compare(StringRef model, int64_t sequence, int tp) {
  SCOPED_TRACE(model.str() + " tp=" + std::to_string(tp));
  std::string why;
  std::optional<Totals> graph = fromGraph(model, sequence, tp, why);
  ASSERT_TRUE(graph) << why;
  double attention = 0;
  Totals closed = fromClosedForm(model, sequence, tp, attention);
  // The closed form counts half of all pairs of positions, s^2/2 (arXiv
  // 2204.02311 and most reports); the ops count the pairs that a causal mask
  // leaves, s(s+1)/2. Everything else is the same number.
  double expected = closed.matmulFlops;
  if (llvm::cantFail(readModelConfig(model)).causal)
    expected += attention / double(sequence);
  EXPECT_EQ(graph->matmulFlops, expected)
      << "difference of " << (graph->matmulFlops - expected) / attention
      << " of the attention core";
  // Norms and biases are in the graph only.
  EXPECT_NEAR(closed.parameters / graph->parameters, 1.0, 2e-3);
}

TEST(Graph, DenseModels) {
  for (int tp : {1, 2}) {
    compare("llama-7b", 256, tp);
    compare("llama3-8b", 256, tp);
    compare("mistral-7b", 256, tp);
  }
}

TEST(Graph, EncodersAndRelativeAttention) {
  for (int tp : {1, 2}) {
    compare("bert-large", 512, tp); // all its positions
    compare("gopher-280b", 256, tp);
  }
}

TEST(Graph, Experts) {
  compare("mixtral-8x7b", 256, 1);
  compare("mixtral-8x7b", 256, 2);
}

TEST(Graph, LatentAttention) { compare("deepseek-v3", 256, 1); }

} // namespace
