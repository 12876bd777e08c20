//===- ImaginedMeshTest.cpp - plans and analyses that touch no IR ---------===//
//
// The planner asks for the same module under many meshes. What it is told must
// be what the rewrite then does, and the module must stay as it was.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/Counts.h"
#include "tessera/Transforms/Partition/Passes.h"
#include "tessera/Transforms/Plan/CountUnderMesh.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace tessera;

namespace {
class ImaginedMesh : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<TesseraDialect>();
    const char *source = std::getenv("TESSERA_SRC");
    ASSERT_TRUE(source) << "TESSERA_SRC must name the source tree";
    module = parseSourceFile<ModuleOp>(
        std::string(source) + "/test/Transforms/Inputs/llama.mlir", &context);
    ASSERT_TRUE(module);
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  /// The plan for "dp=2,tp=2", say; `why` where there is none.
  std::optional<ShardingPlan> plan(ModuleOp target, StringRef mesh,
                                   std::string &why) {
    PlanOptions options;
    std::optional<Mesh> parsed = parseMesh(mesh, why);
    if (!parsed)
      return std::nullopt;
    options.mesh = *parsed;
    ShardingFailure failure;
    auto result = planSharding(target, options, failure);
    why = failure.message;
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Bytes of the collectives that an analysis inserts between the ops of a
/// function, as a rank receives them.
int64_t bytesMoved(func::FuncOp function, const PartitionAnalysis &analysis) {
  int64_t bytes = 0;
  for (Operation &op : function.getOps()) {
    const OpPartition &partition = analysis.getPartition(&op);
    for (const ReshardSteps &steps : partition.operandSteps)
      for (const ReshardStep &step : steps)
        bytes += step.bytesMoved;
    for (const ReshardStep &step : partition.resultSteps)
      bytes += step.bytesMoved;
  }
  return bytes;
}

TEST_F(ImaginedMesh, ManyMeshesOneModule) {
  const std::string before = print(*module);
  int legal = 0;
  for (StringRef mesh : {"dp=1,tp=1", "dp=2", "tp=2", "tp=4", "dp=2,tp=2",
                         "tp=2,dp=2", "dp=2,tp=4", "tp=3", "dp=3"}) {
    std::string why;
    std::optional<ShardingPlan> sharding = plan(*module, mesh, why);
    bool expected = mesh != "tp=3" && mesh != "dp=3";
    EXPECT_EQ(sharding.has_value(), expected) << mesh.str() << ": " << why;
    if (!sharding)
      continue;
    ++legal;
    ShardingFailure failure;
    auto analysis = PartitionAnalysis::compute(*module, *sharding, failure);
    ASSERT_TRUE(analysis) << mesh.str() << ": " << failure.message;
    // The ranks' parts of each parameter together are at least the whole.
    for (auto parameter : module->getOps<ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      ValueLayout layout{sharding->parameters[parameter.getSymNameAttr()],
                         parameter.getPadded() ? 1u : 0u};
      int64_t parts = 1;
      for (const AxisList &axes : layout.sharding.dims)
        parts *= sharding->mesh.sizeOf(axes);
      EXPECT_GE(analysis->localType(type, layout).getNumElements() * parts,
                type.getNumElements());
    }
  }
  EXPECT_EQ(legal, 7);
  EXPECT_EQ(print(*module), before);
}

// What the analysis says of the block is what the rewrite puts into it.
TEST_F(ImaginedMesh, AnalysisAgreesWithRewrite) {
  for (StringRef mesh : {"tp=2", "tp=4", "dp=2,tp=2"}) {
    OwningOpRef<ModuleOp> clone(module->clone());
    std::string why;
    std::optional<ShardingPlan> sharding = plan(*clone, mesh, why);
    ASSERT_TRUE(sharding) << why;
    ShardingFailure failure;
    auto analysis = PartitionAnalysis::compute(*clone, *sharding, failure);
    ASSERT_TRUE(analysis) << failure.message;
    auto block = clone->lookupSymbol<func::FuncOp>("block");
    auto forward = clone->lookupSymbol<func::FuncOp>("forward");
    const int64_t inBlock = bytesMoved(block, *analysis);
    const int64_t outside = bytesMoved(forward, *analysis);

    writeShardingPlan(*clone, *sharding);
    PartitionStatistics statistics;
    ASSERT_TRUE(succeeded(applyPartition(*clone, *analysis, statistics)));
    ASSERT_TRUE(succeeded(verify(*clone)));
    EXPECT_EQ(statistics.functions, 2);
    FailureOr<ProgramCounts> counts = countProgram(*clone);
    ASSERT_TRUE(succeeded(counts));
    int64_t total = 0, ofStatistics = 0;
    for (const auto &[key, count] : counts->collectives) {
      total += count.bytesMoved;
      // The gather of the loss' statistics is made by the op itself.
      if (key.op == "all_gather" && key.count % 3 == 0)
        ofStatistics += count.bytesMoved;
    }
    EXPECT_EQ(total - ofStatistics, 3 * inBlock + outside) << mesh.str();
  }
}

// The work and the size of the local program do not depend on the depth.
TEST_F(ImaginedMesh, DepthCostsNothing) {
  std::string why;
  std::optional<ShardingPlan> sharding = plan(*module, "dp=2,tp=2", why);
  ASSERT_TRUE(sharding) << why;
  auto ops = [&](int64_t layers) {
    OwningOpRef<ModuleOp> clone(module->clone());
    Builder builder(&context);
    clone->walk([&](LayersOp call) {
      call->setAttr("count", builder.getI64IntegerAttr(layers));
    });
    clone->walk([&](ParameterOp parameter) {
      if (parameter.getLayerCount())
        parameter->setAttr("layer_count", builder.getI64IntegerAttr(layers));
    });
    std::optional<ShardingPlan> own = plan(*clone, "dp=2,tp=2", why);
    ShardingFailure failure;
    auto analysis = PartitionAnalysis::compute(*clone, *own, failure);
    writeShardingPlan(*clone, *own);
    PartitionStatistics statistics;
    EXPECT_TRUE(succeeded(applyPartition(*clone, *analysis, statistics)));
    EXPECT_EQ(statistics.functions, 2);
    int64_t n = 0;
    clone->walk([&](Operation *) { ++n; });
    return n;
  };
  EXPECT_EQ(ops(2), ops(80));
}

// Work is divided, not multiplied: the products of all ranks together are those
// of one, plus what key-value heads and padded vocabulary rows add.
TEST_F(ImaginedMesh, CountsUnderMeshes) {
  const std::string before = print(*module);
  auto count = [&](StringRef mesh) {
    PlanOptions options;
    std::string why;
    options.mesh = *parseMesh(mesh, why);
    ShardingFailure failure;
    auto counts = countUnderMesh(*module, options, failure);
    EXPECT_TRUE(counts) << failure.message;
    return counts ? counts->forward.matmulFlops : 0;
  };
  const int64_t one = count("dp=1");
  EXPECT_EQ(2 * count("dp=2"), one);
  EXPECT_EQ(2 * count("tp=2"), one);
  EXPECT_EQ(4 * count("dp=2,tp=2"), one);
  // On four ranks keys and values (of 3 layers, 32 tokens, 64 by 32, two
  // operations each) are computed twice, and 250 logits become 252.
  const int64_t twice = 3 * 2 * (2 * 32 * 64 * 32);
  const int64_t padding = 2 * 32 * 64 * 2;
  EXPECT_EQ(4 * count("tp=4"), one + twice + padding);

  PlanOptions options;
  std::string why;
  options.mesh = *parseMesh("tp=3", why);
  ShardingFailure failure;
  EXPECT_FALSE(countUnderMesh(*module, options, failure));
  EXPECT_EQ(failure.message, "4 attention heads cannot be divided evenly with "
                             "tp = 3; the nearest legal tp is 2 or 4");
  EXPECT_EQ(print(*module), before);
}

TEST(ParseMesh, Errors) {
  std::string why;
  std::optional<Mesh> mesh = parseMesh("tp=4, dp = 2", why);
  ASSERT_TRUE(mesh) << why;
  EXPECT_EQ(mesh->axes[0].name, "tp");
  EXPECT_EQ(mesh->axes[1].size, 2);
  EXPECT_FALSE(parseMesh("", why));
  EXPECT_FALSE(parseMesh("tp=2,", why));
  EXPECT_FALSE(parseMesh("tp=-1", why));
  EXPECT_FALSE(parseMesh("tp=99999999999999999999", why));
  EXPECT_FALSE(parseMesh("tpr=2", why));
  EXPECT_FALSE(parseMesh("tp=4611686018427387904", why));
  EXPECT_EQ(why, "mesh 'tp=4611686018427387904': axis 'tp' has "
                 "4611686018427387904 ranks, at most 1048576 are possible");
}
} // namespace
