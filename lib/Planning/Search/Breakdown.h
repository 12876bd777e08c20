//===- Breakdown.h - where a step's time and a rank's memory go -----------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_BREAKDOWN_H
#define TESSERA_LIB_PLANNING_SEARCH_BREAKDOWN_H

#include "Solver.h"

namespace tessera {

struct Share {
  std::string name;
  double value; ///< seconds or bytes
};

/// compute, recompute, exposed communication by axis, bubble, host, optimizer,
/// overhead; they add up to the step.
std::vector<Share> timeShares(const StepTime &step);
/// weights, gradients, optimizer, activations, transient, communication,
/// context, reserve; they add up to the total.
std::vector<Share> memoryShares(const MemoryUse &memory);

/// "pipeline bubble +410 ms, recomputation +220 ms": on what `a` spends more
/// than `b`, largest first.
std::string losses(const StepTime &a, const StepTime &b);

/// Tokens per second of all GPUs.
double tokensPerSecond(const Candidate &c, const PlanProblem &p);
/// 6 N per token over the peak of all GPUs for the layers' number format; N
/// without the input embedding, experts as they are active.
double modelFlopsUtilisation(const Candidate &c, const PlanProblem &p);

/// What training on `tokens` tokens takes on `gpus` GPUs of the problem's chip.
/// Energy is that of the GPUs at full
/// power times the PUE of the data centre in arXiv 2302.13971, section 6.
struct Effort {
  double seconds = 0, gpuHours = 0, megawattHours = 0;
};
Effort effortFor(double tokens, const Candidate &c, const PlanProblem &p,
                 int64_t gpus);

/// {"pipeline_bubble": 0.41, ...}
llvm::json::Object sharesJson(const std::vector<Share> &shares);
llvm::json::Object toJson(const Candidate &c, const PlanProblem &p);
llvm::json::Object toJson(const Certificate &c);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_BREAKDOWN_H
