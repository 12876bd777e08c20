//===- PlanLayoutPass.cpp - writes the planned layout into the IR ---------===//
#include "tessera/Transforms/Plan/Passes.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace tessera;

namespace tessera {
#define GEN_PASS_DEF_PLANLAYOUT
#include "lib/Transforms/Plan/Passes.h.inc"
} // namespace tessera

void tessera::writeShardingPlan(ModuleOp module, const ShardingPlan &layout) {
  MLIRContext *context = module.getContext();
  module->setAttr(kMeshAttrName, MeshAttr::get(context, layout.mesh));
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto found = layout.parameters.find(parameter.getSymNameAttr());
    if (found != layout.parameters.end())
      parameter.setShardingAttr(
          ShardingAttr::get(context, layout.mesh, found->second));
  }
  for (auto [value, sharding] : layout.decisions) {
    auto attribute = ShardingAttr::get(context, layout.mesh, sharding);
    if (Operation *op = value.getDefiningOp()) {
      op->setAttr(kShardingAttrName, attribute);
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    if (auto function =
            dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      function.setArgAttr(argument.getArgNumber(), kShardingAttrName,
                          attribute);
  }
}

/// Reports what was decided and follows from no option alone.
static void remarkDecisions(ModuleOp module, const ShardingPlan &plan) {
  auto opts = [](StringRef name) {
    return remark::RemarkOpts::name(name).category("plan");
  };
  if (std::optional<Axis> replicas = plan.mesh.lookup(kReplicaAxis)) {
    int64_t heads = plan.mesh.axes[*plan.mesh.lookup(kTensorAxis)].size;
    remark::analysis(module.getLoc(), opts("key-value heads"))
        << remark::add("{0} key-value heads, each on {1} ranks: the tensor "
                       "axis is split into tp = {0} and tpr = {1}",
                       heads, plan.mesh.axes[*replicas].size);
  }
  bool splitsSequence = llvm::any_of(plan.decisions, [](const auto &decision) {
    const TensorSharding &sharding = decision.second;
    return sharding.dims.size() == 3 && !sharding.dims[1].empty();
  });
  remark::analysis(module.getLoc(), opts("sequence parallelism"))
      << remark::add("the residual stream is {0}",
                     splitsSequence ? "split over the sequence along tp"
                                    : "whole on every rank of tp");
}

namespace {
struct PlanLayoutPass : tessera::impl::PlanLayoutBase<PlanLayoutPass> {
  using PlanLayoutBase::PlanLayoutBase;

  void runOnOperation() override {
    PlanOptions options;
    options.sequenceParallel = sequenceParallel;
    std::string why;
    std::optional<Mesh> parsed = parseMesh(mesh, why);
    if (!parsed) {
      getOperation().emitError(why);
      return signalPassFailure();
    }
    options.mesh = std::move(*parsed);
    ShardingFailure problem;
    std::optional<ShardingPlan> layout =
        planSharding(getOperation(), options, problem);
    if (!layout) {
      problem.op->emitError(problem.message);
      return signalPassFailure();
    }
    writeShardingPlan(getOperation(), *layout);
    remarkDecisions(getOperation(), *layout);
    numParameters += layout->parameters.size();
    numDecisions += layout->decisions.size();
  }
};
} // namespace
