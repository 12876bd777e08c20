//===- ShardingPlan.h - what the plan decides -------------------*- C++ -*-===//
//
// A sharding plan is all that the partitioner has to be told about a module:
// the mesh, where each parameter lies, and the shardings of the values for
// which there is a choice. The `plan` phase writes one into the IR as
// attributes, `partition` reads it from there; the planner makes as many as it
// likes without touching the IR.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_SHARDING_SHARDINGPLAN_H
#define TESSERA_ANALYSIS_SHARDING_SHARDINGPLAN_H

#include "tessera/Interfaces/Sharding.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

struct ShardingPlan {
  Mesh mesh;
  /// By the symbol name of the `tessera.parameter`. A parameter that is not
  /// listed is replicated.
  llvm::DenseMap<mlir::StringAttr, TensorSharding> parameters;
  /// Function arguments, and first results of ops, whose sharding is fixed.
  llvm::DenseMap<mlir::Value, TensorSharding> decisions;
};

/// Why something cannot be done, and the op to blame.
struct ShardingFailure {
  mlir::Operation *op = nullptr;
  std::string message;
};

/// The plan that the attributes of `module` state. Axes of size 1 are
/// dropped from every sharding. Fails without a mesh, and where a sharding
/// does not fit its tensor.
std::optional<ShardingPlan> readShardingPlan(mlir::ModuleOp module,
                                             ShardingFailure &failure);

} // namespace tessera

#endif // TESSERA_ANALYSIS_SHARDING_SHARDINGPLAN_H
