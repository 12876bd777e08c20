//===- PartitionAnalysis.cpp - one rank's program, worked out -------------===//
//
// A block function is analysed when its first call is met: its arguments lie as
// the plan says, or as the first call's operands do, and its results are
// brought back to where the arguments are, since each layer's results are the
// next one's operands. Later calls of the same block reshard their operands to
// it. So every function is walked exactly once, however many layers there are.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/Sharding/PartitionAnalysis.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Interfaces/OpInterfaces.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

RankedTensorType PartitionAnalysis::localType(Type type,
                                              const ValueLayout &layout) const {
  auto tensor = cast<RankedTensorType>(type);
  auto shape = localShape(tensor.getShape(), layout.sharding, mesh,
                          layout.paddedDims, nullptr);
  // Every layout that the analysis stores has been checked.
  return RankedTensorType::get(*shape, tensor.getElementType());
}

namespace tessera {
class PartitionWalker {
public:
  PartitionWalker(ModuleOp module, const ShardingPlan &layout,
                  ShardingFailure &problem)
      : module(module), layout(layout), problem(problem) {
    result.mesh = layout.mesh;
  }

  LogicalResult run() {
    // Functions that no one calls are entered from outside; the others are
    // met through their calls.
    llvm::SmallSetVector<StringRef, 4> called;
    module.walk([&](LayersOp call) { called.insert(call.getBlock()); });
    for (auto function : module.getOps<func::FuncOp>()) {
      if (called.contains(function.getSymName()) || function.isExternal())
        continue;
      SmallVector<TensorSharding, 3> arguments;
      for (Value argument : function.getArguments())
        arguments.push_back(decided(argument));
      if (failed(walkFunction(function, arguments, /*isBlock=*/false)))
        return failure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && !result.functions.contains(function))
        return fail(function, "is called in a cycle of blocks");
    return success();
  }

  PartitionAnalysis result;

private:
  LogicalResult fail(Operation *op, const llvm::Twine &message) {
    problem = {op, message.str()};
    return failure();
  }

  /// The decided sharding of a value, or replication.
  TensorSharding decided(Value value) {
    auto found = layout.decisions.find(value);
    if (found != layout.decisions.end())
      return dropTrivialAxes(found->second, layout.mesh);
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return TensorSharding::replicated(tensor ? tensor.getRank() : 0);
  }

  LogicalResult setLayout(Operation *op, Value value, ValueLayout valueLayout);
  LogicalResult reshard(Operation *op, const llvm::Twine &what, Value value,
                        const ValueLayout &from, const TensorSharding &to,
                        ReshardSteps &steps);
  LogicalResult obeyDecision(Operation *op);
  LogicalResult walkFunction(func::FuncOp function,
                             ArrayRef<TensorSharding> arguments, bool isBlock);
  LogicalResult visitRule(PartitionOpInterface op);
  LogicalResult visitLayers(LayersOp op);
  LogicalResult visitReturn(func::FuncOp function, func::ReturnOp op,
                            bool isBlock);

  ModuleOp module;
  const ShardingPlan &layout;
  ShardingFailure &problem;
  llvm::SmallSetVector<Operation *, 4> open; ///< functions being walked
};
} // namespace tessera

LogicalResult PartitionWalker::setLayout(Operation *op, Value value,
                                         ValueLayout valueLayout) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor) {
    result.values[value] = valueLayout;
    return success();
  }
  if (!tensor.hasStaticShape())
    return fail(op, "only static shapes can be partitioned");
  std::string why;
  valueLayout.sharding = dropTrivialAxes(valueLayout.sharding, layout.mesh);
  if (!localShape(tensor.getShape(), valueLayout.sharding, layout.mesh,
                  valueLayout.paddedDims, &why))
    return fail(op, "sharding " + valueLayout.sharding.str(layout.mesh) +
                        " of " + llvm::Twine(why));
  if (value.getDefiningOp())
    result.ops[op].natural.push_back(valueLayout);
  result.values[value] = std::move(valueLayout);
  return success();
}

LogicalResult PartitionWalker::reshard(Operation *op, const llvm::Twine &what,
                                       Value value, const ValueLayout &from,
                                       const TensorSharding &to,
                                       ReshardSteps &steps) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || from.sharding == to)
    return success();
  unsigned bits = tensor.getElementTypeBitWidth();
  ReshardTensor description;
  description.globalShape.assign(tensor.getShape().begin(),
                                 tensor.getShape().end());
  description.elementBytes = (bits + 7) / 8;
  description.paddedDims = from.paddedDims;
  std::string why;
  auto plan = planReshard(layout.mesh, description, from.sharding, to, why);
  if (!plan)
    return fail(op, what + " is " + from.sharding.str(layout.mesh) +
                        " and must become " + to.str(layout.mesh) + ": " + why);
  steps = std::move(*plan);
  return success();
}

LogicalResult PartitionWalker::obeyDecision(Operation *op) {
  if (op->getNumResults() == 0)
    return success();
  Value value = op->getResult(0);
  if (!layout.decisions.contains(value))
    return success();
  ValueLayout &current = result.values[value];
  TensorSharding to = decided(value);
  if (failed(reshard(op, "its result", value, current, to,
                     result.ops[op].resultSteps)))
    return failure();
  current.sharding = to;
  return success();
}

LogicalResult PartitionWalker::visitRule(PartitionOpInterface op) {
  SmallVector<TensorSharding> operands;
  for (Value operand : op->getOperands())
    operands.push_back(result.values[operand].sharding);
  std::string why;
  std::optional<ShardingRule> rule =
      op.getShardingRule(layout.mesh, operands, why);
  if (!rule)
    return fail(op, why);
  for (TensorSharding &sharding : rule->operands)
    sharding = dropTrivialAxes(sharding, layout.mesh);
  for (TensorSharding &sharding : rule->results)
    sharding = dropTrivialAxes(sharding, layout.mesh);
  OpPartition &partition = result.ops[op];
  partition.operandSteps.resize(operands.size());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(reshard(op, "operand #" + llvm::Twine(i), operand,
                       result.values[operand], rule->operands[i],
                       partition.operandSteps[i])))
      return failure();
  for (auto [i, value] : llvm::enumerate(op->getResults())) {
    uint32_t padded =
        i < rule->paddedResults.size() ? rule->paddedResults[i] : 0;
    if (failed(setLayout(op, value, {rule->results[i], padded})))
      return failure();
  }
  partition.rule = std::move(*rule);
  return success();
}

LogicalResult PartitionWalker::visitLayers(LayersOp op) {
  auto block = module.lookupSymbol<func::FuncOp>(op.getBlock());
  if (!block || block.isExternal())
    return fail(op, "calls @" + op.getBlock() + ", which is no function here");
  if (block.getNumArguments() != op->getNumOperands() ||
      block.getNumResults() != op->getNumResults())
    return fail(op, "does not match the signature of @" + op.getBlock());
  if (!result.functions.contains(block)) {
    SmallVector<TensorSharding, 3> arguments;
    for (auto [argument, operand] :
         llvm::zip_equal(block.getArguments(), op->getOperands())) {
      TensorSharding sharding = result.values[operand].sharding;
      // A pending reduction does not pass a block's border.
      sharding.partial.clear();
      arguments.push_back(
          layout.decisions.contains(argument) ? decided(argument) : sharding);
    }
    if (failed(walkFunction(block, arguments, /*isBlock=*/true)))
      return failure();
  }
  const FunctionPartition callee = result.functions[block];
  OpPartition &partition = result.ops[op];
  partition.operandSteps.resize(op->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(reshard(op, "operand #" + llvm::Twine(i), operand,
                       result.values[operand], callee.arguments[i],
                       partition.operandSteps[i])))
      return failure();
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    if (failed(setLayout(op, value, {callee.results[i], 0})))
      return failure();
  return success();
}

LogicalResult PartitionWalker::visitReturn(func::FuncOp function,
                                           func::ReturnOp op, bool isBlock) {
  FunctionPartition &partition = result.functions[function];
  OpPartition &steps = result.ops[op];
  steps.operandSteps.resize(op->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const ValueLayout &from = result.values[operand];
    TensorSharding to = from.sharding;
    to.partial.clear();
    if (isBlock && i < partition.arguments.size() &&
        operand.getType() == function.getArgument(i).getType())
      to = partition.arguments[i];
    if (from.paddedDims != 0 &&
        !localShape(cast<RankedTensorType>(operand.getType()).getShape(), to,
                    layout.mesh, 0, nullptr))
      return fail(op, "operand #" + llvm::Twine(i) +
                          " is padded on some rank and cannot be returned");
    if (failed(reshard(op, "operand #" + llvm::Twine(i), operand, from, to,
                       steps.operandSteps[i])))
      return failure();
    partition.results.push_back(to);
  }
  return success();
}

LogicalResult PartitionWalker::walkFunction(func::FuncOp function,
                                            ArrayRef<TensorSharding> arguments,
                                            bool isBlock) {
  if (!function.getBody().hasOneBlock())
    return fail(function, "has control flow, which cannot be partitioned");
  if (!open.insert(function))
    return fail(function, "calls itself through its blocks");
  for (auto [value, sharding] :
       llvm::zip_equal(function.getArguments(), arguments))
    if (failed(setLayout(function, value, {sharding, 0})))
      return failure();
  // Callers find the function in the result once its end is reached.
  FunctionPartition partition;
  partition.arguments.assign(arguments.begin(), arguments.end());
  for (Operation &op : function.getBody().front()) {
    LogicalResult visited =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<GetParameterOp>([&](GetParameterOp read) {
              auto found =
                  layout.parameters.find(read.getParameterAttr().getAttr());
              auto parameter =
                  module.lookupSymbol<ParameterOp>(read.getParameter());
              if (!parameter)
                return fail(read, "no parameter @" + read.getParameter());
              if (parameter.getType() != read.getType())
                return fail(read, "the module is partitioned already");
              ValueLayout where{
                  TensorSharding::replicated(read.getType().getRank()),
                  parameter.getPadded() ? 1u : 0u};
              if (found != layout.parameters.end())
                where.sharding = found->second;
              return setLayout(read, read.getResult(), where);
            })
            .Case<RotaryTableOp>([&](RotaryTableOp table) {
              return setLayout(
                  table, table.getResult(),
                  {TensorSharding::replicated(table.getType().getRank()), 0});
            })
            .Case<LayersOp>([&](LayersOp call) { return visitLayers(call); })
            .Case<func::ReturnOp>([&](func::ReturnOp end) {
              result.functions[function] = partition;
              return visitReturn(function, end, isBlock);
            })
            .Case<PartitionOpInterface>(
                [&](PartitionOpInterface rule) { return visitRule(rule); })
            .Default([&](Operation *other) {
              return fail(other, "has no partition rule");
            });
    if (failed(visited) || failed(obeyDecision(&op)))
      return failure();
  }
  open.remove(function);
  return success();
}

std::optional<PartitionAnalysis>
PartitionAnalysis::compute(ModuleOp module, const ShardingPlan &layout,
                           ShardingFailure &failure) {
  PartitionWalker walker(module, layout, failure);
  if (failed(walker.run()))
    return std::nullopt;
  return std::move(walker.result);
}
