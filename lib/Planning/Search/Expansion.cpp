//===- Expansion.cpp - what meshes share, and all layouts of one ----------===//
#include "Expansion.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

static bool sameFeatures(const Layout &a, const Layout &b) {
  return a.tp == b.tp && a.cp == b.cp && a.contextKind == b.contextKind &&
         a.ep == b.ep && a.etp == b.etp &&
         a.sequenceParallel == b.sequenceParallel &&
         a.microBatch == b.microBatch && a.dispatcher == b.dispatcher &&
         (a.pp == 1) == (b.pp == 1) && (a.zeroStage >= 3) == (b.zeroStage >= 3);
}

MeshCache::Entry &MeshCache::entry(const Layout &l) {
  size_t key = hash_combine(l.tp, l.cp, int(l.contextKind), l.ep, l.etp,
                            l.sequenceParallel, l.microBatch, l.zeroStage >= 3,
                            l.pp == 1, int(l.dispatcher));
  auto &bucket = table[key];
  for (const std::unique_ptr<Entry> &e : bucket)
    if (sameFeatures(e->key, l))
      return *e;
  ModelFeatures f = provider.features(l);
  auto e = std::make_unique<Entry>();
  e->key = l;
  e->small = condensed(f);
  Layout plain = l;
  plain.recompute = RecomputeKind::None;
  e->times[0] = relaxedBlockSeconds(f, plain, problem);
  e->has[0] = true;
  e->work = meshWork(f, e->times[0]);
  bucket.push_back(std::move(e));
  return *bucket.back();
}

const BlockSecondsList &MeshCache::times(const Layout &layout) {
  Entry &e = entry(layout);
  int kind = static_cast<int>(layout.recompute);
  if (!e.has[kind]) {
    e.times[kind] =
        relaxedBlockSeconds(provider.features(layout), layout, problem);
    e.has[kind] = true;
  }
  return e.times[kind];
}

const SmallVector<int, 8> &MeshCache::balanced(const Layout &l, int chunks) {
  Entry &e = entry(l);
  auto &table = e.balanced[static_cast<int>(l.recompute)];
  auto [at, isNew] = table.try_emplace(chunks);
  if (isNew)
    at->second = balancedChunks(times(l), e.small, chunks);
  return at->second;
}

double MeshCache::bound(const Layout &mesh, const InnerChoices &choices) {
  double least = 1e300;
  for (DispatcherKind dispatcher : choices.dispatchers) {
    bool plain = false;
    for (InnerChoices::Sharding s : choices.shardings) {
      Layout l = mesh;
      l.dispatcher = dispatcher;
      l.zeroStage = s.zero;
      l.shardGroup = s.group;
      // Below stage 3 the bound does not depend on the sharding.
      if (s.zero < 3 && plain)
        continue;
      plain |= s.zero < 3;
      Entry &e = entry(l);
      double bound = s.zero < 3 ? meshBound(e.work, e.small, l, problem)
                                : layoutBound(e.times[0], e.small, l, problem);
      least = std::min(least, bound);
    }
  }
  return least;
}

bool tessera::forEachLayout(MeshCache &cache, const InnerChoices &choices,
                            const Layout &mesh,
                            function_ref<bool(const Layout &)> visit) {
  for (DispatcherKind dispatcher : choices.dispatchers)
    for (InnerChoices::Sharding sharding : choices.shardings)
      for (RecomputeKind recompute : choices.recompute)
        for (InnerChoices::Virtual v : choices.schedules) {
          Layout l = mesh;
          l.dispatcher = dispatcher;
          l.zeroStage = sharding.zero;
          l.shardGroup = sharding.group;
          l.recompute = recompute;
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
