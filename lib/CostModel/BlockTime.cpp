//===- BlockTime.cpp - one block's passes for one microbatch --------------===//
//
// A block's pass is the sum of its kernels and of the communication that its
// framework cannot hide. What is hidden still costs: kernels slow down while
// NCCL shares the device.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Step.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

double PassTime::total() const {
  double t = compute + host;
  for (double e : exposed)
    t += e;
  return t;
}

double tessera::exposedTime(double communication, double compute, double share,
                            double contention) {
  double hidden = std::min(communication * std::clamp(share, 0.0, 1.0),
                           std::max(compute, 0.0));
  return communication - hidden + contention * hidden;
}

/// Host work of a collective relative to a kernel's. Every member waits for the
/// slowest host, which matters once the hosts of a whole node take part: the
/// host-bound runs of vTrain's one-node set (arXiv 2312.12391) lose nothing
/// with two or four members and 0.2-0.3 ms a collective with eight.
static double collectiveLaunches(int members) {
  double share = std::min(members, 8) / 8.0;
  return 1.0 + 4.0 * share * share * share * share;
}

namespace {
/// Sums over one pass before overlap is decided.
struct RawPass {
  double compute = 0, weightGradient = 0, attention = 0;
  double launches = 0;
  AxisSeconds blocking = {}, overlappable = {};
};
} // namespace

static void addOps(const BlockFeatures &block, Direction direction,
                   bool coreOnly, const DeviceModel &device, RawPass &pass,
                   size_t count) {
  bool backward = direction == Direction::Backward;
  for (const OpFeature &op : ArrayRef(block.ops).take_front(count)) {
    if (coreOnly && !op.selective)
      continue;
    double t = opTime(op, direction, device);
    pass.compute += t;
    if (op.kernel == KernelClass::Attention)
      pass.attention += t;
    // A linear's backward pass is two products of equal size.
    if (backward && (op.kernel == KernelClass::Matmul ||
                     op.kernel == KernelClass::GroupedMatmul))
      pass.weightGradient += 0.5 * t;
    pass.launches += backward ? op.backwardLaunches : op.forwardLaunches;
  }
}

static void addCollectives(const BlockFeatures &block, Direction direction,
                           const Layout &layout, const StepModel &model,
                           RawPass &pass, bool gathersOnly = false) {
  for (const CollectiveFeature &c : block.collectives) {
    if (gathersOnly && c.kind != CollectiveKind::AllGather)
      continue;
    int count =
        direction == Direction::Backward ? c.backwardCount : c.forwardCount;
    if (count == 0)
      continue;
    GroupShape group = groupOf(c.axis, layout, model.cluster);
    if (group.size <= 1)
      continue;
    bool fused = c.kind == CollectiveKind::AllToAll && c.copies > 1 &&
                 layout.dispatcher == DispatcherKind::Fused;
    CollectiveTime one = fused ? fusedDispatchTime(c.bytes, c.copies, group,
                                                   model.cluster, model.chip)
                               : collectiveTime(c.kind, c.bytes, group,
                                                model.cluster, model.chip);
    double t = count * one.seconds;
    // Nothing hides it: the compute stream stops for the other stream and for
    // the slowest member, and starts again after it.
    if (!c.overlappable)
      t += count * model.stack.collectiveWait;
    auto &sums = c.overlappable ? pass.overlappable : pass.blocking;
    sums[static_cast<int>(c.axis)] += t;
    pass.launches += count * collectiveLaunches(group.size);
  }
}

/// Sharded gradients (ZeRO 2 and 3) are reduced and scattered after each
/// microbatch's backward pass of a block; sharded parameters (ZeRO 3) are
/// gathered before each pass. So with several microbatches, or several in
/// flight in a pipeline, each has its own.
static void addSharding(const BlockFeatures &block, Direction direction,
                        const Layout &layout, const Workload &workload,
                        const StepModel &model, RawPass &pass) {
  bool backward = direction == Direction::Backward;
  bool gathers = layout.zeroStage >= 3;
  if (layout.zeroStage < 2 || (!gathers && !backward))
    return;
  auto group = [&](bool expert) {
    if (expert)
      return expertReplicaGroup(layout, model.cluster);
    return groupShape(layout.shardRanks(), layout.tp, model.cluster);
  };
  for (bool expert : {false, true}) {
    double elements =
        double(expert ? block.expertParameters : block.denseParameters);
    if (elements == 0)
      continue;
    GroupShape g = group(expert);
    double t = 0;
    if (gathers)
      t += collectiveTime(CollectiveKind::AllGather,
                          elements * workload.weightBytes, g, model.cluster,
                          model.chip)
               .seconds;
    if (backward) {
      double gradients =
          elements * workload.gradientCommBytes * workload.trainedFraction;
      t += collectiveTime(CollectiveKind::ReduceScatter, gradients, g,
                          model.cluster, model.chip)
               .seconds;
      // Hybrid sharding: replicas of a shard are summed across the groups.
      int replicas =
          layout.dp /
          std::max(1, layout.shardGroup > 0 ? layout.shardGroup : layout.dp);
      if (!expert && replicas > 1)
        t += collectiveTime(
                 CollectiveKind::AllReduce, gradients / layout.shardRanks(),
                 groupShape(replicas, layout.tp * layout.shardRanks(),
                            model.cluster),
                 model.cluster, model.chip)
                 .seconds;
    }
    pass.overlappable[static_cast<int>(ParallelAxis::DP)] += t;
    pass.launches += (gathers + backward) * collectiveLaunches(g.size);
  }
}

/// Operations that a compiler leaves of a recomputation: those before the last
/// product, whose result the backward pass has no use for. Experts' results it
/// needs, for the router's gradient.
static size_t neededOps(const BlockFeatures &block) {
  size_t last = block.ops.size();
  for (size_t i = 0; i < block.ops.size(); ++i) {
    if (block.ops[i].kernel == KernelClass::GroupedMatmul)
      return block.ops.size();
    if (block.ops[i].kernel == KernelClass::Matmul)
      last = i;
  }
  return last;
}

static PassTime finish(const RawPass &raw, const Layout &layout,
                       const StepModel &model) {
  const StackConstants &s = model.stack;
  PassTime pass;
  pass.compute = raw.compute;
  pass.weightGradient = raw.weightGradient;
  double contention = model.chip.contention;
  for (int i = 0; i < kNumParallelAxes; ++i) {
    auto axis = static_cast<ParallelAxis>(i);
    double share = 0.0, overlapShare = 1.0, budget = raw.compute;
    switch (axis) {
    case ParallelAxis::TP:
    case ParallelAxis::ETP:
      if (layout.overlapTensorParallel)
        share = s.tpOverlap;
      break;
    case ParallelAxis::EP:
      share = layout.overlapExperts ? std::max(s.epOverlap, 0.8) : s.epOverlap;
      break;
    case ParallelAxis::CP:
      // Ring attention hides an exchange behind the block that it feeds.
      budget = raw.attention;
      break;
    case ParallelAxis::DP:
      overlapShare = s.dpOverlap;
      break;
    case ParallelAxis::PP:
      break;
    }
    pass.exposed[i] =
        exposedTime(raw.blocking[i], budget, share, contention) +
        exposedTime(raw.overlappable[i], budget, overlapShare, contention);
  }
  // The host starts kernels while the device works on earlier ones; whichever
  // is slower sets the pace, with some loss where they are close.
  double device = pass.total();
  double host = model.traits.cudaGraphs ? 0.0 : raw.launches * s.hostPerLaunch;
  if (model.traits.blockingLaunches)
    pass.host = host;
  else if (host > 0 && device > 0)
    pass.host =
        std::pow(std::pow(device, 6.0) + std::pow(host, 6.0), 1.0 / 6.0) -
        device;
  return pass;
}

BlockTime tessera::blockTime(const BlockFeatures &block, const Layout &layout,
                             const Workload &workload, const StepModel &model) {
  DeviceModel device = model.device();
  BlockTime t;
  RawPass forward;
  addOps(block, Direction::Forward, false, device, forward, block.ops.size());
  addCollectives(block, Direction::Forward, layout, model, forward);
  addSharding(block, Direction::Forward, layout, workload, model, forward);
  t.forward = finish(forward, layout, model);

  RawPass backward;
  addOps(block, Direction::Backward, false, device, backward, block.ops.size());
  addCollectives(block, Direction::Backward, layout, model, backward);
  addSharding(block, Direction::Backward, layout, workload, model, backward);
  if (!model.traits.fusedGradientAccumulation && layout.zeroStage < 3) {
    // A further kernel per weight: read the new gradient, add to the sum; with
    // ZeRO 2 to the rank's shard of it.
    bool scattered = layout.zeroStage >= 2;
    double dense =
        double(block.denseParameters) / (scattered ? layout.shardRanks() : 1);
    double expert = double(block.expertParameters) /
                    (scattered ? layout.expertReplicas() : 1);
    double elements = (dense + expert) * workload.trainedFraction;
    double pass = memoryTime(
        elements * (workload.weightBytes + 2 * workload.gradientBytes), device);
    backward.compute += pass;
    backward.weightGradient += pass;
  }
  t.backward = finish(backward, layout, model);

  if (layout.recompute != RecomputeKind::None) {
    bool coreOnly = layout.recompute == RecomputeKind::Selective;
    RawPass again;
    addOps(block, Direction::Forward, coreOnly, device, again,
           coreOnly || model.traits.recomputesAll ? block.ops.size()
                                                  : neededOps(block));
    // Parameters gathered for backward serve the recomputation too.
    if (!coreOnly || model.traits.selectsOperations)
      addCollectives(block, Direction::Forward, layout, model, again, coreOnly);
    t.recompute = finish(again, layout, model);
  }
  return t;
}
