//===- Published.h - the question that a published run answers --*- C++ -*-===//
//
// A measured run has a model, a machine, a batch and a layout that somebody
// chose by hand. With the layout taken away it is a planning problem.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_PUBLISHED_H
#define TESSERA_LIB_PLANNING_SEARCH_PUBLISHED_H

#include "Solver.h"
#include "lib/Planning/Validate/Case.h"

namespace tessera {

/// The problem of a run: its shape, machine, workload, number formats and
/// software, nothing fixed, all of the chip's memory for what must be there.
PlanProblem
publishedProblem(const Case &run,
                 const CostConstants &constants = defaultConstants());

/// How the best layout compares with the one that was run.
struct PublishedComparison {
  Layout own;
  double ownSeconds = 0, ownBytes = 0;
  /// The published layout is predicted not to fit, although it ran: the
  /// search was given the memory that it is predicted to need.
  bool raisedLimit = false;
  /// Why the published layout lies outside the rules of the space; "" if not.
  std::string outside;
  /// What the table of frameworks denies the run's software of it. The run
  /// shows that the table is wrong.
  std::string denied;
  /// Fastest layout; absent where nothing was found.
  std::optional<Candidate> best;
  double gap = 0;

  bool noSlower() const {
    return best && best->step.seconds <= ownSeconds * (1 + 1e-9);
  }
};
PublishedComparison
comparePublished(const Case &run,
                 const CostConstants &constants = defaultConstants());

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_PUBLISHED_H
