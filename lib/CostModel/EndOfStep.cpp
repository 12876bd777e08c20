//===- EndOfStep.cpp - gradient reduction and optimizer -------------------===//
//
// What follows a stage's last backward pass: gradients are reduced, the
// optimizer runs on its shard, the new weights are gathered; the first and the
// last hide behind passes as far as the framework can.
//
//===----------------------------------------------------------------------===//
#include "ChunkSum.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

EndOfStep tessera::endOfStep(const ChunkSum &stage, const Layout &layout,
                             const Workload &workload, const StepModel &model) {
  double contention = model.chip.contention;
  double share = model.stack.dpOverlap;
  double reduce = 0, gather = 0, state = 0;
  for (bool expert : {false, true}) {
    double elements =
        (expert ? stage.expertParameters : stage.denseParameters) *
        workload.trainedFraction;
    if (elements == 0)
      continue;
    GroupShape g = expert ? expertReplicaGroup(layout, model.cluster)
                          : groupOf(ParallelAxis::DP, layout, model.cluster);
    bool sharded = layout.zeroStage >= 1;
    int shards = sharded ? std::max(1, expert ? layout.expertReplicas()
                                              : layout.shardRanks())
                         : 1;
    state += elements / shards;
    // Sharded gradients were reduced after each microbatch, sharded parameters
    // are gathered before each pass (BlockTime.cpp).
    double bytes = elements * workload.gradientCommBytes;
    if (layout.zeroStage < 2)
      reduce += collectiveTime(sharded ? CollectiveKind::ReduceScatter
                                       : CollectiveKind::AllReduce,
                               bytes, g, model.cluster, model.chip)
                    .seconds;
    if (sharded && layout.zeroStage < 3)
      gather += collectiveTime(CollectiveKind::AllGather,
                               elements * workload.weightBytes, g,
                               model.cluster, model.chip)
                    .seconds;
  }
  // Reduction of early buckets hides behind the last microbatch's backward
  // pass, gathering behind the first one's forward pass.
  double communication =
      exposedTime(reduce, stage.backward.compute,
                  layout.overlapGradients ? share : 0.0, contention) +
      exposedTime(gather, stage.forward.compute,
                  layout.overlapParameters ? share : 0.0, contention);
  // Adam reads gradient, master copy and moments and writes the latter and
  // the weights.
  DeviceModel device{&model.cluster.chip, &model.chip, 1.0};
  double optimizer =
      memoryTime(state * (2 * (workload.optimizerBytes + workload.stepBytes) +
                          workload.gradientBytes + workload.weightBytes),
                 device);
  return {communication, optimizer};
}
