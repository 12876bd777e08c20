//===- Studies.h - questions around a plan --------------------------------===//
//
// Each is a handful of further searches, started from what is known already.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_STUDIES_H
#define TESSERA_LIB_PLANNING_SEARCH_STUDIES_H

#include "Solver.h"

namespace tessera {

enum class Objective : uint8_t { StepTime, TokensPerGPU, Cost, Energy };
llvm::StringRef nameOf(Objective objective);
llvm::Expected<Objective> parseObjective(llvm::StringRef name);

/// What if something about the cluster or the data were different?
struct Sensitivity {
  std::string question; ///< "network half as fast"
  /// The plan as it is, under the change; 0 where it no longer fits.
  double planned = 0;
  /// What it needs under the change, in bytes.
  double plannedBytes = 0;
  /// For routing: the largest load over the mean under which it fits; 0: not
  /// asked.
  double largestSkew = 0;
  /// The best plan under the change; none where nothing fits.
  std::optional<Candidate> best;
  bool sameLayout = false;
};
/// Network half as fast; with experts, the worst routing that can occur.
std::vector<Sensitivity> sensitivity(const PlanProblem &problem,
                                     const PlanResult &result);

/// What the limits of the stack cost on the meshes of the table: the best
/// layout without them, and what of it the stack cannot run.
struct BeyondStack {
  std::optional<Candidate> best; ///< none: nothing beyond them is faster
  std::vector<Obstacle> obstacles;
};
/// Nothing where no limits are known.
std::optional<BeyondStack> beyondStack(const PlanProblem &problem,
                                       const PlanResult &result);

/// The front of step time against memory, fastest first: each entry is the
/// fastest layout that needs a tenth less memory than the one before; at most
/// `limit`.
std::vector<Candidate> paretoFront(const PlanProblem &problem,
                                   const Candidate &fastest, int limit = 10);

/// What one choice (or all overlap that the software has) would bring, the
/// others kept but for what it forces.
struct Change {
  std::string what; ///< "virtual stages"
  /// The fields of --layout: "tp=4 for tp=8, and so dp=8 for dp=4".
  std::string fields;
  Candidate result;
};
/// How `to` differs from `from`, the field `first` before what it forces.
std::string differenceText(const Layout &from, const Layout &to,
                           llvm::StringRef first);
/// The single changes that make `own` faster (or, where it does not fit, that
/// make it fit), best first, at most `limit`.
std::vector<Change> singleChanges(const PlanProblem &problem,
                                  const Candidate &own, bool fits,
                                  int limit = 3);

struct ClusterChoice {
  int nodes = 0;
  int64_t gpus = 0;
  std::optional<Candidate> best;
  /// What is minimised: seconds, or GPU-seconds for each token.
  double value = 0;
};
/// The best layout for each number of nodes (powers of two and all of them).
std::vector<ClusterChoice> compareSizes(const PlanProblem &problem,
                                        Objective objective);
const ClusterChoice *bestOf(const std::vector<ClusterChoice> &choices);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_STUDIES_H
