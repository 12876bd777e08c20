//===- Memory.h - what one rank must hold ---------------------------------===//
#ifndef TESSERA_COSTMODEL_MEMORY_H
#define TESSERA_COSTMODEL_MEMORY_H

#include "tessera/CostModel/Features.h"
#include "tessera/Hardware/Cluster.h"
#include <algorithm>

namespace tessera {

/// Bytes on the fullest rank, by kind.
struct MemoryUse {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  /// Largest temporaries, recomputed blocks, gathered parameters.
  double transient = 0;
  double communication = 0; ///< NCCL's buffers
  double context = 0;       ///< CUDA context, libraries
  double reserve = 0;       ///< allocator fragmentation
  double cached = 0;        ///< held by the allocator while there is room
  int stage = 0;            ///< the pipeline stage of that rank

  /// What the framework's allocator counts as allocated at the peak.
  double allocated() const {
    return weights + gradients + optimizer + activations + transient;
  }
  /// What must be there at the peak. The allocator gives back what it only
  /// holds before it fails (CUDACachingAllocator frees cached blocks and tries
  /// again), so a run that is nearly full does without its reserve.
  double needed() const { return allocated() + communication + context; }
  /// What a plan counts on.
  double total() const { return needed() + reserve; }
  /// What a device of `capacity` bytes shows as used.
  double shown(double capacity) const {
    return std::max(needed(),
                    std::min(needed() + std::max(reserve, cached), capacity));
  }
};

/// The fullest rank; with `stages` also a rank of every pipeline stage.
MemoryUse memoryUse(const ModelFeatures &features, const Layout &layout,
                    const Workload &workload, const Cluster &cluster,
                    std::vector<MemoryUse> *stages = nullptr);

/// Bytes of activations that one call of a block keeps for one microbatch.
double savedBytes(const BlockFeatures &block, RecomputeKind recompute);

} // namespace tessera

#endif // TESSERA_COSTMODEL_MEMORY_H
