//===- Breakdown.cpp - where a step's time and a rank's memory go ---------===//
#include "Breakdown.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

std::vector<Share> tessera::timeShares(const StepTime &s) {
  std::vector<Share> out = {{"compute", s.compute}};
  out.push_back({"recomputation", s.recompute});
  for (int i = 0; i < kNumParallelAxes; ++i)
    out.push_back(
        {(nameOf(static_cast<ParallelAxis>(i)) + " communication").str(),
         s.exposed[i]});
  out.push_back({"pipeline bubble", s.bubble});
  out.push_back({"host", s.host});
  out.push_back({"optimizer", s.optimizer});
  out.push_back({"overhead", s.overhead});
  return out;
}

std::vector<Share> tessera::memoryShares(const MemoryUse &m) {
  return {{"weights", m.weights},       {"gradients", m.gradients},
          {"optimizer", m.optimizer},   {"activations", m.activations},
          {"temporaries", m.transient}, {"nccl buffers", m.communication},
          {"cuda context", m.context}};
}

std::string tessera::losses(const StepTime &a, const StepTime &b) {
  std::vector<Share> more = timeShares(a), base = timeShares(b);
  for (size_t i = 0; i < more.size(); ++i)
    more[i].value -= base[i].value;
  llvm::sort(more,
             [](const Share &x, const Share &y) { return x.value > y.value; });
  std::string text;
  double gap = a.seconds - b.seconds;
  for (const Share &s : more) {
    if (s.value <= 0.05 * std::max(gap, 0.0) || s.value <= 0)
      break;
    text +=
        (text.empty() ? "" : ", ") + s.name + " +" + formatDuration(s.value);
    if (llvm::count(text, ',') == 2)
      break;
  }
  return text;
}

double tessera::tokensPerSecond(const Candidate &c, const PlanProblem &p) {
  return double(p.workload.globalBatch) * double(p.workload.sequence) /
         c.step.seconds;
}

/// See effortFor.
static constexpr double kPUE = 1.1;

Effort tessera::effortFor(double tokens, const Candidate &c,
                          const PlanProblem &p, int64_t gpus) {
  Effort e;
  e.seconds = tokens / tokensPerSecond(c, p);
  e.gpuHours = double(gpus) * e.seconds / 3600;
  e.megawattHours = e.gpuHours * p.model.cluster.chip.powerWatts * kPUE / 1e6;
  return e;
}

/// FLOPs of the products in a forward pass over one sequence, by the model's
/// graph.
static double graphFlops(const PlanProblem &p) {
  ModelFeatures features = p.source->features(
      Layout(), {p.workload.sequence, p.model.traits, Precision()});
  double forward = 0;
  for (const BlockCall &call : features.calls)
    for (const OpFeature &op : features.blocks[call.block].ops)
      forward += call.count * double(op.forward.matmulFlops);
  return forward;
}

Utilisation tessera::utilisationOf(const Candidate &c, const PlanProblem &p) {
  double n = double(p.shape.activeParameters()) -
             (p.shape.tied ? 0.0 : double(p.shape.vocab) * p.shape.hidden);
  double sequence = double(p.workload.sequence);
  double ofOne =
      tokensPerSecond(c, p) /
      (p.model.cluster.chip.peak(p.precision.linear) * double(p.gpus()));
  return {conventionalFlops(p.shape, 1, {}) / sequence * ofOne,
          3 * graphFlops(p) / sequence * ofOne, 6 * n * ofOne};
}

std::string tessera::throughputText(const Candidate &c, const PlanProblem &p) {
  Utilisation u = utilisationOf(c, p);
  return formatNumber(tokensPerSecond(c, p) / double(p.gpus()), 0) +
         " tokens/s/GPU, MFU " + formatPercent(u.full) + " (" +
         formatPercent(u.causal) + " with attention as it is masked, " +
         formatPercent(u.sixN) + " by 6 N alone)";
}

json::Object tessera::sharesJson(const std::vector<Share> &shares) {
  json::Object o;
  for (const Share &s : shares) {
    std::string key = s.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    o[key] = s.value;
  }
  return o;
}

json::Object tessera::toJson(const Candidate &c, const PlanProblem &p) {
  double tokens = tokensPerSecond(c, p);
  Utilisation u = utilisationOf(c, p);
  return json::Object{
      {"layout", toJson(c.layout)},
      {"layout_text", c.layout.str()},
      {"step_seconds", c.step.seconds},
      {"tokens_per_second", tokens},
      {"tokens_per_second_per_gpu", tokens / double(p.gpus())},
      {"mfu", u.full},
      {"mfu_causal", u.causal},
      {"mfu_6n", u.sixN},
      {"time", sharesJson(timeShares(c.step))},
      {"memory_bytes", c.memory.needed()},
      {"memory", sharesJson(memoryShares(c.memory))},
      {"memory_kept_free_bytes", c.memory.reserve + p.memoryMargin},
      {"fullest_stage", c.memory.stage},
  };
}

json::Object tessera::toJson(const Certificate &c) {
  return json::Object{{"space", c.space},
                      {"meshes", c.meshes},
                      {"state_cut", c.stateCut},
                      {"bounded", c.bounded},
                      {"expanded", c.expanded},
                      {"memory_cut", c.memoryCut},
                      {"bound_cut", c.boundCut},
                      {"dominated", c.dominated},
                      {"evaluated", c.evaluated},
                      {"lower_bound_seconds", c.bound},
                      {"gap", c.gap},
                      {"search_seconds", c.seconds}};
}
