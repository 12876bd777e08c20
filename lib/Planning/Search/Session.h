//===- Session.h - from a user's texts to a checked problem ---------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_SESSION_H
#define TESSERA_LIB_PLANNING_SEARCH_SESSION_H

#include "Solver.h"
#include "tessera/Planning/Plan.h"

namespace tessera {

struct PlanSession {
  PlanProblem problem;
  ModelConfig config;
  /// Model and cluster as the user wrote them, for commands to go on with.
  std::string modelText, clusterText;
  /// What was assumed because the user said nothing, and what the models do
  /// not cover of what was asked; one line each.
  std::vector<std::string> assumptions;
  /// Sequence and batch that were said, and where.
  std::vector<std::string> given;
};

/// Reads model and cluster, fills defaults, checks the problem.
llvm::Expected<PlanSession> makeSession(const PlanInput &input);

/// The message for a model that no layout of the cluster can hold: what is
/// short, the smallest cluster of the chip that can, and what else would help.
std::string explainNoFit(const PlanProblem &problem, const PlanResult &result);

/// The smallest cluster of the chip that holds the model, larger than the
/// problem's and of at most `limit` nodes.
std::optional<Cluster> smallestCluster(const PlanProblem &problem, int limit);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_SESSION_H
