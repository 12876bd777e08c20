//===- Memory.cpp - what one rank must hold -------------------------------===//
//
// Model state: weights, gradients and optimizer divided by the ZeRO stage as
// in arXiv 1910.02054 (2 + 2 + 12 bytes per parameter with 16-bit gradients,
// 2 + 4 + 12 with 32-bit ones). Activations: what the blocks keep (arXiv
// 2205.05198), times the microbatches that a stage has in flight under its
// schedule. Beside what the allocator hands out a process holds a CUDA context
// and NCCL's buffers, and loses some memory to fragmentation.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Memory.h"
#include "tessera/CostModel/Pipeline.h"
#include "tessera/CostModel/Step.h"
#include "tessera/Support/Units.h"
#include <algorithm>

using namespace tessera;

/// CUDA context with cuBLAS workspaces and loaded modules on a data-center
/// GPU: 0.5-0.8 GB seen by nvidia-smi for an idle PyTorch process.
static constexpr double kContextBytes = 0.7 * kGiB;
/// Channels times buffers of one NCCL communicator: up to 32 channels, 4 MiB
/// simple buffer plus LL and LL128 buffers for send and receive; in practice a
/// few hundred MiB for the widest group (NCCL_BUFFSIZE documentation).
static constexpr double kCommunicatorBytes = 192 * kMiB;

double tessera::savedBytes(const BlockFeatures &block,
                           RecomputeKind recompute) {
  if (recompute == RecomputeKind::Full)
    return double(block.inputBytes);
  bool all = recompute == RecomputeKind::None;
  double bytes = 0;
  for (const OpFeature &op : block.ops)
    if (all || !op.selective)
      bytes += double(op.savedBytes + (all ? 0 : op.selectiveBytes));
  return bytes;
}

namespace {
/// What the blocks of one stage add up to.
struct StageSum {
  double dense = 0, expert = 0, saved = 0, pinnedSaved = 0;
  double blockSaved = 0, transient = 0, largestBlock = 0;
  int64_t offloaded = 0; ///< layers that are yet to go to the host

  void add(const BlockFeatures &b, int64_t count, bool pinned,
           RecomputeKind recompute, bool toHost) {
    if (count <= 0)
      return;
    dense += double(count) * b.denseParameters;
    expert += double(count) * b.expertParameters;
    double kept = toHost ? 0 : savedBytes(b, recompute);
    (pinned ? pinnedSaved : saved) += double(count) * kept;
    if (recompute != RecomputeKind::None || toHost)
      blockSaved =
          std::max(blockSaved, savedBytes(b, RecomputeKind::None) - kept);
    transient = std::max(transient, double(b.transientBytes));
    largestBlock =
        std::max(largestBlock, double(b.denseParameters + b.expertParameters));
  }
  /// Layers in a row of which the first go to the host, if any do.
  void addLayers(const BlockFeatures &b, int64_t count,
                 RecomputeKind recompute) {
    int64_t away = std::min(count, offloaded);
    offloaded -= away;
    add(b, away, false, recompute, true);
    add(b, count - away, false, recompute, false);
  }
};
} // namespace

/// By stage; layers that are alike are added together, so that the depth of a
/// model does not matter.
static llvm::SmallVector<StageSum, 16>
stageSums(const ModelFeatures &features, const Layout &layout, int offloaded) {
  llvm::SmallVector<StageSum, 16> stages(layout.pp);
  for (StageSum &stage : stages)
    stage.offloaded = offloaded;
  int chunks = layout.pp * layout.vpp;
  llvm::SmallVector<int, 8> even;
  llvm::ArrayRef<int> sizes = layout.chunkLayers;
  if (sizes.empty()) {
    even = evenChunks(features.numLayers(), chunks);
    sizes = even;
  }
  sizes = sizes.take_front(chunks);
  size_t chunk = 0;
  int64_t room = sizes[0], again = layout.recomputedOf(sizes[0]);
  bool seenLayer = false;
  for (const BlockCall &call : features.calls) {
    const BlockFeatures &block = features.blocks[call.block];
    if (call.pinned) {
      stages[seenLayer ? layout.pp - 1 : 0].add(block, call.count, true,
                                                RecomputeKind::None, false);
      continue;
    }
    seenLayer = true;
    for (int64_t left = call.count; left > 0;) {
      while (room == 0 && chunk + 1 < sizes.size()) {
        room = sizes[++chunk];
        again = layout.recomputedOf(int(room));
      }
      if (room == 0)
        break; // the partition has fewer layers than the model
      int64_t now = std::min(room, left), redone = std::min(again, now);
      StageSum &stage = stages[chunk % layout.pp];
      stage.addLayers(block, redone, layout.recompute);
      stage.addLayers(block, now - redone, RecomputeKind::None);
      again -= redone;
      room -= now;
      left -= now;
    }
  }
  return stages;
}

MemoryUse tessera::memoryUse(const ModelFeatures &features,
                             const Layout &layout, const Workload &workload,
                             const Cluster &cluster,
                             std::vector<MemoryUse> *stages) {
  int64_t perReplica =
      std::max<int64_t>(1, (workload.globalBatch + layout.dp - 1) / layout.dp);
  PipelineProblem pipeline;
  pipeline.stages = layout.pp;
  pipeline.virtualStages = layout.vpp;
  pipeline.microBatches =
      (perReplica + layout.microBatch - 1) / layout.microBatch;
  pipeline.schedule = layout.schedule;
  llvm::SmallVector<StageSum, 16> sums =
      stageSums(features, layout, workload.offloadedLayers);

  MemoryUse worst;
  for (int stage = 0; stage < layout.pp; ++stage) {
    const StageSum &sum = sums[stage];
    double dense = sum.dense, expert = sum.expert;
    MemoryUse use;
    use.stage = stage;
    double trained = workload.trainedFraction;
    double denseShards = layout.shardRanks();
    double expertShards = layout.expertReplicas();
    auto sharded = [&](int fromStage) {
      bool on = layout.zeroStage >= fromStage;
      return (on ? dense / denseShards : dense) +
             (on ? expert / expertShards : expert);
    };
    use.weights = (layout.zeroStage >= 3 ? workload.shardedWeightBytes
                                         : workload.weightBytes) *
                  sharded(3);
    use.gradients = workload.gradientBytes * sharded(2) * trained;
    use.optimizer = workload.optimizerBytes * sharded(1) * trained;
    // Chunks in flight; each holds a share of the stage's saved bytes. The
    // head is held for the one microbatch it is working on.
    double inFlight = double(chunksInFlight(pipeline, stage)) / layout.vpp;
    use.activations = sum.saved * inFlight + sum.pinnedSaved;
    if (layout.pp > 1)
      use.activations += workload.pipelineBufferBytes * (inFlight + 1);
    use.transient = std::max(sum.transient, sum.blockSaved);
    // Sharded gradients of a block exist in full before they are scattered;
    // sharded parameters are gathered for the block that runs and the next.
    double whole = sum.largestBlock * workload.wholeShare;
    if (layout.zeroStage >= 2)
      use.transient += whole * workload.gradientCommBytes * trained;
    if (layout.zeroStage >= 3)
      use.transient += whole * 2 * workload.weightBytes;
    // The optimizer steps when the activations are gone.
    double step = workload.stepBytes * sharded(1) * trained;
    use.transient = std::max(use.transient, step - use.activations);
    use.context = kContextBytes;
    for (int size :
         {layout.tp, layout.dp * layout.cp, layout.pp, layout.ep, layout.cp})
      if (size > 1)
        use.communication += kCommunicatorBytes;
    use.reserve = workload.allocatorReserve * use.allocated();
    use.cached = workload.cachedShare * use.allocated();
    if (stages)
      stages->push_back(use);
    if (stage == 0 || use.total() > worst.total())
      worst = use;
  }
  return worst;
}
