//===- Step.cpp - from features to the time of a training step ------------===//
//
// A block's pass is the sum of its kernels and of the communication that its
// framework cannot hide; the chunks of blocks go through the pipeline's
// timeline; gradient reduction, parameter gathering and the optimizer follow.
// What is hidden still costs: kernels slow down while NCCL shares the device.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Step.h"
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

Expected<StepModel> tessera::makeStepModel(const Cluster &cluster,
                                           StringRef stack,
                                           const CostConstants &constants) {
  Expected<StackTraits> traits = stackTraits(stack);
  if (!traits)
    return traits.takeError();
  return StepModel{cluster, constants.chip(cluster.chip),
                   constants.stack(stack), *traits};
}

double tessera::exposedTime(double communication, double compute, double share,
                            double contention) {
  double hidden = std::min(communication * std::clamp(share, 0.0, 1.0),
                           std::max(compute, 0.0));
  return communication - hidden + contention * hidden;
}

static double &on(AxisSeconds &seconds, ParallelAxis axis) {
  return seconds[static_cast<int>(axis)];
}

/// Seconds per step outside the model (gradient norm, loss reduction, logging):
/// steps of 60 ms on one node leave no room for more.
static constexpr double kStepOverhead = 1e-3;
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
                   bool coreOnly, const DeviceModel &device, RawPass &pass) {
  bool backward = direction == Direction::Backward;
  for (const OpFeature &op : block.ops) {
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
                           RawPass &pass) {
  for (const CollectiveFeature &c : block.collectives) {
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
    on(c.overlappable ? pass.overlappable : pass.blocking, c.axis) += t;
    pass.launches += count * collectiveLaunches(group.size);
  }
}

/// Sharded parameters: gather before use, scatter-reduce gradients after.
static void addSharding(const BlockFeatures &block, Direction direction,
                        const Layout &layout, const Workload &workload,
                        const StepModel &model, RawPass &pass) {
  if (layout.zeroStage < 3)
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
    double t = collectiveTime(CollectiveKind::AllGather,
                              elements * workload.weightBytes, g, model.cluster,
                              model.chip)
                   .seconds;
    if (direction == Direction::Backward) {
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
    on(pass.overlappable, ParallelAxis::DP) += t;
    pass.launches +=
        (direction == Direction::Backward ? 2 : 1) * collectiveLaunches(g.size);
  }
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
  double host = raw.launches * s.hostPerLaunch;
  if (host > 0 && device > 0)
    pass.host =
        std::pow(std::pow(device, 6.0) + std::pow(host, 6.0), 1.0 / 6.0) -
        device;
  return pass;
}

BlockTime tessera::blockTime(const BlockFeatures &block, const Layout &layout,
                             const Workload &workload, const StepModel &model) {
  DeviceModel device{&model.cluster.chip, &model.chip,
                     model.stack.vectorTraffic, model.traits.attention};
  BlockTime t;
  RawPass forward;
  addOps(block, Direction::Forward, false, device, forward);
  addCollectives(block, Direction::Forward, layout, model, forward);
  addSharding(block, Direction::Forward, layout, workload, model, forward);
  t.forward = finish(forward, layout, model);

  RawPass backward;
  addOps(block, Direction::Backward, false, device, backward);
  addCollectives(block, Direction::Backward, layout, model, backward);
  addSharding(block, Direction::Backward, layout, workload, model, backward);
  if (!model.traits.fusedGradientAccumulation && layout.zeroStage < 3) {
    // A further kernel per weight: read the new gradient, add to the sum.
    double elements = double(block.denseParameters + block.expertParameters) *
                      workload.trainedFraction;
    double pass = model.stack.gradientTraffic *
                  memoryTime(elements * (workload.weightBytes +
                                         2 * workload.gradientBytes),
                             device);
    backward.compute += pass;
    backward.weightGradient += pass;
  }
  t.backward = finish(backward, layout, model);

  if (layout.recompute != RecomputeKind::None) {
    bool coreOnly = layout.recompute == RecomputeKind::Selective;
    RawPass again;
    addOps(block, Direction::Forward, coreOnly, device, again);
    if (!coreOnly) {
      addCollectives(block, Direction::Forward, layout, model, again);
      // Parameters gathered for backward serve the recomputation too.
    }
    t.recompute = finish(again, layout, model);
  }
  return t;
}

SmallVector<int, 8> tessera::evenChunks(int layers, int chunks) {
  SmallVector<int, 8> out(chunks, layers / chunks);
  int surplus = layers % chunks;
  for (int i = 1; i + 1 < chunks && surplus > 0; ++i, --surplus)
    ++out[i];
  for (int i : {0, chunks - 1})
    if (surplus > 0) {
      ++out[i];
      --surplus;
    }
  return out;
}

namespace {
/// What one chunk or stage adds up to for one microbatch.
struct ChunkSum {
  PassTime forward, backward, recompute;
  double denseParameters = 0, expertParameters = 0;
  void add(const BlockFeatures &block, const BlockTime &t, double count) {
    auto into = [&](PassTime &a, const PassTime &b) {
      a.compute += count * b.compute;
      a.weightGradient += count * b.weightGradient;
      a.host += count * b.host;
      for (int i = 0; i < kNumParallelAxes; ++i)
        a.exposed[i] += count * b.exposed[i];
    };
    into(forward, t.forward);
    into(backward, t.backward);
    into(recompute, t.recompute);
    denseParameters += count * block.denseParameters;
    expertParameters += count * block.expertParameters;
  }
};
} // namespace

static std::vector<ChunkSum> sumChunks(const ModelFeatures &features,
                                       const Layout &layout,
                                       const Workload &workload,
                                       const StepModel &model) {
  std::vector<BlockTime> times;
  for (const BlockFeatures &b : features.blocks)
    times.push_back(blockTime(b, layout, workload, model));
  int chunks = layout.pp * layout.vpp;
  std::vector<ChunkSum> sums(chunks);
  std::vector<int> layers = features.layerBlocks();
  SmallVector<int, 8> sizes = layout.chunkLayers.empty()
                                  ? evenChunks(layers.size(), chunks)
                                  : layout.chunkLayers;
  size_t next = 0;
  for (int c = 0; c < chunks && c < static_cast<int>(sizes.size()); ++c)
    for (int i = 0; i < sizes[c] && next < layers.size(); ++i, ++next)
      sums[c].add(features.blocks[layers[next]], times[layers[next]], 1);
  bool seenLayer = false;
  for (const BlockCall &call : features.calls) {
    seenLayer |= !call.pinned;
    if (!call.pinned)
      continue;
    // Embedding and head are not recomputed.
    BlockTime t = times[call.block];
    t.recompute = {};
    sums[seenLayer ? chunks - 1 : 0].add(features.blocks[call.block], t,
                                         call.count);
  }
  return sums;
}

/// Gradient reduction and parameter gathering of one stage after its last
/// backward pass; the second result is the optimizer's time.
static std::pair<double, double> endOfStep(const ChunkSum &stage,
                                           const Layout &layout,
                                           const Workload &workload,
                                           const StepModel &model) {
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
    if (layout.zeroStage >= 3)
      continue;
    double bytes = elements * workload.gradientCommBytes;
    reduce += collectiveTime(sharded ? CollectiveKind::ReduceScatter
                                     : CollectiveKind::AllReduce,
                             bytes, g, model.cluster, model.chip)
                  .seconds;
    if (sharded)
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
      memoryTime(state * (2 * workload.optimizerBytes + workload.gradientBytes +
                          workload.weightBytes),
                 device);
  return {communication, optimizer};
}

StepTime tessera::stepTime(const ModelFeatures &features, const Layout &layout,
                           const Workload &workload, const StepModel &model) {
  std::vector<ChunkSum> chunks = sumChunks(features, layout, workload, model);
  int64_t perReplica =
      std::max<int64_t>(1, (workload.globalBatch + layout.dp - 1) / layout.dp);
  int64_t m = (perReplica + layout.microBatch - 1) / layout.microBatch;

  StepTime step;
  PipelineProblem &p = step.pipeline;
  p.stages = layout.pp;
  p.virtualStages = layout.vpp;
  p.microBatches = m;
  p.schedule = layout.schedule;
  double occupied = 0;
  if (layout.pp > 1) {
    double transfer =
        collectiveTime(CollectiveKind::SendRecv, features.boundaryBytes,
                       groupOf(ParallelAxis::PP, layout, model.cluster),
                       model.cluster, model.chip)
            .seconds;
    double hidden =
        layout.overlapPipeline ? std::min(1.0, model.stack.ppOverlap) : 0.0;
    // Sending and receiving block both ends unless they are asynchronous.
    occupied = transfer * (1.0 - hidden);
    p.transfer = transfer * hidden;
  }
  for (const ChunkSum &c : chunks) {
    p.forward.push_back(c.forward.total() + occupied);
    p.backward.push_back(c.backward.total() + c.recompute.total() + occupied);
    p.backwardWeight.push_back(c.backward.weightGradient);
  }
  PipelineResult timeline =
      simulatePipeline(p, std::max<int64_t>(64, 6 * layout.pp));

  // Stages by their sums; which is busiest, and which ends the step last.
  std::vector<ChunkSum> stages(layout.pp);
  for (size_t c = 0; c < chunks.size(); ++c) {
    ChunkSum &s = stages[c % layout.pp];
    auto into = [](PassTime &a, const PassTime &b) {
      a.compute += b.compute;
      a.host += b.host;
      for (int i = 0; i < kNumParallelAxes; ++i)
        a.exposed[i] += b.exposed[i];
    };
    into(s.forward, chunks[c].forward);
    into(s.backward, chunks[c].backward);
    into(s.recompute, chunks[c].recompute);
    s.denseParameters += chunks[c].denseParameters;
    s.expertParameters += chunks[c].expertParameters;
  }
  size_t busiest = 0;
  auto work = [&](const ChunkSum &s) {
    return s.forward.total() + s.backward.total() + s.recompute.total();
  };
  double tail = 0, gradients = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (work(stages[i]) > work(stages[busiest]))
      busiest = i;
    auto [communication, optimizer] =
        endOfStep(stages[i], layout, workload, model);
    // Later stages finish their backward passes earlier by one pass each.
    double early = i * stages[i].backward.total() / layout.vpp;
    if (communication + optimizer - early > tail) {
      tail = communication + optimizer - early;
      gradients = communication - std::min(communication, early);
      step.optimizer = tail - gradients;
    }
  }
  const ChunkSum &b = stages[busiest];
  step.compute = m * (b.forward.compute + b.backward.compute);
  step.recompute = m * b.recompute.compute;
  step.host = m * (b.forward.host + b.backward.host + b.recompute.host);
  for (int i = 0; i < kNumParallelAxes; ++i)
    step.exposed[i] = m * (b.forward.exposed[i] + b.backward.exposed[i] +
                           b.recompute.exposed[i]);
  on(step.exposed, ParallelAxis::DP) += gradients;
  on(step.exposed, ParallelAxis::PP) += 2.0 * m * layout.vpp * occupied;
  step.bubble = timeline.seconds - m * (work(b) + 2.0 * layout.vpp * occupied);
  double seconds = timeline.seconds + tail;
  double nodes = std::max(1.0, double(layout.numGPUs()) /
                                   std::max(1, model.cluster.gpusPerNode));
  step.overhead =
      kStepOverhead + seconds * model.stack.jitter * std::log2(nodes);
  step.seconds = seconds + step.overhead;
  return step;
}
