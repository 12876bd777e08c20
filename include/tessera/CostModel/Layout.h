//===- Layout.h - one answer to "how is the model spread" -----------------===//
//
// A frozen, hashable value: two layouts that compare equal cost the same.
// Rank order, fastest first: tp, cp, ep inside dp, dp, pp; so tensor-parallel
// neighbours are NVLink neighbours and stages are farthest apart. Experts fold
// the same ranks differently: etp fastest, then ep, over dp*cp*tp.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_LAYOUT_H
#define TESSERA_COSTMODEL_LAYOUT_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace tessera {

enum class ParallelAxis : uint8_t { TP, CP, EP, ETP, DP, PP };
constexpr int kNumParallelAxes = 6;
llvm::StringRef nameOf(ParallelAxis axis);

enum class RecomputeKind : uint8_t { None, Selective, Full };
llvm::StringRef nameOf(RecomputeKind kind);

enum class ContextKind : uint8_t { Ring, AllGather, Ulysses };
llvm::StringRef nameOf(ContextKind kind);

enum class ScheduleKind : uint8_t { GPipe, OneFOneB, Interleaved, ZeroBubble };
llvm::StringRef nameOf(ScheduleKind kind);

/// How tokens travel to their experts.
enum class DispatcherKind : uint8_t { AllGather, AllToAll, Fused };
llvm::StringRef nameOf(DispatcherKind kind);

struct Layout {
  int dp = 1;
  /// Ranks of dp over which ZeRO shards; 0: all of dp. Smaller is hybrid
  /// sharding: shards inside the group, replicas across groups.
  int shardGroup = 0;
  int zeroStage = 0;
  int tp = 1;
  bool sequenceParallel = false;
  int cp = 1;
  ContextKind contextKind = ContextKind::Ring;
  int pp = 1;
  int vpp = 1;
  /// Layers of each of the pp*vpp chunks in execution order (chunk c runs on
  /// stage c % pp); empty: as even as possible, the first chunks longer.
  llvm::SmallVector<int, 8> chunkLayers;
  int ep = 1;
  int etp = 1;
  RecomputeKind recompute = RecomputeKind::None;
  /// With full recomputation: how many layers of each chunk, from its first on,
  /// are recomputed while the others keep all they need (Megatron's method
  /// "block"); 0: all of them.
  int recomputeLayers = 0;
  int64_t microBatch = 1;
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  DispatcherKind dispatcher = DispatcherKind::AllToAll;
  bool overlapGradients = true;
  bool overlapParameters = true;
  bool overlapTensorParallel = true;
  bool overlapExperts = false;
  bool overlapPipeline = true;

  int numGPUs() const { return dp * tp * cp * pp; }
  /// Of a chunk of `layers`, those that recompute as `recompute` says.
  int recomputedOf(int layers) const {
    bool some = recompute == RecomputeKind::Full && recomputeLayers > 0;
    return some && recomputeLayers < layers ? recomputeLayers : layers;
  }
  /// Ranks that ZeRO shards dense state over (dp and cp hold equal weights).
  int shardRanks() const { return (shardGroup > 0 ? shardGroup : dp) * cp; }
  int expertReplicas() const {
    int ranks = dp * cp * tp / (ep * etp);
    return ranks > 0 ? ranks : 1;
  }

  bool operator==(const Layout &o) const;
  bool operator!=(const Layout &o) const { return !(*this == o); }
  /// "dp=8 tp=8 pp=4 vpp=2 zero=1 mb=1 sp": dp and mb, then what is not the
  /// default; parseLayout reads it back to an equal layout.
  std::string str() const;
  /// What no program could run: groups that do not divide their ranks, chunks
  /// without a pipeline. The message names both sides.
  llvm::Error check() const;
};

llvm::hash_code hash_value(const Layout &layout);

/// Reads the entries of "tp=8,pp=4" (commas or blanks between them) into
/// `layout`, leaves the rest alone and appends the names given to `given`.
/// Checks each entry by itself; `layers` may come as "7+8*14+7".
llvm::Error parseLayoutEntries(llvm::StringRef text, Layout &layout,
                               llvm::SmallVectorImpl<llvm::StringRef> *given);

/// A whole layout: the entries over the defaults, `schedule` interleaved where
/// vpp > 1 and nothing else is said, then check().
llvm::Expected<Layout> parseLayout(llvm::StringRef text);

} // namespace tessera

#endif // TESSERA_COSTMODEL_LAYOUT_H
