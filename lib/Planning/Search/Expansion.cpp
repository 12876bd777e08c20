//===- Expansion.cpp - what meshes share, and all layouts of one ----------===//
#include "Expansion.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// Sharding as far as features and relaxed times depend on it: parameters
/// sharded (2); gradients, where a pass adds them up otherwise (1); else 0.
int MeshCache::shardingClass(const Layout &l) const {
  if (l.zeroStage >= 3)
    return 2;
  bool pass = !problem.model.traits.fusedGradientAccumulation;
  return l.zeroStage == 2 && pass ? 1 : 0;
}

static bool sameDense(const Layout &a, const Layout &b) {
  return a.tp == b.tp && a.cp == b.cp && a.contextKind == b.contextKind &&
         a.sequenceParallel == b.sequenceParallel &&
         a.microBatch == b.microBatch && (a.pp == 1) == (b.pp == 1);
}

static uint64_t denseHash(const Layout &l, int sharding) {
  return hash_combine(l.tp, l.cp, int(l.contextKind), l.sequenceParallel,
                      l.microBatch, sharding, l.pp == 1);
}

/// The place in `table` of what `matches`, or where it is to go.
template <typename T, typename Matches>
static T *&placeOf(DenseMap<uint64_t, T *> &table, uint64_t hash,
                   Matches matches) {
  // DenseMap keeps the two largest keys for itself.
  for (hash >>= 1;; ++hash) {
    T *&place = table[hash];
    if (!place || matches(*place))
      return place;
  }
}

MeshCache::BlockPair MeshCache::timesOf(const ModelFeatures &f, size_t block,
                                        bool pinned, const Layout &plain,
                                        int sharding) {
  const BlockFeatures &b = f.blocks[block];
  auto compute = [&] {
    BlockPair pair;
    pair.work = relaxedSeconds(b, pinned, plain, problem.workload, model);
    if (sharding == 0)
      pair.floor =
          relaxedSeconds(innerFloor(b), pinned, plain, problem.workload, model);
    return pair;
  };
  if (b.expertParameters > 0)
    return compute();
  DenseEntry *&known =
      placeOf(denseTable, denseHash(plain, sharding), [&](const DenseEntry &e) {
        return sameDense(e.key, plain) && shardingClass(e.key) == sharding;
      });
  if (!known) {
    denseEntries.push_back({plain, {}});
    known = &denseEntries.back();
  }
  if (known->blocks.size() <= block)
    known->blocks.resize(block + 1);
  std::optional<BlockPair> &pair = known->blocks[block];
  if (!pair)
    pair = compute();
  return *pair;
}

MeshCache::Entry &MeshCache::entry(const Layout &l) {
  int sharding = shardingClass(l);
  uint64_t hash =
      hash_combine(denseHash(l, sharding), l.ep, l.etp, int(l.dispatcher));
  Entry *&known = placeOf(table, hash, [&](const Entry &e) {
    return sameDense(e.key, l) && e.key.ep == l.ep && e.key.etp == l.etp &&
           e.key.dispatcher == l.dispatcher && shardingClass(e.key) == sharding;
  });
  if (known)
    return *known;
  ModelFeatures f = provider.features(l);
  entries.emplace_back();
  Entry &e = entries.back();
  known = &e;
  e.key = l;
  Layout plain = l;
  plain.recompute = RecomputeKind::None;
  SmallVector<bool, 5> pinned = pinnedBlocks(f);
  BlockSecondsList least;
  for (size_t i = 0; i < f.blocks.size(); ++i) {
    BlockPair t = timesOf(f, i, pinned[i], plain, sharding);
    e.times.push_back(t.work);
    least.push_back(t.floor);
  }
  e.outline = outlineOf(f);
  e.work = meshWork(e.outline, e.times);
  e.floor = meshWork(e.outline, least);
  return e;
}

MeshCache::Details &MeshCache::details(Entry &e) {
  if (!e.details)
    e.details = std::make_unique<Details>();
  return *e.details;
}

const ModelFeatures &MeshCache::features(const Layout &layout) {
  ModelFeatures &small = details(entry(layout)).small;
  if (small.blocks.empty())
    small = condensed(provider.features(layout));
  return small;
}

const BlockSecondsList &MeshCache::relaxed(Entry &e, const Layout &layout) {
  if (layout.recompute == RecomputeKind::None)
    return e.times;
  BlockSecondsList &again =
      details(e).again[layout.recompute == RecomputeKind::Full];
  if (again.empty())
    again = relaxedBlockSeconds(provider.features(layout), layout,
                                problem.workload, model);
  return again;
}

const BlockSecondsList &MeshCache::times(const Layout &l) {
  Entry &e = entry(l);
  const BlockSecondsList &plain = relaxed(e, l);
  if (l.zeroStage < 2)
    return plain;
  // Schedules and partitions of one mesh come one after another.
  Layout key = l;
  key.vpp = 1;
  key.chunkLayers.clear();
  key.schedule = ScheduleKind::OneFOneB;
  key.recomputeLayers = 0;
  if (sharded.empty() || key != shardedFor) {
    sharded = withSharding(plain, e.outline, l, problem);
    shardedFor = std::move(key);
  }
  return sharded;
}

const SmallVector<int, 8> &MeshCache::balanced(const Layout &l, int chunks) {
  Entry &e = entry(l);
  auto &table = details(e).balanced[static_cast<int>(l.recompute)];
  auto [at, isNew] = table.try_emplace(chunks);
  if (isNew)
    at->second = balancedChunks(relaxed(e, l), e.outline, chunks);
  return at->second;
}

double MeshCache::bound(const Layout &mesh, double limit) {
  Entry &e = entry(mesh);
  double plain = meshBound(e.work, mesh, problem);
  if (mesh.zeroStage < 2 || plain >= limit)
    return plain;
  const BlockSecondsList &t = times(mesh);
  // Without a pipeline only recomputation is left to choose.
  return mesh.pp == 1 ? layoutBound(t, e.outline, mesh, problem)
                      : meshBound(meshWork(e.outline, t), mesh, problem);
}

double MeshCache::boundToTheEnd(const Layout &mesh) {
  if (mesh.zeroStage < 2)
    return meshBoundToTheEnd(entry(mesh).work, mesh, problem);
  const BlockSecondsList &t = times(mesh);
  return meshBoundToTheEnd(meshWork(outline(mesh), t), mesh, problem);
}

double MeshCache::floor(const Layout &mesh) {
  return meshBound(entry(mesh).floor, mesh, problem);
}

bool tessera::forEachFamily(MeshCache &cache, const InnerChoices &choices,
                            const Layout &mesh,
                            function_ref<bool(const Layout &)> visit) {
  for (DispatcherKind dispatcher : choices.dispatchers)
    for (InnerChoices::Sharding sharding : choices.shardings) {
      Layout sharded = mesh;
      sharded.dispatcher = dispatcher;
      sharded.zeroStage = sharding.zero;
      sharded.shardGroup = sharding.group;
      sharded = cache.withSwitches(sharded);
      for (RecomputeKind recompute : choices.recompute)
        for (InnerChoices::Virtual v : choices.schedules) {
          if (choices.partialCount(recompute, v.vpp) == 0)
            continue;
          Layout l = sharded;
          l.recompute = recompute;
          l.recomputeLayers = int(std::max<int64_t>(0, choices.partialFixed));
          l.vpp = v.vpp;
          l.schedule = v.schedule;
          if (!visit(l))
            return false;
          if (choices.partitionsOf(v.vpp) < 2)
            continue;
          int chunks = l.pp * l.vpp;
          l.chunkLayers = cache.balanced(l, chunks);
          int layers = cache.outline(l).layers;
          if (l.chunkLayers != evenChunks(layers, chunks) &&
              choices.allowsPartial(l, l.recomputeLayers) && !visit(l))
            return false;
        }
    }
  return true;
}

bool tessera::forEachLayout(MeshCache &cache, const InnerChoices &choices,
                            const Layout &mesh,
                            function_ref<bool(const Layout &)> visit) {
  return forEachFamily(cache, choices, mesh, [&](const Layout &family) {
    if (!visit(family))
      return false;
    int limit = choices.partialFixed < 0
                    ? choices.partialLimit(family.recompute, family.vpp)
                    : 0;
    Layout l = family;
    for (l.recomputeLayers = 1; l.recomputeLayers <= limit; ++l.recomputeLayers)
      if (choices.allowsPartial(l, l.recomputeLayers) && !visit(l))
        return false;
    return true;
  });
}
