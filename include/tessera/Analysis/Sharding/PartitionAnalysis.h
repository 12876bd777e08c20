//===- PartitionAnalysis.h - one rank's program, worked out -----*- C++ -*-===//
//
// Works out, for every op of a module, the shardings of its operands and
// results and the collectives that bring the operands there, without touching
// the IR: each function is walked once, each op is asked for its partition
// rule with the shardings that its operands have, and the resharding planner
// bridges the difference.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_SHARDING_PARTITIONANALYSIS_H
#define TESSERA_ANALYSIS_SHARDING_PARTITIONANALYSIS_H

#include "tessera/Analysis/Sharding/Resharding.h"
#include "tessera/Analysis/Sharding/ShardingPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

using ReshardSteps = llvm::SmallVector<ReshardStep, 2>;

/// A tensor value of the global program on the mesh.
struct ValueLayout {
  TensorSharding sharding;
  /// Dimensions that are rounded up (see localShape).
  uint32_t paddedDims = 0;
};

struct OpPartition {
  /// For an op with a partition rule: what it answered.
  ShardingRule rule;
  /// Per operand, the steps from the sharding that it has to the one needed.
  llvm::SmallVector<ReshardSteps, 3> operandSteps;
  /// The layouts in which the results come out of the op.
  llvm::SmallVector<ValueLayout, 1> natural;
  /// From the first result's natural layout to the decided one.
  ReshardSteps resultSteps;
};

struct FunctionPartition {
  llvm::SmallVector<TensorSharding, 3> arguments;
  llvm::SmallVector<TensorSharding, 2> results;
};

class PartitionAnalysis {
public:
  /// Analyses all functions of `module` under `layout`. On failure nothing is
  /// returned and `failure` says which op stands in the way, and why.
  static std::optional<PartitionAnalysis> compute(mlir::ModuleOp module,
                                                  const ShardingPlan &layout,
                                                  ShardingFailure &failure);

  /// The final layout of a value (after `resultSteps`).
  const ValueLayout &getLayout(mlir::Value value) const {
    return values.find(value)->second;
  }
  const OpPartition &getPartition(mlir::Operation *op) const {
    return ops.find(op)->second;
  }
  const FunctionPartition &getPartition(mlir::func::FuncOp function) const {
    return functions.find(function)->second;
  }
  /// One rank's type of `type` under `layout`.
  mlir::RankedTensorType localType(mlir::Type type,
                                   const ValueLayout &layout) const;
  mlir::RankedTensorType localType(mlir::Value value) const {
    return localType(value.getType(), getLayout(value));
  }
  const Mesh &getMesh() const { return mesh; }

private:
  friend class PartitionWalker;
  Mesh mesh;
  llvm::DenseMap<mlir::Value, ValueLayout> values;
  llvm::DenseMap<mlir::Operation *, OpPartition> ops;
  llvm::DenseMap<mlir::Operation *, FunctionPartition> functions;
};

} // namespace tessera

#endif // TESSERA_ANALYSIS_SHARDING_PARTITIONANALYSIS_H
