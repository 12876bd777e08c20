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
  double bytes = 0;
  for (const OpFeature &op : block.ops)
    if (recompute == RecomputeKind::None || !op.selective)
      bytes += double(op.savedBytes);
  return bytes;
}

MemoryUse tessera::memoryUse(const ModelFeatures &features,
                             const Layout &layout, const Workload &workload,
                             const Cluster &cluster,
                             std::vector<MemoryUse> *stages) {
  int chunks = layout.pp * layout.vpp;
  std::vector<int> layers = features.layerBlocks();
  auto sizes = layout.chunkLayers.empty() ? evenChunks(layers.size(), chunks)
                                          : layout.chunkLayers;
  int64_t perReplica =
      std::max<int64_t>(1, (workload.globalBatch + layout.dp - 1) / layout.dp);
  PipelineProblem pipeline;
  pipeline.stages = layout.pp;
  pipeline.virtualStages = layout.vpp;
  pipeline.microBatches =
      (perReplica + layout.microBatch - 1) / layout.microBatch;
  pipeline.schedule = layout.schedule;

  MemoryUse worst;
  for (int stage = 0; stage < layout.pp; ++stage) {
    double dense = 0, expert = 0, saved = 0, pinnedSaved = 0;
    double blockSaved = 0, transient = 0, largestBlock = 0;
    auto add = [&](const BlockFeatures &b, double count, bool pinned,
                   RecomputeKind recompute, bool offloaded) {
      dense += count * b.denseParameters;
      expert += count * b.expertParameters;
      double kept = offloaded ? 0 : savedBytes(b, recompute);
      (pinned ? pinnedSaved : saved) += count * kept;
      if (recompute != RecomputeKind::None || offloaded)
        blockSaved =
            std::max(blockSaved, savedBytes(b, RecomputeKind::None) - kept);
      transient = std::max(transient, double(b.transientBytes));
      largestBlock = std::max(largestBlock,
                              double(b.denseParameters + b.expertParameters));
    };
    size_t next = 0;
    int offloaded = workload.offloadedLayers;
    for (int c = 0; c < chunks && c < static_cast<int>(sizes.size()); ++c)
      for (int i = 0; i < sizes[c] && next < layers.size(); ++i, ++next)
        if (c % layout.pp == stage)
          add(features.blocks[layers[next]], 1, false,
              i < layout.recomputedOf(sizes[c]) ? layout.recompute
                                                : RecomputeKind::None,
              offloaded-- > 0);
    bool seenLayer = false;
    for (const BlockCall &call : features.calls) {
      seenLayer |= !call.pinned;
      if (call.pinned && stage == (seenLayer ? layout.pp - 1 : 0))
        add(features.blocks[call.block], call.count, true, RecomputeKind::None,
            false);
    }
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
    use.activations = saved * inFlight + pinnedSaved;
    if (layout.pp > 1)
      use.activations += workload.pipelineBufferBytes * (inFlight + 1);
    use.transient = std::max(transient, blockSaved);
    // Sharded gradients of a block exist in full before they are scattered;
    // sharded parameters are gathered for the block that runs and the next.
    double whole = largestBlock * workload.wholeShare;
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
    if (stages)
      stages->push_back(use);
    if (stage == 0 || use.total() > worst.total())
      worst = use;
  }
  return worst;
}
