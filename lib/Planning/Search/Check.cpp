//===- Check.cpp - is the question legal ----------------------------------===//
//
// Contradictions are found by asking the space itself: a constraint that leaves
// no layout alone cannot hold; two that leave none together contradict each
// other. So every rule of verify() is covered without a second list of rules.
//
//===----------------------------------------------------------------------===//
#include "Legal.h"
#include "Space.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

static bool hasLayout(const PlanProblem &p, const FixedChoices &fixed) {
  bool found = false;
  forEachMesh(p, fixed, [&](const Layout &mesh) {
    found = innerChoices(p, fixed, mesh).count() > 0;
    return !found;
  });
  return found;
}

/// What the stack has against these choices; "" where they are not possible
/// without it either.
static std::string stackAgainst(const PlanProblem &p,
                                const FixedChoices &fixed) {
  if (!p.framework)
    return "";
  PlanProblem open = p;
  open.framework = nullptr;
  std::vector<Obstacle> obstacles;
  forEachMesh(open, fixed, [&](const Layout &mesh) {
    InnerChoices c = innerChoices(open, fixed, mesh);
    if (c.count() == 0)
      return true;
    Layout l = mesh;
    l.zeroStage = c.shardings.front().zero;
    l.shardGroup = c.shardings.front().group;
    l.recompute = c.recompute.back();
    l.recomputeLayers = int(std::max<int64_t>(c.partialFixed, 0));
    l.vpp = c.schedules.front().vpp;
    l.schedule = c.schedules.front().schedule;
    l.dispatcher = c.dispatchers.front();
    obstacles =
        obstaclesOf(*p.framework, p.withSwitches(l), p.frameworkModel());
    return obstacles.empty();
  });
  return describe(obstacles);
}

/// Why a plain layout with these choices is illegal; "" where it is not.
static std::string reasonAgainst(const PlanProblem &p,
                                 const FixedChoices &fixed) {
  Expected<Layout> layout = layoutFrom(fixed, p.gpus());
  if (!layout)
    return toString(layout.takeError());
  // What goes without saying beside a choice is not what is wrong with it.
  if (layout->recomputeLayers > 0 && !fixed.get(Choice::Recompute))
    layout->recompute = RecomputeKind::Full;
  if (layout->shardGroup > 0 && !fixed.get(Choice::Zero))
    layout->zeroStage = 3;
  if (!fixed.get(Choice::SequenceParallel))
    layout->sequenceParallel = p.shape.experts && layout->tp > 1;
  std::string why;
  isLegal(p, *layout, &why);
  return why;
}

static Error noLayout(const PlanProblem &p, const FixedChoices &fixed,
                      StringRef names, StringRef what) {
  std::string why = stackAgainst(p, fixed);
  if (why.empty())
    why = reasonAgainst(p, fixed);
  else
    what = what == "is not possible here" ? "is not possible with this stack"
                                          : what;
  return makeError(names + " " + what + (why.empty() ? "" : ": " + why));
}

static Error contradiction(const PlanProblem &p) {
  SmallVector<Choice> set;
  std::string all;
  for (int i = 0; i < kNumChoices; ++i)
    if (p.fixed.values[i]) {
      set.push_back(static_cast<Choice>(i));
      all += (all.empty() ? "" : ", ") +
             formatChoice(set.back(), *p.fixed.values[i]);
    }
  auto named = [&](Choice c) { return formatChoice(c, *p.fixed.get(c)); };
  for (Choice c : set) {
    FixedChoices one;
    one.set(c, *p.fixed.get(c));
    if (!hasLayout(p, one))
      return noLayout(p, one, named(c), "is not possible here");
  }
  for (size_t i = 0; i < set.size(); ++i)
    for (size_t j = i + 1; j < set.size(); ++j) {
      FixedChoices two;
      two.set(set[i], *p.fixed.get(set[i]));
      two.set(set[j], *p.fixed.get(set[j]));
      if (!hasLayout(p, two))
        return noLayout(p, two, named(set[i]) + " and " + named(set[j]),
                        "contradict each other");
    }
  return noLayout(p, p.fixed, all, "cannot hold together");
}

Error PlanProblem::checkSizes() const {
  auto range = [](StringRef what, int64_t value, int64_t most) -> Error {
    if (value < 1)
      return makeError(what + " must be at least 1, got " + Twine(value));
    if (value > most)
      return makeError(what + " must be at most " + Twine(most) + ", got " +
                       Twine(value));
    return Error::success();
  };
  if (Error e = range("the sequence", workload.sequence, kLongestSequence))
    return e;
  if (Error e = range("the global batch", workload.globalBatch, kLargestBatch))
    return e;
  if (Error e = range("the number of layers", shape.layers, kMostLayers))
    return e;
  return Error::success();
}

Error PlanProblem::check() const {
  if (Error e = checkSizes())
    return e;
  if (positions > 0 && shape.learnedPositions && workload.sequence > positions)
    return makeError("a sequence of " + Twine(workload.sequence) +
                     " is longer than the " + Twine(positions) +
                     " positions that the model has learned");
  if (!(expertSkew >= 1.0))
    return makeError("the expert load skew is the fullest rank's load over "
                     "the mean, so at least 1; got " +
                     formatNumber(expertSkew, 3));
  if (expertSkew > 1.0 && !shape.experts)
    return makeError("an expert load skew is given, but the model has no "
                     "experts");
  // A token's choices are distinct, so no expert gets more than every token.
  if (shape.experts &&
      expertSkew * double(shape.topk) > double(shape.experts) * (1 + 1e-9))
    return makeError(
        "an expert load skew of " + formatNumber(expertSkew, 3) +
        " is not possible: with " + Twine(shape.topk) + " of " +
        Twine(shape.experts) +
        " experts for each token no rank gets more than " +
        formatNumber(double(shape.experts) / double(shape.topk), 3) +
        " times the mean");
  if (!(memoryLimit > 0))
    return makeError("the memory limit must be positive, got " +
                     formatBytes(memoryLimit));
  if (memoryLimit > model.cluster.chip.memoryBytes)
    return makeError("the memory limit of " + formatBytes(memoryLimit) +
                     " is more than the " +
                     formatBytes(model.cluster.chip.memoryBytes) + " of " +
                     model.cluster.chip.name);
  if (hasLayout(*this, fixed))
    return Error::success();
  if (!hasLayout(*this, FixedChoices())) {
    PlanProblem open = *this;
    open.framework = nullptr;
    if (framework && hasLayout(open, FixedChoices()))
      return makeError(framework->title + " (--stack " + stack +
                       ") has no layout for " + Twine(gpus()) +
                       " GPUs and a global batch of " +
                       Twine(workload.globalBatch) + "; it cannot run " +
                       join(limitsOf(*framework, shape.experts > 0), ", "));
    return makeError("no layout spreads " + Twine(shape.layers) + " layers, " +
                     Twine(shape.heads) + " heads and a global batch of " +
                     Twine(workload.globalBatch) + " over exactly " +
                     Twine(gpus()) +
                     " GPUs; choose a global batch that is a multiple of " +
                     Twine(gpus()) + ", or another number of GPUs");
  }
  return contradiction(*this);
}
