//===- Partition.cpp - the rewrite into one rank's program ----------------===//
//
// Each function gets a new body, built op by op from the analysis; nothing is
// decided here.
//
//===----------------------------------------------------------------------===//
#include "MergeReductions.h"

#include "tessera/Transforms/Partition/Passes.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Interfaces/OpInterfaces.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace tessera;

namespace tessera {
#define GEN_PASS_DEF_PARTITION
#include "lib/Transforms/Partition/Passes.h.inc"
} // namespace tessera

namespace {
/// Builds the local body of one function.
class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, const PartitionAnalysis &analysis,
                   PartitionStatistics &statistics)
      : function(function), analysis(analysis), statistics(statistics),
        builder(function.getContext()) {}

  LogicalResult run();

private:
  Value applySteps(Location loc, Value value, ArrayRef<ReshardStep> steps);
  Value emitStep(Location loc, Value value, const ReshardStep &step);
  FailureOr<SmallVector<Value>> build(Operation &op, ArrayRef<Value> operands,
                                      ArrayRef<Type> types);
  void setSignature();

  using StepKey =
      std::tuple<void *, ReshardKind, std::vector<Axis>, unsigned, unsigned>;
  func::FuncOp function;
  const PartitionAnalysis &analysis;
  PartitionStatistics &statistics;
  OpBuilder builder;
  DenseMap<Value, Value> local;
  std::map<StepKey, Value> emitted;
};
} // namespace

Value FunctionRewriter::emitStep(Location loc, Value value,
                                 const ReshardStep &step) {
  const Mesh &mesh = analysis.getMesh();
  SmallVector<StringRef> names;
  for (Axis axis : step.axes)
    names.push_back(mesh.axes[axis].name);
  ArrayAttr axes = builder.getStrArrayAttr(names);
  int64_t ranks = mesh.sizeOf(step.axes);
  auto type = RankedTensorType::get(
      step.shape, cast<RankedTensorType>(value.getType()).getElementType());
  switch (step.kind) {
  case ReshardKind::Slice:
    return SliceOp::create(builder, loc, type, value, axes, step.dim, ranks);
  case ReshardKind::AllGather:
    return AllGatherOp::create(builder, loc, type, value, axes, step.dim,
                               ranks);
  case ReshardKind::AllToAll:
    return AllToAllOp::create(builder, loc, type, value, axes, step.dim,
                              step.concatDim, ranks);
  case ReshardKind::ReduceScatter:
    return ReduceScatterOp::create(builder, loc, type, value, axes, step.dim,
                                   ranks);
  case ReshardKind::AllReduce:
    return AllReduceOp::create(builder, loc, type, value, axes,
                               step.reduction == ReductionKind::Max);
  }
  return {};
}

Value FunctionRewriter::applySteps(Location loc, Value value,
                                   ArrayRef<ReshardStep> steps) {
  for (const ReshardStep &step : steps) {
    StepKey key{value.getAsOpaquePointer(), step.kind,
                std::vector<Axis>(step.axes.begin(), step.axes.end()), step.dim,
                step.concatDim};
    auto [it, isNew] = emitted.try_emplace(key);
    if (isNew) {
      it->second = emitStep(loc, value, step);
      ++statistics.collectives;
    } else {
      ++statistics.shared;
    }
    value = it->second;
  }
  return value;
}

FailureOr<SmallVector<Value>> FunctionRewriter::build(Operation &op,
                                                      ArrayRef<Value> operands,
                                                      ArrayRef<Type> types) {
  SmallVector<Value> results;
  if (auto rule = dyn_cast<PartitionOpInterface>(op)) {
    results = rule.buildLocal(builder, operands, types, analysis.getMesh(),
                              analysis.getPartition(&op).rule);
  } else {
    OperationState state(op.getLoc(), op.getName(), operands, types,
                         op.getAttrs());
    results = SmallVector<Value>(builder.create(state)->getResults());
  }
  if (TypeRange(ValueRange(results)) != TypeRange(types))
    return op.emitError("built a local op that returns (")
           << TypeRange(ValueRange(results)) << "), expected ("
           << TypeRange(types) << ")";
  return results;
}

void FunctionRewriter::setSignature() {
  const FunctionPartition &partition = analysis.getPartition(function);
  const Mesh &mesh = analysis.getMesh();
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  auto attribute = [&](const TensorSharding &sharding) {
    return ShardingAttr::get(function.getContext(), mesh, sharding);
  };
  for (auto [i, sharding] : llvm::enumerate(partition.arguments))
    function.setArgAttr(i, kShardingAttrName, attribute(sharding));
  for (auto [i, sharding] : llvm::enumerate(partition.results))
    function.setResultAttr(i, kShardingAttrName, attribute(sharding));
}

LogicalResult FunctionRewriter::run() {
  Block *old = &function.getBody().front();
  Block *body = new Block();
  function.getBody().push_back(body);
  for (BlockArgument argument : old->getArguments()) {
    Type type = argument.getType();
    if (isa<RankedTensorType>(type))
      type = analysis.localType(argument);
    local[argument] = body->addArgument(type, argument.getLoc());
  }
  builder.setInsertionPointToStart(body);
  for (Operation &op : *old) {
    const OpPartition &partition = analysis.getPartition(&op);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      ArrayRef<ReshardStep> steps;
      if (i < partition.operandSteps.size())
        steps = partition.operandSteps[i];
      operands.push_back(applySteps(op.getLoc(), local[operand], steps));
    }
    SmallVector<Type> types;
    for (auto [result, natural] :
         llvm::zip_equal(op.getResults(), partition.natural))
      types.push_back(analysis.localType(result.getType(), natural));
    FailureOr<SmallVector<Value>> results = build(op, operands, types);
    if (failed(results))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      local[result] = value;
    if (op.getNumResults() != 0)
      local[op.getResult(0)] =
          applySteps(op.getLoc(), results->front(), partition.resultSteps);
  }
  old->erase();
  // The decisions are carried out.
  for (Operation &op : *body)
    op.removeDiscardableAttr(kShardingAttrName);
  setSignature();
  ++statistics.functions;
  return success();
}

LogicalResult tessera::applyPartition(ModuleOp module,
                                      const PartitionAnalysis &analysis,
                                      PartitionStatistics &statistics) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (failed(FunctionRewriter(function, analysis, statistics).run()))
      return failure();
    unsigned saved = mergeReductions(function);
    statistics.collectives -= saved;
    statistics.merged += saved;
  }
  return success();
}

namespace {
struct PartitionPass : tessera::impl::PartitionBase<PartitionPass> {
  void runOnOperation() override {
    ShardingFailure problem;
    auto fail = [&] {
      problem.op->emitError(problem.message);
      signalPassFailure();
    };
    std::optional<ShardingPlan> layout =
        readShardingPlan(getOperation(), problem);
    if (!layout)
      return fail();
    auto analysis =
        PartitionAnalysis::compute(getOperation(), *layout, problem);
    if (!analysis)
      return fail();
    PartitionStatistics statistics;
    if (failed(applyPartition(getOperation(), *analysis, statistics)))
      return signalPassFailure();
    numCollectives += statistics.collectives;
    numShared += statistics.shared;
    numMerged += statistics.merged;
    numFunctions += statistics.functions;
  }
};
} // namespace
