//===- Pipeline.h - the timeline of a pipelined step ----------------------===//
//
// Not a bubble formula: the schedule's order of forward and backward passes on
// each stage is played through with each chunk's own times, so uneven stages,
// embeddings and heads, and slow links come out right.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_PIPELINE_H
#define TESSERA_COSTMODEL_PIPELINE_H

#include "tessera/CostModel/Layout.h"
#include <vector>

namespace tessera {

struct PipelineProblem {
  int stages = 1;
  /// Chunks per stage; chunk c (of stages*virtualStages) runs on c % stages.
  int virtualStages = 1;
  int64_t microBatches = 1;
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  /// Seconds of each chunk in execution order.
  std::vector<double> forward, backward;
  /// Part of `backward` that computes weight gradients (zero-bubble delays it).
  std::vector<double> backwardWeight;
  /// Seconds between the end of a pass and its arrival at the next stage.
  double transfer = 0;
};

enum class PassKind : uint8_t { Forward, Backward, Weight };

struct PipelineEvent {
  int stage, chunk;
  int64_t microBatch;
  PassKind kind;
  double start, end;
};

struct PipelineResult {
  double seconds = 0;
  /// Idle share of the stage that works most.
  double bubble = 0;
  /// Work of the busiest stage.
  double busy = 0;
};

/// Exact; with more microbatches than `limit` (0: never) the steady state is
/// extended from two shorter exact runs (exact for 1F1B, within half a percent
/// for uneven interleaved chunks).
PipelineResult simulatePipeline(const PipelineProblem &problem,
                                int64_t limit = 0,
                                std::vector<PipelineEvent> *events = nullptr);

/// Chunk activations alive at once on a stage (its own memory peak).
int64_t chunksInFlight(const PipelineProblem &problem, int stage);

} // namespace tessera

#endif // TESSERA_COSTMODEL_PIPELINE_H
