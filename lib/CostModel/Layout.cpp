//===- Layout.cpp - names, equality and hashing of layouts ----------------===//
#include "tessera/CostModel/Layout.h"
#include "tessera/CostModel/Features.h"
#include <tuple>

using namespace llvm;
using namespace tessera;

StringRef tessera::nameOf(ParallelAxis axis) {
  static const char *names[] = {"tp", "cp", "ep", "etp", "dp", "pp"};
  return names[static_cast<int>(axis)];
}

StringRef tessera::nameOf(RecomputeKind kind) {
  static const char *names[] = {"none", "selective", "full"};
  return names[static_cast<int>(kind)];
}

StringRef tessera::nameOf(ContextKind kind) {
  static const char *names[] = {"ring", "all-gather", "ulysses"};
  return names[static_cast<int>(kind)];
}

StringRef tessera::nameOf(ScheduleKind kind) {
  static const char *names[] = {"gpipe", "1f1b", "interleaved", "zero-bubble"};
  return names[static_cast<int>(kind)];
}

StringRef tessera::nameOf(DispatcherKind kind) {
  static const char *names[] = {"all-gather", "all-to-all", "fused"};
  return names[static_cast<int>(kind)];
}

StringRef tessera::nameOf(CollectiveKind kind) {
  static const char *names[] = {"all-reduce", "all-gather", "reduce-scatter",
                                "all-to-all", "send-recv"};
  return names[static_cast<int>(kind)];
}

/// Every field but the partition, for comparing and hashing.
static auto fields(const Layout &l) {
  return std::tuple(l.dp, l.shardGroup, l.zeroStage, l.tp, l.sequenceParallel,
                    l.cp, l.contextKind, l.pp, l.vpp, l.ep, l.etp, l.recompute,
                    l.recomputeLayers, l.microBatch, l.schedule, l.dispatcher,
                    l.overlapGradients, l.overlapParameters,
                    l.overlapTensorParallel, l.overlapExperts,
                    l.overlapPipeline);
}

bool Layout::operator==(const Layout &o) const {
  return fields(*this) == fields(o) && chunkLayers == o.chunkLayers;
}

hash_code tessera::hash_value(const Layout &l) {
  hash_code h = std::apply(
      [](const auto &...f) { return hash_combine(static_cast<int64_t>(f)...); },
      fields(l));
  return hash_combine(
      h, hash_combine_range(l.chunkLayers.begin(), l.chunkLayers.end()));
}

int ModelFeatures::numLayers() const {
  int n = 0;
  for (const BlockCall &c : calls)
    if (!c.pinned)
      n += c.count;
  return n;
}

std::vector<int> ModelFeatures::layerBlocks() const {
  std::vector<int> blocks;
  for (const BlockCall &c : calls)
    if (!c.pinned)
      blocks.insert(blocks.end(), c.count, c.block);
  return blocks;
}
