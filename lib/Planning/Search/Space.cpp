//===- Space.cpp - walking the layouts ------------------------------------===//
#include "Space.h"
#include "Legal.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

SmallVector<int64_t, 16> tessera::divisorsOf(int64_t n) {
  SmallVector<int64_t, 16> low, high;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) {
      low.push_back(d);
      if (d != n / d)
        high.push_back(n / d);
    }
  low.append(high.rbegin(), high.rend());
  return low;
}

int64_t tessera::tensorParallelLimit(const Cluster &cluster) {
  return std::max(cluster.domainSize(), cluster.gpusPerNode);
}

int64_t tessera::contextParallelLimit(int64_t sequence) {
  return std::max<int64_t>(1, sequence / 128);
}

namespace {
/// Nested loops over the outer choices, cheapest tests first.
class MeshWalk {
public:
  MeshWalk(const PlanProblem &p, const FixedChoices &fixed,
           function_ref<bool(const Layout &)> visit)
      : p(p), s(p.shape), fixed(fixed), visit(visit) {}

  bool run() {
    int64_t gpus = p.gpus();
    SmallVector<int64_t, 16> sizes = divisorsOf(gpus);
    for (int64_t tp : sizes) {
      if (s.heads % tp ||
          !within(Choice::TP, tp, tensorParallelLimit(p.model.cluster)))
        continue;
      for (int64_t cp : sizes) {
        if ((gpus / tp) % cp || s.sequence % cp ||
            !within(Choice::CP, cp, contextParallelLimit(s.sequence)))
          continue;
        for (int64_t pp : sizes) {
          if ((gpus / tp / cp) % pp || pp > s.layers ||
              !fixed.allows(Choice::PP, pp))
            continue;
          int64_t dp = gpus / tp / cp / pp;
          if (p.workload.globalBatch % dp || !fixed.allows(Choice::DP, dp))
            continue;
          Layout l = withStackSwitches({}, p.model.traits);
          l.tp = int(tp);
          l.cp = int(cp);
          l.pp = int(pp);
          l.dp = int(dp);
          if (!kinds(l))
            return false;
        }
      }
    }
    return true;
  }

private:
  /// `limit` holds unless the user asks for the value.
  bool within(Choice c, int64_t value, int64_t limit) const {
    return fixed.get(c) ? *fixed.get(c) == value : value <= limit;
  }

  bool kinds(Layout l) {
    for (ContextKind kind :
         {ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses}) {
      l.contextKind = kind;
      // Without context parallelism the kind means nothing.
      if (l.cp == 1) {
        if (kind != ContextKind::Ring)
          break;
        if (auto fixedKind = fixed.get(Choice::ContextKind))
          setValue(l, Choice::ContextKind, *fixedKind);
      } else if (!fixed.allows(Choice::ContextKind, int64_t(kind))) {
        continue;
      }
      for (bool sp : {false, true}) {
        if ((sp && l.tp == 1) || !fixed.allows(Choice::SequenceParallel, sp))
          continue;
        l.sequenceParallel = sp;
        l.overlapTensorParallel = true;
        l = p.withSwitches(l);
        // With experts the mesh is judged with their split.
        bool known = s.experts || p.runs(l, LayoutPart::Mesh);
        if (known && isLegal(p, l) && !experts(l))
          return false;
      }
    }
    return true;
  }

  bool experts(Layout l) {
    if (!s.experts) {
      if (!fixed.allows(Choice::EP, 1) || !fixed.allows(Choice::ETP, 1))
        return true;
      return batches(l);
    }
    int64_t ranks = int64_t(l.dp) * l.cp * l.tp;
    for (int64_t ep : divisorsOf(s.experts)) {
      if (ranks % ep || !fixed.allows(Choice::EP, ep))
        continue;
      // Expert tensor parallelism stays inside the tensor-parallel group.
      SmallVector<int64_t, 16> widths = divisorsOf(l.tp);
      if (auto asked = fixed.get(Choice::ETP))
        widths.assign(1, *asked);
      for (int64_t etp : widths) {
        l.ep = int(ep);
        l.etp = int(etp);
        if (p.runs(l, LayoutPart::Mesh) && isLegal(p, l) && !batches(l))
          return false;
      }
    }
    return true;
  }

  bool batches(Layout l) {
    for (int64_t mb : divisorsOf(p.workload.globalBatch / l.dp)) {
      l.microBatch = mb;
      if (fixed.allows(Choice::MicroBatch, mb) && isLegal(p, l) && !visit(l))
        return false;
    }
    return true;
  }

  const PlanProblem &p;
  const ModelShape &s;
  const FixedChoices &fixed;
  function_ref<bool(const Layout &)> visit;
};
} // namespace

void tessera::forEachMesh(const PlanProblem &problem, const FixedChoices &fixed,
                          function_ref<bool(const Layout &)> visit) {
  MeshWalk(problem, fixed, visit).run();
}

/// Virtual stages worth trying: those that split the layers evenly, counting
/// embedding and head as none, one or two layers, and powers of two.
static bool isUsualVirtual(int64_t layers, int64_t pp, int64_t vpp) {
  if ((vpp & (vpp - 1)) == 0)
    return true;
  for (int64_t extra : {0, 1, 2})
    if ((layers + extra) % (pp * vpp) == 0)
      return true;
  return false;
}

/// Chunks of an interleaved pipeline beyond which nothing is searched unless it
/// is asked for. Published runs have 126 at most (Llama 3 405B, a layer each);
/// a pass's sending and receiving is paid for each chunk.
static constexpr int64_t kMostChunks = 1024;

int InnerChoices::partialLimit(RecomputeKind kind, int vpp) const {
  if (kind != RecomputeKind::Full)
    return 0;
  int64_t chunks = int64_t(stages) * vpp;
  return std::max(0, int((layers + chunks - 1) / chunks) - 1);
}

int64_t InnerChoices::partialCount(RecomputeKind kind, int vpp) const {
  int limit = partialLimit(kind, vpp);
  int64_t chunks = int64_t(stages) * vpp;
  auto allows = [&](int64_t k) {
    return k <= limit &&
           (k == 0 || !everyNth ||
            tessera::everyNth(int(k), int(layers / chunks), limit + 1) > 0);
  };
  if (partialFixed >= 0)
    return allows(partialFixed);
  int64_t ways = 0;
  for (int k = 0; k <= limit; ++k)
    ways += allows(k);
  return ways;
}

bool InnerChoices::allowsPartial(const Layout &l, int k) const {
  if (k == 0 || !everyNth)
    return true;
  int64_t chunks = int64_t(l.pp) * l.vpp;
  int least = int(layers / chunks), most = int((layers + chunks - 1) / chunks);
  if (!l.chunkLayers.empty()) {
    least = *llvm::min_element(l.chunkLayers);
    most = *llvm::max_element(l.chunkLayers);
  }
  return tessera::everyNth(k, least, most) > 0;
}

int InnerChoices::partitionsOf(int vpp) const {
  return int64_t(stages) * vpp > layers ? 1 : partitions;
}

int64_t InnerChoices::count() const {
  int64_t ways = 0;
  for (RecomputeKind kind : recompute)
    for (const Virtual &v : schedules)
      ways += partialCount(kind, v.vpp) * partitionsOf(v.vpp);
  return ways * int64_t(shardings.size()) * int64_t(dispatchers.size());
}

InnerChoices tessera::innerChoices(const PlanProblem &p,
                                   const FixedChoices &fixed, const Layout &l) {
  InnerChoices c;
  int64_t m = p.workload.globalBatch / (l.dp * l.microBatch);
  bool dense = l.dp * l.cp > 1;
  bool replicas = dense || (p.shape.experts && l.expertReplicas() > 1);
  Layout probe = l; // for what the stack can run
  auto shard = [&](int zero, int64_t group) {
    probe.zeroStage = zero;
    probe.shardGroup = int(group);
    if (fixed.allows(Choice::Zero, zero) &&
        fixed.allows(Choice::ShardGroup, group) &&
        p.runs(probe, LayoutPart::Sharding))
      c.shardings.push_back({zero, int(group)});
  };
  shard(0, 0);
  if (replicas || fixed.get(Choice::Zero)) {
    for (int zero : {1, 2, 3})
      shard(zero, 0);
    for (int64_t group : divisorsOf(l.dp))
      if (group > 1 && group < l.dp)
        shard(3, group);
  }

  c.layers = p.shape.layers;
  c.stages = l.pp;
  c.partialFixed = fixed.get(Choice::RecomputeLayers).value_or(-1);
  using Layers = Framework::Layers;
  Layers which = p.framework ? p.framework->layers : Layers::First;
  c.everyNth = which == Layers::Every;
  if (which == Layers::All) {
    if (c.partialFixed > 0)
      return c;
    c.partialFixed = 0;
  }
  for (RecomputeKind kind :
       {RecomputeKind::None, RecomputeKind::Selective, RecomputeKind::Full}) {
    probe.recompute = kind;
    if (fixed.allows(Choice::Recompute, int64_t(kind)) &&
        (kind == RecomputeKind::Full || c.partialFixed <= 0) &&
        p.runs(probe, LayoutPart::Recompute))
      c.recompute.push_back(kind);
  }

  auto add = [&](int64_t vpp, ScheduleKind kind) {
    probe.vpp = int(vpp);
    probe.schedule = kind;
    if (fixed.allows(Choice::VPP, vpp) &&
        fixed.allows(Choice::Schedule, int64_t(kind)) &&
        p.runs(probe, LayoutPart::Schedule))
      c.schedules.push_back({int(vpp), kind});
  };
  add(1, ScheduleKind::OneFOneB);
  if (l.pp > 1) {
    auto asked = fixed.get(Choice::Schedule);
    bool zeroBubble = p.framework || asked == int64_t(ScheduleKind::ZeroBubble);
    if (zeroBubble)
      add(1, ScheduleKind::ZeroBubble);
    // Never faster than one-forward-one-backward and always larger: only where
    // it is asked for or what there is.
    if (asked == int64_t(ScheduleKind::GPipe) || c.schedules.empty())
      add(1, ScheduleKind::GPipe);
    // Embedding and head may have chunks of their own.
    bool uneven =
        !p.framework || p.framework->partition == Framework::Partition::Free;
    int64_t most = p.shape.layers + (uneven ? 2 : 0);
    if (m % l.pp == 0)
      for (int64_t vpp = 2; vpp * l.pp <= most; ++vpp)
        if ((vpp * l.pp <= kMostChunks &&
             isUsualVirtual(p.shape.layers, l.pp, vpp)) ||
            fixed.get(Choice::VPP) == vpp) {
          add(vpp, ScheduleKind::Interleaved);
          if (zeroBubble)
            add(vpp, ScheduleKind::ZeroBubble);
        }
    c.partitions = uneven ? 2 : 1;
  }

  auto asked = fixed.get(Choice::Dispatcher);
  if (l.ep == 1) {
    c.dispatchers.push_back(asked ? static_cast<DispatcherKind>(*asked)
                                  : DispatcherKind::AllToAll);
    return c;
  }
  for (DispatcherKind kind : {DispatcherKind::AllToAll, DispatcherKind::Fused,
                              DispatcherKind::AllGather}) {
    probe.dispatcher = kind;
    // Gathering moves ep / topk times what the all-to-all does.
    bool worth =
        kind != DispatcherKind::AllGather || l.ep <= 2 * p.shape.topk || asked;
    bool known = p.framework || asked || kind == DispatcherKind::AllToAll ||
                 kind == p.model.traits.dispatcher;
    if (worth && known && fixed.allows(Choice::Dispatcher, int64_t(kind)) &&
        p.runs(probe, LayoutPart::Dispatcher))
      c.dispatchers.push_back(kind);
  }
  return c;
}
