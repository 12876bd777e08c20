//===- Solver.h - the best layouts, with a certificate --------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_SOLVER_H
#define TESSERA_LIB_PLANNING_SEARCH_SOLVER_H

#include "Provider.h"
#include "Space.h"
#include <deque>

namespace tessera {

/// A layout with what the models say of it.
struct Candidate {
  Layout layout;
  StepTime step;
  MemoryUse memory;
};

/// A mesh and a time that none of its layouts with the plainest dispatcher and
/// neither gradients nor parameters sharded beats, or (others) none of the
/// rest.
struct BoundedMesh {
  double bound;
  size_t mesh; ///< index into MeshBounds::meshes
  bool others;
};
struct MeshBounds {
  std::deque<Layout> meshes;
  std::vector<BoundedMesh> bounds;
};

/// What makes an answer the best one in the modelled space.
struct Certificate {
  double space = 0;      ///< legal layouts, memory not asked
  int64_t meshes = 0;    ///< outer combinations
  int64_t stateCut = 0;  ///< of them: what no layout can avoid does not fit
  int64_t bounded = 0;   ///< of them: got a bound
  int64_t expanded = 0;  ///< of them: inner choices looked at
  int64_t memoryCut = 0; ///< layouts that do not fit
  int64_t boundCut = 0;  ///< layouts whose own bound was too high
  int64_t dominated = 0; ///< layouts that recompute more than one that fits
  int64_t evaluated = 0; ///< layouts with a full timeline
  /// No layout outside the table is faster than this many seconds.
  double bound = 0;
  /// (best - bound) / best; 0 when the search is closed.
  double gap = 0;
  double seconds = 0; ///< that the search took
};

struct SolverOptions {
  /// Meshes (dp, tp, cp, pp, ep, etp) to rank, the best layout of each.
  int top = 1;
  /// Seconds after which the search stops with a gap; 0: never.
  double timeLimit = 0;
  /// Only layouts faster than this are of interest (0: all); lets a search
  /// start from what is known.
  double incumbent = 0;
  /// The bounded meshes of a problem that differs in nothing but a faster
  /// network; they are bounded again only when their turn comes.
  const MeshBounds *known = nullptr;
};

struct PlanResult {
  /// Fastest first, one for each mesh; empty where nothing fits.
  std::vector<Candidate> ranked;
  Certificate certificate;
  MeshBounds bounds;
  /// Where nothing fits: the layout that comes nearest and what it needs.
  std::optional<std::pair<Layout, MemoryUse>> nearest;
};

/// Branch and bound over the space of Space.h. The problem has passed check().
PlanResult solve(const PlanProblem &problem, const FeatureProvider &provider,
                 const SolverOptions &options);

/// The same answer from every layout, one by one; for tests and small spaces.
PlanResult solveExhaustively(const PlanProblem &problem,
                             const FeatureProvider &provider, int top);

/// Does any layout fit? Stops at the first.
bool fitsAtAll(const PlanProblem &problem, const FeatureProvider &provider);

Candidate evaluate(const PlanProblem &problem, const FeatureProvider &provider,
                   const Layout &layout);

bool sameMesh(const Layout &a, const Layout &b);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_SOLVER_H
