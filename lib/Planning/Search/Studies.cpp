//===- Studies.cpp - sensitivity, Pareto front, cluster sizes -------------===//
//
// The front is found by the epsilon-constraint method (Haimes et al. 1971):
// search again with a memory limit a tenth below what the last answer uses;
// every point is then proven to be the fastest within its memory.
//
//===----------------------------------------------------------------------===//
#include "Studies.h"
#include "Breakdown.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// Each point of the front needs at least this much less than the one before.
static constexpr double kStepDown = 0.9;

static const StringRef kObjectives[] = {"step-time", "tokens-per-gpu", "cost",
                                        "energy"};

StringRef tessera::nameOf(Objective objective) {
  return kObjectives[static_cast<int>(objective)];
}

Expected<Objective> tessera::parseObjective(StringRef name) {
  for (size_t i = 0; i < std::size(kObjectives); ++i)
    if (name == kObjectives[i])
      return static_cast<Objective>(i);
  return makeError("--objective: expected step-time, tokens-per-gpu, cost or "
                   "energy, got '" +
                   name + "'" + didYouMean(name, kObjectives));
}

static Sensitivity ask(std::string question, const PlanProblem &changed,
                       const PlanResult &before) {
  const Layout &planned = before.ranked.front().layout;
  Sensitivity s;
  s.question = std::move(question);
  ModelProvider provider(changed);
  Candidate as = evaluate(changed, provider, planned);
  s.plannedBytes = as.memory.needed();
  if (as.memory.total() <= changed.memoryLimit) {
    s.planned = as.step.seconds;
    s.best = std::move(as);
  }
  for (const Candidate &other : llvm::drop_begin(before.ranked)) {
    Candidate c = evaluate(changed, provider, other.layout);
    if (c.memory.total() <= changed.memoryLimit &&
        (!s.best || c.step.seconds < s.best->step.seconds))
      s.best = std::move(c);
  }
  // Nothing slower than the best of the table is of interest.
  SolverOptions options;
  options.known = &before.bounds;
  if (s.best)
    options.incumbent = s.best->step.seconds;
  PlanResult result = solve(changed, provider, options);
  if (!result.ranked.empty())
    s.best = std::move(result.ranked.front());
  s.sameLayout = s.best && s.best->layout == planned;
  return s;
}

/// The largest expert load under which `layout` fits, below `tooMuch`.
static double largestSkew(const PlanProblem &p, const Layout &layout,
                          double tooMuch) {
  double low = p.expertSkew, high = tooMuch;
  while (high - low > 0.01) {
    PlanProblem q = p;
    q.expertSkew = 0.5 * (low + high);
    MemoryUse use = memoryUse(ModelProvider(q).features(layout), layout,
                              q.workload, q.model.cluster);
    (use.total() <= p.memoryLimit ? low : high) = q.expertSkew;
  }
  return low;
}

std::vector<Sensitivity> tessera::sensitivity(const PlanProblem &p,
                                              const PlanResult &result) {
  std::vector<Sensitivity> out;
  const Candidate &best = result.ranked.front();
  if (p.model.cluster.numGPUs() > p.model.cluster.domainSize()) {
    PlanProblem slow = p;
    slow.model.cluster.network.nicBandwidth *= 0.5;
    out.push_back(ask("network half as fast", slow, result));
  }
  double worst = worstExpertSkew(p.shape, best.layout);
  if (worst > p.expertSkew) {
    PlanProblem skewed = p;
    skewed.expertSkew = worst;
    Sensitivity s;
    s.question = "worst routing (" + formatNumber(worst, 1) +
                 " times the mean load on one rank)";
    Candidate as = evaluate(skewed, ModelProvider(skewed), best.layout);
    s.plannedBytes = as.memory.needed();
    if (as.memory.total() <= p.memoryLimit)
      s.planned = as.step.seconds;
    else
      s.largestSkew = largestSkew(p, best.layout, worst);
    out.push_back(std::move(s));
  }
  return out;
}

std::optional<BeyondStack> tessera::beyondStack(const PlanProblem &problem,
                                                const PlanResult &result) {
  if (!problem.framework)
    return std::nullopt;
  // Overlap is a matter of how a framework is built, not one of its choices.
  Framework everything;
  everything.tensorOverlap = problem.framework->tensorOverlap;
  PlanProblem open = problem;
  open.framework = &everything;
  SolverOptions options;
  options.top = 1;
  options.incumbent = result.ranked.front().step.seconds * (1 - 1e-3);
  BeyondStack beyond;
  for (const Candidate &c : result.ranked) {
    for (Choice choice : {Choice::DP, Choice::TP, Choice::CP, Choice::PP,
                          Choice::EP, Choice::ETP})
      open.fixed.set(choice, valueOf(c.layout, choice));
    PlanResult more = solve(open, ModelProvider(open), options);
    if (more.ranked.empty())
      continue;
    beyond.best = std::move(more.ranked.front());
    options.incumbent = beyond.best->step.seconds;
  }
  if (beyond.best)
    beyond.obstacles = obstaclesOf(*problem.framework, beyond.best->layout,
                                   problem.frameworkModel());
  return beyond;
}

std::vector<Candidate> tessera::paretoFront(const PlanProblem &problem,
                                            const Candidate &fastest,
                                            int limit) {
  std::vector<Candidate> front = {fastest};
  ModelProvider provider(problem);
  while (static_cast<int>(front.size()) < limit) {
    PlanProblem p = problem;
    p.memoryLimit = front.back().memory.total() * kStepDown;
    PlanResult next = solve(p, provider, {});
    if (next.ranked.empty())
      break;
    front.push_back(std::move(next.ranked.front()));
  }
  return front;
}

std::vector<ClusterChoice> tessera::compareSizes(const PlanProblem &problem,
                                                 Objective objective) {
  std::vector<ClusterChoice> out;
  int all = problem.model.cluster.nodes;
  for (int nodes = 1;; nodes = std::min(2 * nodes, all)) {
    PlanProblem p = problem;
    p.model.cluster = withNodes(problem.model.cluster, nodes);
    ClusterChoice c;
    c.nodes = nodes;
    c.gpus = p.gpus();
    if (!errorToBool(p.check())) {
      PlanResult r = solve(p, ModelProvider(p), {});
      if (!r.ranked.empty()) {
        c.best = std::move(r.ranked.front());
        // Price and power of a GPU are the same for every number of them.
        c.value = objective == Objective::StepTime
                      ? c.best->step.seconds
                      : double(c.gpus) / tokensPerSecond(*c.best, p);
      }
    }
    out.push_back(std::move(c));
    if (nodes == all)
      break;
  }
  return out;
}

const ClusterChoice *tessera::bestOf(const std::vector<ClusterChoice> &list) {
  const ClusterChoice *best = nullptr;
  for (const ClusterChoice &c : list)
    if (c.best && (!best || c.value < best->value))
      best = &c;
  return best;
}
