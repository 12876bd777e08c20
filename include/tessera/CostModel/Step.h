//===- Step.h - from features to the time of a training step --------------===//
#ifndef TESSERA_COSTMODEL_STEP_H
#define TESSERA_COSTMODEL_STEP_H

#include "tessera/CostModel/Collective.h"
#include "tessera/CostModel/Kernel.h"
#include "tessera/CostModel/Pipeline.h"
#include <array>

namespace tessera {

/// Everything a prediction depends on besides model, layout and workload.
struct StepModel {
  Cluster cluster;
  ChipConstants chip;
  StackConstants stack;
  StackTraits traits;
  /// Speeds up asking for many layouts; belongs to the asker.
  MatmulTimes *matmuls = nullptr;

  /// One of its GPUs, running the stack's kernels.
  DeviceModel device() const;
};

/// Chip, framework and cluster looked up; fails on an unknown framework.
llvm::Expected<StepModel>
makeStepModel(const Cluster &cluster, llvm::StringRef stack,
              const CostConstants &constants = defaultConstants());

/// Seconds of a collective by axis.
using AxisSeconds = std::array<double, kNumParallelAxes>;

/// One pass (forward, backward or recomputation) of one block for one
/// microbatch.
struct PassTime {
  double compute = 0;
  /// Of `compute`, weight gradients only (backward pass).
  double weightGradient = 0;
  AxisSeconds exposed = {};
  /// Device idle because the host starts kernels too slowly.
  double host = 0;
  double total() const;
};

struct BlockTime {
  PassTime forward, backward, recompute;
};

/// Communication hidden behind `compute` up to `share` of it; returns what
/// the step sees of it, contention included.
double exposedTime(double communication, double compute, double share,
                   double contention);

BlockTime blockTime(const BlockFeatures &block, const Layout &layout,
                    const Workload &workload, const StepModel &model);

/// Layers of each chunk as even as possible; surplus layers go to the middle
/// chunks, because the first and the last carry embedding and head.
llvm::SmallVector<int, 8> evenChunks(int layers, int chunks);

/// Where a step's seconds go, on the busiest stage.
struct StepTime {
  double seconds = 0;
  double compute = 0;
  double recompute = 0;
  AxisSeconds exposed = {};
  double bubble = 0;
  double host = 0;
  double optimizer = 0;
  double overhead = 0; ///< step overhead and jitter
  /// Chunk times behind it, for a timeline.
  PipelineProblem pipeline;
};

/// What a step is made of, chunk by chunk and stage by stage: with the events
/// of `StepTime::pipeline` it makes a picture of the whole step.
struct StepDetail {
  /// One microbatch's passes through each chunk.
  std::vector<BlockTime> chunks;
  /// Seconds of each pass in which the stage sends and receives.
  double occupied = 0;
  struct End {
    double communication = 0; ///< gradient reduction, parameter gathering
    double optimizer = 0;
  };
  /// What each stage does after its last backward pass.
  std::vector<End> ends;
};

/// Predicts one step. The layout must be legal for the model: dp*microBatch
/// divides the global batch (a remainder counts as a whole microbatch).
StepTime stepTime(const ModelFeatures &features, const Layout &layout,
                  const Workload &workload, const StepModel &model,
                  StepDetail *detail = nullptr);

} // namespace tessera

#endif // TESSERA_COSTMODEL_STEP_H
