//===- Solver.cpp - branch and bound over layouts -------------------------===//
//
// One queue ordered by bound (best first, as A* does it). A mesh enters it
// twice: with the plain dispatcher and sharding, bounded from shared block
// times, and with all others, bounded by what these cannot change; the latter
// is divided by dispatcher and sharding when its turn comes. Each part is
// replaced by its layouts with bounds of their own; a layout is asked for its
// memory, and if it fits for its timeline. Layouts that differ only in how many
// layers of a chunk recompute come as a family: the fewest that fit are found
// by bisection. So no timeline is played whose bound exceeds the last place of
// the final table. The search is closed when the next bound reaches that place
// (docs/planning.md).
//
//===----------------------------------------------------------------------===//
#include "Solver.h"
#include "Expansion.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <chrono>
#include <queue>

using namespace llvm;
using namespace tessera;

/// Bounds and times are sums of the same numbers in different order.
static constexpr double kRounding = 1e-9;

bool tessera::sameMesh(const Layout &a, const Layout &b) {
  return a.dp == b.dp && a.tp == b.tp && a.cp == b.cp && a.pp == b.pp &&
         a.ep == b.ep && a.etp == b.etp;
}

Candidate tessera::evaluate(const PlanProblem &p,
                            const FeatureProvider &provider, const Layout &l) {
  ModelFeatures f = provider.features(l);
  return {l, stepTime(f, l, p.workload, p.model),
          memoryUse(f, l, p.workload, p.model.cluster)};
}

/// Drops shardings under which the model state alone does not fit.
static void dropTooLarge(const PlanProblem &p, const Layout &mesh,
                         InnerChoices &choices) {
  llvm::erase_if(choices.shardings, [&](InnerChoices::Sharding s) {
    Layout l = mesh;
    l.zeroStage = s.zero;
    l.shardGroup = s.group;
    return stateBound(p, l) > p.memoryLimit;
  });
}

namespace {
/// The best layout of each mesh, the best `top` meshes.
class Ranking {
public:
  Ranking(int top, double incumbent)
      : top(std::max(top, 1)), incumbent(incumbent) {}

  /// Layouts at least this slow change nothing.
  double threshold() const {
    if (static_cast<int>(ranked.size()) >= top)
      return ranked.back().step.seconds;
    return incumbent > 0 ? incumbent : 1e300;
  }
  /// The same for layouts of the mesh of `layout`.
  double threshold(const Layout &layout) const {
    for (const Candidate &c : ranked)
      if (sameMesh(c.layout, layout))
        return std::min(c.step.seconds, threshold());
    return threshold();
  }
  void insert(Candidate candidate) {
    if (candidate.step.seconds >= threshold())
      return;
    for (size_t i = 0; i < ranked.size(); ++i)
      if (sameMesh(ranked[i].layout, candidate.layout)) {
        if (ranked[i].step.seconds <= candidate.step.seconds)
          return;
        ranked.erase(ranked.begin() + i);
        break;
      }
    auto at = llvm::upper_bound(ranked, candidate,
                                [](const Candidate &a, const Candidate &b) {
                                  return a.step.seconds < b.step.seconds;
                                });
    ranked.insert(at, std::move(candidate));
    if (static_cast<int>(ranked.size()) > top)
      ranked.pop_back();
  }

  int top;
  double incumbent;
  std::vector<Candidate> ranked;
};

struct Node {
  enum Kind : uint8_t {
    Known,  ///< a mesh whose bound is another problem's
    Plain,  ///< a mesh with its plainest dispatcher and sharding
    Others, ///< the same mesh with the rest
    Part,   ///< a mesh with the dispatcher and sharding of `layout`
    Family, ///< layouts that recompute 1, 2, ... or all layers of a chunk
    Leaf,   ///< a layout
  };
  double bound;
  const Layout *layout; ///< in the result's meshes or the search's pool
  Kind kind;
  bool others = false; ///< of Known
  bool closer = false; ///< of Plain and Part: the bound has the step's end
  int64_t origin = -1; ///< of Plain and Others: index into the result's bounds
};
struct Later {
  bool operator()(const Node &a, const Node &b) const {
    return a.bound > b.bound;
  }
};

class Search {
public:
  Search(const PlanProblem &p, const FeatureProvider &provider,
         const SolverOptions &o)
      : p(p), provider(provider), o(o), ranking(o.top, o.incumbent),
        cache(p, provider), begin(std::chrono::steady_clock::now()) {}

  PlanResult run() {
    boundMeshes();
    double open = 0;
    while (!queue.empty()) {
      Node node = queue.top();
      queue.pop();
      if (node.bound * (1 - kRounding) >= ranking.threshold())
        break;
      if (o.timeLimit > 0 && elapsed() > o.timeLimit) {
        open = node.bound;
        break;
      }
      process(node);
    }
    PlanResult result;
    result.ranked = std::move(ranking.ranked);
    result.bounds = std::move(bounds);
    certificate.seconds = elapsed();
    if (!result.ranked.empty()) {
      double best = result.ranked.front().step.seconds;
      certificate.bound = open > 0 ? std::min(open, best) : best;
      certificate.gap = (best - certificate.bound) / best;
    } else {
      result.nearest = nearest;
      certificate.bound = open;
      certificate.gap = open > 0 ? 1 : 0;
    }
    result.certificate = certificate;
    return result;
  }

private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  }
  bool canEnter(double bound, const Layout &layout) const {
    return bound * (1 - kRounding) < ranking.threshold(layout);
  }

  void process(const Node &node) {
    const Layout &l = *node.layout;
    if (!canEnter(node.bound, l)) { // its mesh has a better layout
      certificate.boundCut += node.kind >= Node::Family;
      return;
    }
    switch (node.kind) {
    case Node::Known: {
      double bound = node.others ? cache.floor(l) : cache.bound(l);
      queue.push({std::max(bound, node.bound), &l,
                  node.others ? Node::Others : Node::Plain});
      break;
    }
    case Node::Others:
      raise(node.origin, divide(l));
      break;
    case Node::Plain:
    case Node::Part:
      // Worth a closer bound, and then another turn.
      if (!node.closer) {
        double bound = std::max(node.bound, boundToTheEnd(l));
        raise(node.origin, bound);
        if (canEnter(bound, l))
          queue.push({bound, &l, node.kind, false, true, node.origin});
        break;
      }
      raise(node.origin, expand(l));
      break;
    case Node::Family:
      evaluateFamily(l);
      break;
    case Node::Leaf:
      if (fits(l, true))
        evaluateLayout(l);
      break;
    }
  }

  /// What is learned of a mesh serves searches that start from the result.
  void raise(int64_t origin, double bound) {
    if (origin >= 0)
      bounds.bounds[origin].bound =
          std::max(bounds.bounds[origin].bound, bound);
  }

  void push(double bound, Node::Kind kind, const Layout &layout) {
    pool.push_back(layout);
    queue.push({bound, &pool.back(), kind});
  }

  /// Inner choices whose model state fits.
  InnerChoices choicesOf(const Layout &mesh) const {
    InnerChoices choices = innerChoices(p, p.fixed, mesh);
    dropTooLarge(p, mesh, choices);
    return choices;
  }

  void boundMeshes() {
    std::vector<Node> nodes;
    if (o.known) {
      for (const BoundedMesh &m : o.known->bounds)
        nodes.push_back(
            {m.bound, &o.known->meshes[m.mesh], Node::Known, m.others});
      queue = Queue(Later(), std::move(nodes));
      return;
    }
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      if (choices.count() == 0)
        return true;
      ++certificate.meshes;
      certificate.space += double(choices.count());
      dropTooLarge(p, mesh, choices);
      if (choices.shardings.empty()) {
        ++certificate.stateCut;
        return true;
      }
      ++certificate.bounded;
      Layout l = mesh;
      l.dispatcher = choices.dispatchers.front();
      bounds.meshes.push_back(l);
      auto add = [&](double bound, Node::Kind kind) {
        nodes.push_back({bound, &bounds.meshes.back(), kind, false, false,
                         int64_t(bounds.bounds.size())});
        bounds.bounds.push_back(
            {bound, bounds.meshes.size() - 1, kind == Node::Others});
      };
      bool plain =
          llvm::any_of(choices.shardings, [](auto s) { return s.zero < 2; });
      bool sharded =
          llvm::any_of(choices.shardings, [](auto s) { return s.zero >= 2; });
      if (plain)
        add(cache.bound(l), Node::Plain);
      if (sharded || choices.dispatchers.size() > 1)
        add(cache.floor(l), Node::Others);
      return true;
    });
    queue = Queue(Later(), std::move(nodes));
  }

  /// For the plainest shardings: the least of those that there are.
  double boundToTheEnd(const Layout &mesh) {
    if (mesh.zeroStage >= 2)
      return cache.boundToTheEnd(mesh);
    double least = 1e300;
    for (InnerChoices::Sharding s : choicesOf(mesh).shardings)
      if (s.zero < 2) {
        Layout l = mesh;
        l.zeroStage = s.zero;
        least = std::min(least, cache.boundToTheEnd(l));
      }
    return least;
  }

  /// One part for each dispatcher and each sharding; shardings of the optimizer
  /// alone make one together.
  /// Returns a bound of all.
  double divide(const Layout &mesh) {
    double least = 1e300;
    InnerChoices choices = choicesOf(mesh);
    for (DispatcherKind dispatcher : choices.dispatchers) {
      bool together = dispatcher == mesh.dispatcher; // the plain part
      for (InnerChoices::Sharding s : choices.shardings) {
        if (s.zero < 2 && together)
          continue;
        together |= s.zero < 2;
        Layout l = mesh;
        l.dispatcher = dispatcher;
        l.zeroStage = s.zero < 2 ? 0 : s.zero;
        l.shardGroup = s.group;
        double bound = cache.bound(l, ranking.threshold(l));
        least = std::min(least, bound);
        if (canEnter(bound, l))
          push(bound, Node::Part, l);
      }
    }
    return least;
  }

  /// The layouts with the mesh, dispatcher and sharding of `mesh`; shardings of
  /// the optimizer alone come together. Returns a bound of all.
  double expand(const Layout &mesh) {
    double all = 1e300;
    Layout key = mesh;
    key.dispatcher = DispatcherKind::AllToAll;
    key.zeroStage = key.shardGroup = 0;
    certificate.expanded +=
        expanded.insert(uint64_t(hash_value(key)) >> 1).second;
    InnerChoices choices = choicesOf(mesh);
    choices.dispatchers.assign(1, mesh.dispatcher);
    if (mesh.zeroStage >= 2)
      choices.shardings.assign(1, {mesh.zeroStage, mesh.shardGroup});
    else
      llvm::erase_if(choices.shardings, [](auto s) { return s.zero >= 2; });
    forEachFamily(cache, choices, mesh, [&](const Layout &l) {
      int limit = choices.partialFixed < 0
                      ? choices.partialLimit(l.recompute, l.vpp)
                      : 0;
      Layout least = l;
      if (limit > 0)
        least.recomputeLayers = 1;
      double bound =
          layoutBound(cache.times(least), cache.outline(least), least, p);
      all = std::min(all, bound);
      if (!canEnter(bound, l))
        certificate.boundCut += limit + 1;
      else
        push(bound, limit > 0 ? Node::Family : Node::Leaf, l);
      return true;
    });
    return all;
  }

  bool fits(const Layout &l, bool count) {
    MemoryUse memory =
        memoryUse(cache.features(l), l, p.workload, p.model.cluster);
    if (memory.total() <= p.memoryLimit)
      return true;
    certificate.memoryCut += count;
    if (!nearest || memory.total() < nearest->second.total())
      nearest = {l, memory};
    return false;
  }

  /// Recomputing one layer more never needs more memory (a layer's kept bytes
  /// are in flight at least once, what is recomputed is held once) and makes
  /// passes longer; in a fixed order of passes the step takes no less.
  void evaluateFamily(const Layout &family) {
    InnerChoices choices = innerChoices(p, p.fixed, family);
    int limit = choices.partialLimit(family.recompute, family.vpp);
    Layout l = family;
    if (!fits(l, false)) {
      certificate.memoryCut += limit + 1;
      return;
    }
    int low = 0, high = limit + 1; // `low` layers do not fit, `high` do
    while (high - low > 1) {
      l.recomputeLayers = low + (high - low) / 2;
      (fits(l, false) ? high : low) = l.recomputeLayers;
    }
    certificate.memoryCut += low;
    // The least that the stack can say; zero-bubble schedules decide by the
    // times which pass comes next, so there all that fit are of interest.
    bool all = family.schedule == ScheduleKind::ZeroBubble;
    bool done = false;
    for (int n = high; n <= limit + 1; ++n) {
      l.recomputeLayers = n > limit ? 0 : n;
      if (!choices.allowsPartial(l, l.recomputeLayers))
        continue;
      if (done && !all) {
        ++certificate.dominated;
        continue;
      }
      done = true;
      double bound = layoutBound(cache.times(l), cache.outline(l), l, p);
      if (canEnter(bound, l))
        push(bound, Node::Leaf, l);
      else
        ++certificate.boundCut;
    }
  }

  void evaluateLayout(const Layout &l) {
    ++certificate.evaluated;
    ranking.insert(evaluate(p, provider, l));
  }

  using Queue = std::priority_queue<Node, std::vector<Node>, Later>;

  const PlanProblem &p;
  const FeatureProvider &provider;
  const SolverOptions &o;
  Ranking ranking;
  MeshCache cache;
  Queue queue;
  std::deque<Layout> pool;
  DenseSet<uint64_t> expanded; ///< hashes of meshes
  MeshBounds bounds;
  Certificate certificate;
  std::optional<std::pair<Layout, MemoryUse>> nearest;
  std::chrono::steady_clock::time_point begin;
};
} // namespace

PlanResult tessera::solve(const PlanProblem &problem,
                          const FeatureProvider &provider,
                          const SolverOptions &options) {
  return Search(problem, provider, options).run();
}

PlanResult tessera::solveExhaustively(const PlanProblem &p,
                                      const FeatureProvider &provider,
                                      int top) {
  Ranking ranking(top, 0);
  MeshCache cache(p, provider);
  PlanResult result;
  forEachMesh(p, p.fixed, [&](const Layout &mesh) {
    InnerChoices choices = innerChoices(p, p.fixed, mesh);
    result.certificate.meshes += choices.count() > 0;
    result.certificate.space += double(choices.count());
    forEachLayout(cache, choices, mesh, [&](const Layout &l) {
      ++result.certificate.evaluated;
      Candidate c = evaluate(p, provider, l);
      if (c.memory.total() <= p.memoryLimit)
        ranking.insert(std::move(c));
      return true;
    });
    return true;
  });
  result.ranked = std::move(ranking.ranked);
  if (!result.ranked.empty())
    result.certificate.bound = result.ranked.front().step.seconds;
  return result;
}

/// Whether the meshes differ in nothing but the microbatch.
static bool sameButMicroBatch(Layout a, const Layout &b) {
  a.microBatch = b.microBatch;
  return a == b;
}

// Only layouts than which no other of their kind needs less are asked: the
// smallest microbatch (of which as many tokens or fewer are in flight, and
// which allows every schedule that a larger one does), the most recomputation,
// and under ZeRO 3 the largest group.
bool tessera::fitsAtAll(const PlanProblem &p, const FeatureProvider &provider) {
  bool fits = false;
  MeshCache cache(p, provider);
  std::optional<Layout> last;
  forEachMesh(p, p.fixed, [&](const Layout &mesh) {
    if (last && sameButMicroBatch(*last, mesh) &&
        last->microBatch < mesh.microBatch)
      return true;
    InnerChoices choices = innerChoices(p, p.fixed, mesh);
    if (choices.count() == 0)
      return true;
    last = mesh;
    if (!choices.recompute.empty())
      choices.recompute.assign(1, choices.recompute.back());
    auto whole = [&](InnerChoices::Sharding s) {
      return s.zero == 3 && (s.group == 0 || s.group == mesh.dp);
    };
    if (llvm::any_of(choices.shardings, whole))
      llvm::erase_if(choices.shardings, [&](InnerChoices::Sharding s) {
        return s.zero == 3 && !whole(s);
      });
    dropTooLarge(p, mesh, choices);
    // Sharded most comes first.
    std::reverse(choices.shardings.begin(), choices.shardings.end());
    forEachFamily(cache, choices, mesh, [&](const Layout &l) {
      fits = memoryUse(cache.features(l), l, p.workload, p.model.cluster)
                 .total() <= p.memoryLimit;
      return !fits;
    });
    return !fits;
  });
  return fits;
}
