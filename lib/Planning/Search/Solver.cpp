//===- Solver.cpp - branch and bound over layouts -------------------------===//
//
// One queue ordered by bound (best first, as A* does it): a mesh, bounded from
// shared block times, is replaced by its layouts with bounds of their own; a
// layout is asked for its memory, and if it fits for its timeline. So no
// timeline is played whose bound exceeds the last place of the final table. The
// search is closed when the next bound reaches that place (docs/planning.md).
//
//===----------------------------------------------------------------------===//
#include "Solver.h"
#include "Expansion.h"
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

/// A mesh whose bound is another problem's, a mesh to be expanded, or a layout
/// to be evaluated.
struct Node {
  enum Kind : uint8_t { Known, Mesh, Leaf };
  double bound;
  Kind kind;
  Layout layout;
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
      Node node = std::move(const_cast<Node &>(queue.top()));
      queue.pop();
      if (node.bound * (1 - kRounding) >= ranking.threshold())
        break;
      if (o.timeLimit > 0 && elapsed() > o.timeLimit) {
        open = node.bound;
        break;
      }
      switch (node.kind) {
      case Node::Known: {
        InnerChoices choices = innerChoices(p, p.fixed, node.layout);
        double bound = cache.bound(node.layout, choices);
        queue.push({std::max(bound, node.bound), Node::Mesh, node.layout});
        break;
      }
      case Node::Mesh:
        expand(node.layout);
        break;
      case Node::Leaf:
        evaluateLayout(node.layout);
        break;
      }
    }
    PlanResult result;
    result.ranked = std::move(ranking.ranked);
    result.meshes = std::move(meshes);
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

  void boundMeshes() {
    std::vector<Node> nodes;
    if (o.known) {
      for (const BoundedMesh &m : *o.known)
        nodes.push_back({m.bound, Node::Known, m.mesh});
      queue = Queue(Later(), std::move(nodes));
      return;
    }
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      if (choices.count() == 0)
        return true;
      ++certificate.meshes;
      certificate.space += double(choices.count());
      if (stateBound(p, mesh) > p.memoryLimit) {
        ++certificate.stateCut;
        return true;
      }
      ++certificate.bounded;
      nodes.push_back({cache.bound(mesh, choices), Node::Mesh, mesh});
      meshes.push_back({nodes.back().bound, mesh});
      return true;
    });
    queue = Queue(Later(), std::move(nodes));
  }

  void expand(const Layout &mesh) {
    ++certificate.expanded;
    InnerChoices choices = innerChoices(p, p.fixed, mesh);
    forEachLayout(cache, choices, mesh, [&](const Layout &l) {
      double bound = layoutBound(cache.times(l), cache.features(l), l, p);
      if (bound * (1 - kRounding) >= ranking.threshold())
        ++certificate.boundCut;
      else
        queue.push({bound, Node::Leaf, l});
      return true;
    });
  }

  void evaluateLayout(const Layout &l) {
    MemoryUse memory =
        memoryUse(cache.features(l), l, p.workload, p.model.cluster);
    if (memory.total() > p.memoryLimit) {
      ++certificate.memoryCut;
      if (!nearest || memory.total() < nearest->second.total())
        nearest = {l, memory};
      return;
    }
    ++certificate.evaluated;
    StepTime step = stepTime(provider.features(l), l, p.workload, p.model);
    ranking.insert({l, std::move(step), memory});
  }

  using Queue = std::priority_queue<Node, std::vector<Node>, Later>;

  const PlanProblem &p;
  const FeatureProvider &provider;
  const SolverOptions &o;
  Ranking ranking;
  MeshCache cache;
  Queue queue;
  std::vector<BoundedMesh> meshes;
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

bool tessera::fitsAtAll(const PlanProblem &p, const FeatureProvider &provider) {
  bool fits = false;
  MeshCache cache(p, provider);
  forEachMesh(p, p.fixed, [&](const Layout &mesh) {
    if (stateBound(p, mesh) > p.memoryLimit)
      return true;
    forEachLayout(
        cache, innerChoices(p, p.fixed, mesh), mesh, [&](const Layout &l) {
          fits = memoryUse(cache.features(l), l, p.workload, p.model.cluster)
                     .total() <= p.memoryLimit;
          return !fits;
        });
    return !fits;
  });
  return fits;
}
