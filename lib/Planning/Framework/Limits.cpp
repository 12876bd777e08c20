//===- Limits.cpp - what frameworks cannot run, in words ------------------===//
#include "Names.h"

using namespace llvm;
using namespace tessera;

std::string tessera::describe(ArrayRef<Obstacle> obstacles) {
  std::string text;
  for (const Obstacle &o : obstacles)
    text += (text.empty() ? "" : "; ") + o.wanted + " (" + o.reason +
            "; nearest: " + o.nearest + ")";
  return text;
}

std::vector<std::string> tessera::limitsOf(const Framework &f, bool experts) {
  std::vector<std::string> out;
  auto zero = [&](ValueSet set, StringRef beside) {
    std::vector<std::string> missing = numbersOf(set, 4, /*members=*/false);
    if (!missing.empty())
      out.push_back("ZeRO " + listed(missing) + beside.str());
  };
  bool alike = !f.stages || f.zero == f.zeroStaged;
  zero(f.zero, alike ? "" : " without pipeline stages");
  if (!alike)
    zero(f.zeroStaged, " with pipeline stages");
  zero(f.zeroSplit, " with tp or cp");
  if (experts)
    zero(f.zeroExperts, " with ep");
  if (!in(f.groups, 3))
    out.push_back("sharding inside groups of dp");
  if (!f.tensor)
    out.push_back("tp");
  else if (f.sequence != Framework::Sequence::Free)
    out.push_back(f.sequence == Framework::Sequence::Never ? "sp"
                                                           : "tp without sp");
  auto without = [&](ValueSet set, std::vector<std::string> names,
                     StringRef what) {
    if (!names.empty() && set)
      out.push_back((what + " " + listed(names)).str());
  };
  if (!f.contexts)
    out.push_back("cp");
  without(f.contexts, namesOf<ContextKind>(~f.contexts, 3), "cp-kind");
  if (!f.stages)
    out.push_back("pp");
  if (f.stages && !f.virtualStages)
    out.push_back("vpp");
  if (f.stages) {
    ValueSet missing = ~f.schedules;
    if (!f.virtualStages) // said already
      missing &= ~only(ScheduleKind::Interleaved);
    without(f.schedules, namesOf<ScheduleKind>(missing, 4), "schedule");
    if (f.zeroBubbleVirtual && in(f.schedules, ScheduleKind::ZeroBubble))
      out.push_back("schedule zero-bubble with vpp=1");
    if (f.partition != Framework::Partition::Free)
      out.push_back("uneven stages");
  }
  if (experts) {
    if (!f.experts)
      out.push_back("ep");
    else
      without(f.dispatchers, namesOf<DispatcherKind>(~f.dispatchers, 3),
              "dispatcher");
    if (f.expertSplit == Framework::ExpertSplit::Whole)
      out.push_back("etp");
    else if (f.expertSplit == Framework::ExpertSplit::WholeOrTensor)
      out.push_back("etp other than 1 and tp");
    else if (f.expertSplit == Framework::ExpertSplit::Tensor)
      out.push_back("etp other than tp");
  }
  if (f.tensor && f.tensorOverlap != Framework::Overlap::Free &&
      f.sequence != Framework::Sequence::Always)
    out.push_back(f.tensorOverlap == Framework::Overlap::Never
                      ? "tp overlapped"
                      : "tp overlapped without sp");
  without(f.recompute, namesOf<RecomputeKind>(~f.recompute, 3), "recompute");
  if (f.layers != Framework::Layers::First)
    out.push_back(f.layers == Framework::Layers::All
                      ? "recompute-layers"
                      : "recompute-layers but each n-th");
  return out;
}
