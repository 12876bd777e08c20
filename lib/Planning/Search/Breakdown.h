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
/// context; they add up to what is needed.
std::vector<Share> memoryShares(const MemoryUse &memory);

/// "pipeline bubble +410 ms, recomputation +220 ms": on what `a` spends more
/// than `b`, largest first.
std::string losses(const StepTime &a, const StepTime &b);

/// Tokens per second of all GPUs.
double tokensPerSecond(const Candidate &c, const PlanProblem &p);
/// Model FLOPs over the peak of all GPUs for the layers' number format, in
/// three conventions; none counts recomputation, experts are as they are
/// active.
struct Utilisation {
  /// "MFU": 6 N and attention over all positions, causal or not (PaLM, arXiv
  /// 2204.02311, appendix B; Megatron-LM, arXiv 2104.04473, section 5).
  double full = 0;
  /// Attention over the positions that masks and windows show.
  double causal = 0;
  /// 6 N alone, without the input embedding.
  double sixN = 0;
};
Utilisation utilisationOf(const Candidate &c, const PlanProblem &p);
/// "1184 tokens/s/GPU, MFU 40.1 % (38.9 % with causal attention, 37.6 % by 6 N
/// alone)"
std::string throughputText(const Candidate &c, const PlanProblem &p);

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
