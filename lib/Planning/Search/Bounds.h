//===- Bounds.h - what a layout costs at least ----------------------------===//
//
// Admissible bounds: never above what stepTime and memoryUse say. See
// docs/planning.md for the argument.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_BOUNDS_H
#define TESSERA_LIB_PLANNING_SEARCH_BOUNDS_H

#include "Provider.h"

namespace tessera {

/// What the bounds of time read of the features besides the blocks' times.
struct ModelOutline {
  struct Parameters {
    double dense = 0, expert = 0;
  };
  llvm::SmallVector<BlockCall, 5> calls;
  llvm::SmallVector<Parameters, 5> blocks;
  int64_t boundaryBytes = 0;
  int layers = 0;
};
ModelOutline outlineOf(const ModelFeatures &features);

/// Seconds of one call of a block for one microbatch.
struct BlockSeconds {
  double forward = 0, backward = 0, recompute = 0;
  /// Of forward and backward, without waiting for the host.
  double deviceForward = 0, deviceBackward = 0;
  double total() const { return forward + backward + recompute; }
};
using BlockSecondsList = llvm::SmallVector<BlockSeconds, 5>;

/// Time of a block without what ZeRO 2 and 3 communicate, which is all of it
/// that depends on dp. Pinned blocks do not recompute.
BlockSeconds relaxedSeconds(const BlockFeatures &block, bool pinned,
                            const Layout &layout, const Workload &workload,
                            const StepModel &model);
/// The same for all blocks.
BlockSecondsList relaxedBlockSeconds(const ModelFeatures &features,
                                     const Layout &layout,
                                     const Workload &workload,
                                     const StepModel &model);
/// Which blocks are pinned.
llvm::SmallVector<bool, 5> pinnedBlocks(const ModelFeatures &features);

/// Adds what ZeRO 2 or 3 exposes at least under the layout's sharding group.
BlockSecondsList withSharding(const BlockSecondsList &times,
                              const ModelOutline &outline, const Layout &layout,
                              const PlanProblem &problem);

/// What is left of a block under any dispatcher and any sharding (see
/// FeatureProvider).
BlockFeatures innerFloor(BlockFeatures block);

/// A microbatch's work, independent of dp, pp and all inner choices but the
/// sharding class and the dispatcher.
struct MeshWork {
  double total = 0;           ///< forward and backward of the whole model
  double cheapestLayer = 0;   ///< forward and backward
  double cheapestForward = 0; ///< forward of a layer
  double head = 0;            ///< forward and backward of what ends the model
  double first = 0;           ///< the same of what begins it
  double dearestLayer = 0;    ///< forward and backward
  int layers = 0;
  int64_t boundaryBytes = 0;
  /// Parameters of what begins the model and, at least, of a layer.
  double firstDense = 0, leastDense = 0, leastExpert = 0;
};
MeshWork meshWork(const ModelOutline &outline, const BlockSecondsList &times);

/// Microbatches of one replica.
int64_t microBatches(const Layout &layout, const Workload &workload);

/// No layout of this mesh takes less, whatever its schedule, recomputation and
/// partition.
double meshBound(const MeshWork &work, const Layout &mesh,
                 const PlanProblem &problem);

/// The same with what follows the last backward pass, under the layout's
/// sharding: dearer to ask for, and closer.
double meshBoundToTheEnd(const MeshWork &work, const Layout &mesh,
                         const PlanProblem &problem);

/// The same for a layout with all its choices made; `times` are its blocks'
/// with what sharding adds.
double layoutBound(const BlockSecondsList &times, const ModelOutline &outline,
                   const Layout &layout, const PlanProblem &problem);

/// Bytes that the fullest rank of any layout with this mesh and this sharding
/// holds at least: model state, inputs of layers, logits; from the shape alone.
double stateBound(const PlanProblem &problem, const Layout &layout);

/// Contiguous chunks whose longest takes the least time, embedding and head
/// counted; every chunk has a layer.
llvm::SmallVector<int, 8> balancedChunks(const BlockSecondsList &times,
                                         const ModelOutline &outline,
                                         int chunks);

/// What memoryUse reads of the features, with each block's ops merged.
ModelFeatures condensed(const ModelFeatures &features);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_BOUNDS_H
