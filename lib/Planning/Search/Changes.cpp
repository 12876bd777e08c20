//===- Changes.cpp - what one choice alone would bring --------------------===//
//
// Each choice of a layout is tried by itself: the search with all others fixed.
// Axes are traded against dp, one value at a time; other choices then change
// only where the layout is not legal otherwise. Layers stay where they are
// unless their number of chunks changes.
//
//===----------------------------------------------------------------------===//
#include "Studies.h"
#include "lib/Planning/Search/Legal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// `layout` with the overlap switches of `switches`.
static Layout withSwitchesOf(Layout layout, const Layout &switches) {
  layout.overlapGradients = switches.overlapGradients;
  layout.overlapParameters = switches.overlapParameters;
  layout.overlapTensorParallel = switches.overlapTensorParallel;
  layout.overlapExperts = switches.overlapExperts;
  layout.overlapPipeline = switches.overlapPipeline;
  return layout;
}

static StringRef keyOf(StringRef word) { return word.split('=').first; }

/// The words of a layout that another lacks.
static std::vector<std::string> wordsBeyond(const Layout &layout,
                                            const Layout &other) {
  std::string text = layout.str(), otherText = other.str();
  SmallVector<StringRef> words, others;
  StringRef(text).split(words, ' ');
  StringRef(otherText).split(others, ' ');
  std::vector<std::string> out;
  for (StringRef word : words)
    if (!llvm::is_contained(others, word))
      out.push_back(word.str());
  return out;
}

std::string tessera::differenceText(const Layout &from, const Layout &to,
                                    StringRef first) {
  std::vector<std::string> added = wordsBeyond(to, from),
                           removed = wordsBeyond(from, to);
  std::vector<std::string> parts;
  // What a field that is not written stands for; "" where that says nothing.
  auto usual = [](StringRef key) -> std::string {
    if (llvm::is_contained({"dp", "tp", "cp", "pp", "vpp", "ep", "etp"}, key))
      return (key + "=1").str();
    return key == "zero"        ? "zero=0"
           : key == "recompute" ? "recompute=none"
                                : "";
  };
  auto instead = [](const std::string &now, const std::string &before) {
    return before.empty() ? now : now + " for " + before;
  };
  auto has = [](const std::vector<std::string> &words, StringRef key) {
    return llvm::find_if(
        words, [&](const std::string &word) { return keyOf(word) == key; });
  };
  for (const std::string &word : added) {
    auto old = has(removed, keyOf(word));
    parts.push_back(
        instead(word, old == removed.end() ? usual(keyOf(word)) : *old));
  }
  for (const std::string &word : removed)
    if (has(added, keyOf(word)) == added.end())
      parts.push_back(usual(keyOf(word)).empty()
                          ? "without " + word
                          : instead(usual(keyOf(word)), word));
  // What was changed first, what had to follow behind it.
  auto isFirst = [&](const std::string &part) {
    StringRef text = part;
    text.consume_front("without ");
    return keyOf(text.split(' ').first) == first;
  };
  // At most one names it.
  auto changed = find_if(parts, isFirst);
  bool named = changed != parts.end();
  if (named)
    std::rotate(parts.begin(), changed, changed + 1);
  if (!named || parts.size() == 1)
    return join(parts, ", ");
  return parts.front() + ", and so " + join(drop_begin(parts), ", ");
}

namespace {
class SingleChanges {
public:
  SingleChanges(const PlanProblem &problem, const Candidate &own, bool fits)
      : problem(problem), own(own), fits(fits) {
    // Searched under the switches that are off where traits can say so; the
    // answer has all of them in any case.
    narrow = problem;
    narrow.model.traits.overlapTensorParallel &=
        own.layout.overlapTensorParallel;
    narrow.model.traits.overlapGradients &= own.layout.overlapGradients;
  }

  void overlap() {
    Layout overlapped = problem.withSwitches(withSwitchesOf(own.layout, {}));
    overlapped.overlapExperts = own.layout.overlapExperts;
    if (overlapped != own.layout && problem.runs(overlapped))
      keep("overlap", "", overlapped);
  }

  /// The stages' layers divided otherwise.
  void layers() {
    if (std::optional<Layout> found = best(own.layout, {}))
      keep("layers", "layers", *found);
  }

  /// Some choices only make sense together.
  void choice(StringRef what, ArrayRef<Choice> open) {
    if (std::optional<Layout> found = best(own.layout, open))
      keep(what, nameOf(open.front()), withLayersOf(*found));
  }

  /// Every other size of an axis, dp making up for it.
  void axis(Choice which) {
    int64_t ranks = valueOf(own.layout, which) * own.layout.dp;
    std::optional<Layout> found;
    double seconds = 0;
    for (int64_t size = 1; size <= ranks; ++size) {
      if (ranks % size || size == valueOf(own.layout, which) ||
          (which == Choice::PP && size > problem.shape.layers) ||
          (which == Choice::TP &&
           size > std::max(problem.model.cluster.domainSize(),
                           problem.model.cluster.gpusPerNode)))
        continue;
      Layout layout = own.layout;
      setValue(layout, which, size);
      layout.dp = int(ranks / size);
      if (which == Choice::PP)
        layout.chunkLayers.clear();
      std::optional<Layout> legal = nearestLegal(layout);
      if (!legal)
        continue;
      Candidate c = evaluate(problem, ModelProvider(problem), *legal);
      if (isBetter(c) && (!found || c.step.seconds < seconds)) {
        found = *legal;
        seconds = c.step.seconds;
      }
    }
    if (found)
      keep(nameOf(which), nameOf(which), *found);
  }

  std::vector<Change> take(size_t limit) {
    // Equal ones by their texts, so that the order is the same everywhere.
    llvm::sort(out, [](const Change &a, const Change &b) {
      double s = a.result.step.seconds, t = b.result.step.seconds;
      return s != t ? s < t : a.what < b.what;
    });
    if (out.size() > limit)
      out.erase(out.begin() + limit, out.end());
    return std::move(out);
  }

private:
  bool isBetter(const Candidate &c) const {
    return c.memory.total() <= problem.memoryLimit &&
           (!fits || c.step.seconds < own.step.seconds * (1 - 1e-3));
  }

  void keep(StringRef what, StringRef first, const Layout &layout) {
    if (layout == own.layout || llvm::any_of(out, [&](const Change &c) {
          return c.result.layout == layout;
        }))
      return;
    Candidate c = evaluate(problem, ModelProvider(problem), layout);
    if (isBetter(c))
      out.push_back({what.str(), differenceText(own.layout, layout, first),
                     std::move(c)});
  }

  /// The best layout that is as `layout` but for the choices in `open`.
  std::optional<Layout> best(const Layout &layout, ArrayRef<Choice> open) {
    PlanProblem p = narrow;
    for (int i = 0; i < kNumChoices; ++i) {
      auto choice = static_cast<Choice>(i);
      // A number of layers means something else in other chunks.
      bool resized = choice == Choice::RecomputeLayers &&
                     layout.recomputeLayers > 0 &&
                     llvm::is_contained(open, Choice::VPP);
      if (!resized && !llvm::is_contained(open, choice))
        p.fixed.set(choice, valueOf(layout, choice));
    }
    SolverOptions options;
    if (fits)
      options.incumbent = own.step.seconds * (1 - 1e-3);
    PlanResult r = solve(p, ModelProvider(p), options);
    if (r.ranked.empty())
      return std::nullopt;
    // Of the switches those stay on that the software can have on there.
    return problem.withSwitches(
        withSwitchesOf(r.ranked.front().layout, own.layout));
  }

  Layout withLayersOf(Layout layout) const {
    bool sameChunks =
        layout.pp == own.layout.pp && layout.vpp == own.layout.vpp;
    if (sameChunks)
      layout.chunkLayers = own.layout.chunkLayers;
    return layout;
  }

  /// `layout`, with the fewest other choices changed that make it legal.
  std::optional<Layout> nearestLegal(const Layout &layout) {
    const std::vector<Choice> companions[] = {
        {Choice::SequenceParallel},
        {Choice::VPP, Choice::Schedule},
        {Choice::EP, Choice::ETP},
        {Choice::MicroBatch},
        {Choice::SequenceParallel, Choice::EP, Choice::ETP}};
    bool moved = layout.pp != own.layout.pp;
    if (isLegal(problem, layout) && problem.runs(layout))
      return moved ? best(layout, {}) : layout;
    for (const std::vector<Choice> &open : companions)
      if (std::optional<Layout> found = best(layout, open))
        return withLayersOf(*found);
    return std::nullopt;
  }

  const PlanProblem &problem;
  const Candidate &own;
  bool fits;
  PlanProblem narrow;
  std::vector<Change> out;
};
} // namespace

std::vector<Change> tessera::singleChanges(const PlanProblem &problem,
                                           const Candidate &own, bool fits,
                                           int limit) {
  SingleChanges changes(problem, own, fits);
  changes.overlap();
  changes.choice("the microbatch", {Choice::MicroBatch});
  changes.choice("recomputation", {Choice::Recompute, Choice::RecomputeLayers});
  changes.choice("virtual stages", {Choice::VPP, Choice::Schedule});
  changes.choice("sharding", {Choice::Zero, Choice::ShardGroup});
  changes.choice("sequence parallelism", {Choice::SequenceParallel});
  changes.choice("the dispatcher", {Choice::Dispatcher});
  if (problem.shape.experts)
    changes.choice("ep", {Choice::EP, Choice::ETP});
  changes.axis(Choice::TP);
  changes.axis(Choice::PP);
  changes.axis(Choice::CP);
  changes.layers();
  return changes.take(size_t(std::max(limit, 0)));
}
