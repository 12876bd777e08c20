//===- Space.h - the layouts that are searched ----------------------------===//
//
// Two levels: the outer choices (mesh, microbatch, sequence and context
// parallelism) decide a microbatch's work, the inner ones (sharding,
// recomputation, schedule, dispatcher, partition) what a step makes of it.
// docs/planning.md says what is left out and why. Solver and exhaustive
// enumeration walk the same space through these functions.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_SPACE_H
#define TESSERA_LIB_PLANNING_SEARCH_SPACE_H

#include "Problem.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

/// Visits every legal combination of the outer choices that the problem's
/// constraints allow, the inner ones at their plainest; stops when `visit`
/// returns false. `fixed` is used in place of the problem's constraints.
void forEachMesh(const PlanProblem &problem, const FixedChoices &fixed,
                 llvm::function_ref<bool(const Layout &)> visit);

/// The inner choices under one mesh. With full recomputation a chunk may
/// recompute only its first layers: any number from 1 to partialLimit.
struct InnerChoices {
  struct Sharding {
    int zero, group;
  };
  struct Virtual {
    int vpp;
    ScheduleKind schedule;
  };
  llvm::SmallVector<Sharding, 8> shardings;
  llvm::SmallVector<RecomputeKind, 3> recompute;
  llvm::SmallVector<Virtual, 8> schedules;
  llvm::SmallVector<DispatcherKind, 3> dispatchers;
  /// Stage partitions tried for each: even, and balanced by time.
  int partitions = 1;
  /// Of them those there are with vpp: chunks without a layer are the first and
  /// the last, and leave nothing to choose.
  int partitionsOf(int vpp) const;
  int64_t layers = 1; ///< of the model
  int stages = 1;
  /// recompute-layers if the user fixed it, else -1.
  int64_t partialFixed = -1;
  /// Some of a chunk's layers are each second, each third, ... of them.
  bool everyNth = false;

  /// One less than the layers of the longest even chunk; 0 where recomputation
  /// is not full.
  int partialLimit(RecomputeKind kind, int vpp) const;
  /// Numbers of layers that `kind` may be limited to, "all" counted as one.
  int64_t partialCount(RecomputeKind kind, int vpp) const;
  /// May `layout` recompute k layers of each chunk?
  bool allowsPartial(const Layout &layout, int k) const;
  /// Combinations, a partition that turns out to be the even one included.
  int64_t count() const;
};

InnerChoices innerChoices(const PlanProblem &problem, const FixedChoices &fixed,
                          const Layout &mesh);

/// Largest tensor-parallel group that is searched unless tp is fixed: one
/// NVLink domain, or one node where NVLink joins fewer.
int64_t tensorParallelLimit(const Cluster &cluster);
/// Largest context-parallel group: each rank's two slices keep 64 rows, half
/// of the tile of the attention kernels.
int64_t contextParallelLimit(int64_t sequence);

/// All divisors, ascending.
llvm::SmallVector<int64_t, 16> divisorsOf(int64_t n);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_SPACE_H
