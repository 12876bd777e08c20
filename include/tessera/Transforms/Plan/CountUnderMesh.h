//===- CountUnderMesh.h - what a program would do on a mesh -----*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_PLAN_COUNTUNDERMESH_H
#define TESSERA_TRANSFORMS_PLAN_COUNTUNDERMESH_H

#include "tessera/Analysis/Counts.h"
#include "tessera/Transforms/Plan/PlanLayout.h"

namespace tessera {

/// Plans and partitions a copy of `module` and counts one rank's program: the
/// very passes of the compiler, so what is promised is what the compiled
/// program has before fusion. `module` stays as it is. On failure nothing is
/// returned and `failure` says why (its op belongs to the copy and is not set).
std::optional<ProgramCounts> countUnderMesh(mlir::ModuleOp module,
                                            const PlanOptions &options,
                                            ShardingFailure &failure);

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PLAN_COUNTUNDERMESH_H
