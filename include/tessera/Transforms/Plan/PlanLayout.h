//===- PlanLayout.h - the layout of a mesh given by hand --------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_PLAN_PLANLAYOUT_H
#define TESSERA_TRANSFORMS_PLAN_PLANLAYOUT_H

#include "tessera/Analysis/Sharding/ShardingPlan.h"

namespace tessera {

/// Axes that a mesh given by hand may have: data and tensor parallelism.
inline constexpr llvm::StringLiteral kDataAxis = "dp";
inline constexpr llvm::StringLiteral kTensorAxis = "tp";
/// The minor part of the tensor axis, over which key-value heads are
/// replicated where there are fewer of them than ranks. Made by the plan only.
inline constexpr llvm::StringLiteral kReplicaAxis = "tpr";

enum class SequenceParallel {
  Auto, ///< on where the tensor axis is larger than 1 and divides the sequence
  On,
  Off,
};

struct PlanOptions {
  Mesh mesh;
  SequenceParallel sequenceParallel = SequenceParallel::Auto;
};

/// Reads "dp=2,tp=4": axes in rank order, first slowest. Fails with `why` on
/// an unknown or repeated axis and on a size below 1.
std::optional<Mesh> parseMesh(llvm::StringRef text, std::string &why);

/// The Megatron-style layout of `module` on the mesh of `options` (Shoeybi et
/// al. 2019, arXiv 1909.08053; sequence parallelism: Korthikanti et al. 2022,
/// arXiv 2205.05198). Roles follow from the graph alone. Changes nothing; on
/// failure `failure` says what does not fit and what the nearest fit is.
std::optional<ShardingPlan> planSharding(mlir::ModuleOp module,
                                         const PlanOptions &options,
                                         ShardingFailure &failure);

/// Writes `layout` as attributes: `tessera.mesh` on the module, `sharding` on
/// parameters, `tessera.sharding` on function arguments and ops.
void writeShardingPlan(mlir::ModuleOp module, const ShardingPlan &layout);

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PLAN_PLANLAYOUT_H
