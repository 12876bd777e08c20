//===- Expansion.cpp - what meshes share, and all layouts of one ----------===//
#include "Expansion.h"
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

MeshCache::Entry &MeshCache::entry(const Layout &l) {
  int sharding = shardingClass(l);
  size_t key = hash_combine(l.tp, l.cp, int(l.contextKind), l.ep, l.etp,
                            l.sequenceParallel, l.microBatch, sharding,
                            l.pp == 1, int(l.dispatcher));
  auto same = [&](const Layout &o) {
    return o.tp == l.tp && o.cp == l.cp && o.contextKind == l.contextKind &&
           o.ep == l.ep && o.etp == l.etp &&
           o.sequenceParallel == l.sequenceParallel &&
           o.microBatch == l.microBatch && o.dispatcher == l.dispatcher &&
           (o.pp == 1) == (l.pp == 1) && shardingClass(o) == sharding;
  };
  auto &bucket = table[key];
  for (const std::unique_ptr<Entry> &e : bucket)
    if (same(e->key))
      return *e;
  ModelFeatures f = provider.features(l);
  auto e = std::make_unique<Entry>();
  e->key = l;
  e->small = condensed(f);
  Layout plain = l;
  plain.recompute = RecomputeKind::None;
  e->times[0] = relaxedBlockSeconds(f, plain, problem.workload, model);
  e->has[0] = true;
  e->work = meshWork(f, e->times[0]);
  if (sharding == 0) {
    ModelFeatures least = innerFloor(std::move(f));
    e->floor = meshWork(
        least, relaxedBlockSeconds(least, plain, problem.workload, model));
  }
  bucket.push_back(std::move(e));
  return *bucket.back();
}

const BlockSecondsList &MeshCache::relaxed(Entry &e, const Layout &layout) {
  int kind = static_cast<int>(layout.recompute);
  if (!e.has[kind]) {
    e.times[kind] = relaxedBlockSeconds(provider.features(layout), layout,
                                        problem.workload, model);
    e.has[kind] = true;
  }
  return e.times[kind];
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
    sharded = withSharding(plain, e.small, l, problem);
    shardedFor = std::move(key);
  }
  return sharded;
}

const SmallVector<int, 8> &MeshCache::balanced(const Layout &l, int chunks) {
  Entry &e = entry(l);
  auto &table = e.balanced[static_cast<int>(l.recompute)];
  auto [at, isNew] = table.try_emplace(chunks);
  if (isNew)
    at->second = balancedChunks(relaxed(e, l), e.small, chunks);
  return at->second;
}

double MeshCache::bound(const Layout &mesh) {
  Entry &e = entry(mesh);
  if (mesh.zeroStage < 2)
    return meshBound(e.work, e.small, mesh, problem);
  const BlockSecondsList &t = times(mesh);
  // Without a pipeline only recomputation is left to choose.
  if (mesh.pp == 1)
    return layoutBound(t, e.small, mesh, problem);
  return meshBound(meshWork(e.small, t), e.small, mesh, problem);
}

double MeshCache::floor(const Layout &mesh) {
  Entry &e = entry(mesh);
  return meshBound(e.floor, e.small, mesh, problem);
}

bool tessera::forEachFamily(MeshCache &cache, const InnerChoices &choices,
                            const Layout &mesh,
                            function_ref<bool(const Layout &)> visit) {
  for (DispatcherKind dispatcher : choices.dispatchers)
    for (InnerChoices::Sharding sharding : choices.shardings)
      for (RecomputeKind recompute : choices.recompute)
        for (InnerChoices::Virtual v : choices.schedules) {
          if (choices.partialCount(recompute, v.vpp) == 0)
            continue;
          Layout l = mesh;
          l.dispatcher = dispatcher;
          l.zeroStage = sharding.zero;
          l.shardGroup = sharding.group;
          l.recompute = recompute;
          l.recomputeLayers = int(std::max<int64_t>(0, choices.partialFixed));
          l.vpp = v.vpp;
          l.schedule = v.schedule;
          if (!visit(l))
            return false;
          if (choices.partitions < 2)
            continue;
          int chunks = l.pp * l.vpp;
          l.chunkLayers = cache.balanced(l, chunks);
          int layers = cache.features(l).numLayers();
          if (l.chunkLayers != evenChunks(layers, chunks) && !visit(l))
            return false;
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
      if (!visit(l))
        return false;
    return true;
  });
}
