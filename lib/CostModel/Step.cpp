//===- Step.cpp - from features to the time of a training step ------------===//
//
// The blocks' passes (BlockTime.cpp) are summed by chunk, the chunks go through
// the pipeline's timeline, and the end of the step follows (EndOfStep.cpp).
//
//===----------------------------------------------------------------------===//
#include "ChunkSum.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

static double &on(AxisSeconds &seconds, ParallelAxis axis) {
  return seconds[static_cast<int>(axis)];
}

/// Seconds per step outside the model (gradient norm, loss reduction, logging):
/// steps of 60 ms on one node leave no room for more.
static constexpr double kStepOverhead = 1e-3;

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
    for (int i = 0; i < sizes[c] && next < layers.size(); ++i, ++next) {
      BlockTime t = times[layers[next]];
      if (i >= layout.recomputedOf(sizes[c]))
        t.recompute = {};
      sums[c].add(features.blocks[layers[next]], t, 1);
    }
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

StepTime tessera::stepTime(const ModelFeatures &features, const Layout &layout,
                           const Workload &workload, const StepModel &model,
                           StepDetail *detail) {
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
    if (detail)
      detail->chunks.push_back({c.forward, c.backward, c.recompute});
  }
  if (detail)
    detail->occupied = occupied;
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
    if (detail)
      detail->ends.push_back({communication, optimizer});
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
  // Nothing but rounding makes it negative.
  step.bubble = std::max(0.0, timeline.seconds -
                                  m * (work(b) + 2.0 * layout.vpp * occupied));
  double seconds = timeline.seconds + tail;
  double nodes = std::max(1.0, double(layout.numGPUs()) /
                                   std::max(1, model.cluster.gpusPerNode));
  step.overhead =
      kStepOverhead + seconds * model.stack.jitter * std::log2(nodes);
  step.seconds = seconds + step.overhead;
  return step;
}
