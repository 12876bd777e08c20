//===- Fitting.cpp - what a run must have done to fit ---------------------===//
//
// Sources seldom say what was kept in how many bits and what was recomputed or
// moved away. What their framework's recipes set, and that the run did fit,
// answers both.
//
//===----------------------------------------------------------------------===//
#include "Case.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// What recipes tuned for speed set beside the layout. Gradients are summed and
/// sent in 16 bits ("grad_reduce_in_fp32 = False" in Megatron-Bridge's
/// scripts/performance/configs and in NeMo's recipes, NeMo 24.07's
/// "grad_sync_dtype: bf16"). With 16-bit weights Megatron-Bridge takes
/// Transformer Engine's precision-aware Adam (utils/overrides.py), which keeps
/// 16 bits of the master copy beside the weight that has the others
/// ("store_param_remainders"), as does Apex's in NeMo, whose weights have 16
/// bits under FP8 too (fp8_params is off by default); otherwise 32-bit copies
/// of a rank's share of the gradients exist while it steps.
void tessera::tunedPrecision(Case &c) {
  Workload &w = c.workload;
  w.gradientBytes = w.gradientCommBytes = 2;
  bool bridge = StringRef(c.stack).starts_with("megatron-bridge");
  bool remainders = !bridge || c.precision.linear == DataType::BF16;
  w.optimizerBytes = remainders ? 2 + 8 : 4 + 8;
  w.stepBytes = remainders ? 0 : 4;
  // DeepSeek's recipes keep both moments in 16 bits
  // (src/megatron/bridge/recipes/deepseek/deepseek_v3.py).
  if (bridge && c.shape.latent()) {
    w.optimizerBytes -= 4;
    w.stepBytes = 0;
  }
}

/// Where a source does not say the microbatch: 1 in a pipeline, which more and
/// smaller ones fill; else the most sequences of a rank's share that fit,
/// because fewer and larger products and collectives are the faster.
void tessera::inferMicroBatch(Case &c) {
  Layout &l = c.layout;
  int64_t share = c.workload.globalBatch / std::max(1, l.dp);
  if (l.pp == 1)
    for (int64_t n = std::min<int64_t>(share, 64); n > 1; --n) {
      if (share % n != 0)
        continue;
      l.microBatch = n;
      c.features =
          c.source->features(l, {c.shape.sequence, c.traits, c.precision});
      if (memoryUse(c.features, l, c.workload, c.cluster).needed() <=
          c.cluster.chip.memoryBytes)
        break;
      l.microBatch = 1;
    }
  c.features = c.source->features(l, {c.shape.sequence, c.traits, c.precision});
  c.remarks.push_back("micro_batch is not stated, taken as " +
                      std::to_string(l.microBatch));
}

/// A run whose source does not say what was recomputed did whatever made it
/// fit; the lightest such is assumed: nothing; modules; activations of the
/// fewest layers moved to the host, as tuned recipes do that shard weights
/// ("cpu_offloading_num_layers"); the fewest layers of each chunk recomputed
/// ("recompute_num_layers"); all. Where not even that fits and the source does
/// not say what was sharded, weights were.
void tessera::inferRecomputation(const Point &p, Case &c) {
  Layout &l = c.layout;
  Workload &w = c.workload;
  auto fits = [&] {
    return memoryUse(c.features, l, w, c.cluster).needed() <=
           c.cluster.chip.memoryBytes;
  };
  int chunks = l.pp * l.vpp, layers = int(c.shape.layers);
  int longest = (layers + chunks - 1) / chunks;
  for (int n : l.chunkLayers)
    longest = std::max(longest, n);
  FrameworkModel model{c.shape.layers, c.shape.experts > 0};
  while (true) {
    l.recompute = RecomputeKind::None;
    if (fits() &&
        (!c.framework || runs(*c.framework, l, model, LayoutPart::Recompute)))
      return;
    if (c.traits.tunedRecipes && l.zeroStage >= 3) {
      for (w.offloadedLayers = 1; w.offloadedLayers < layers;
           ++w.offloadedLayers)
        if (fits())
          return;
      w.offloadedLayers = 0;
    }
    l.recompute = RecomputeKind::Selective;
    if (fits())
      return;
    l.recompute = RecomputeKind::Full;
    // Sharded-data-parallel wrappers treat all layers alike.
    for (l.recomputeLayers = c.traits.fsdp ? longest : 1;
         l.recomputeLayers < longest; ++l.recomputeLayers)
      if (fits())
        return;
    l.recomputeLayers = 0;
    if (fits() || p.zeroStage >= 0 || l.zeroStage >= 3 || l.shardRanks() == 1)
      return;
    l.zeroStage = 3;
    c.features =
        c.source->features(l, {c.shape.sequence, c.traits, c.precision});
  }
}
