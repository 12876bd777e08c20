//===- Rules.cpp - layouts against the table of frameworks ----------------===//
//
// One walk over the fields of a layout serves all: the search stops it at the
// first thing that a framework cannot run, exports mend each and go on, so that
// later fields are judged beside what earlier ones became.
//
//===----------------------------------------------------------------------===//
#include "Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <cstdlib>

using namespace llvm;
using namespace tessera;

/// The member nearest to `value`, the higher one of two.
static int nearestOf(ValueSet set, int value, int last) {
  int best = value;
  for (int v = 0; v <= last; ++v)
    if (in(set, v) &&
        (best == value || std::abs(v - value) <= std::abs(best - value)))
      best = v;
  return best;
}

namespace {
class Walk {
public:
  /// With `found` the walk mends what it meets and goes on.
  Walk(const Framework &f, const Layout &layout, const FrameworkModel &model,
       std::vector<Obstacle> *found)
      : f(f), l(layout), model(model), found(found),
        experts(model.experts || layout.ep > 1 || layout.etp > 1) {}

  bool check(LayoutPart part) {
    switch (part) {
    case LayoutPart::Mesh:
      return tensor() && stages() && context() && expertRanks();
    case LayoutPart::Schedule:
      return schedule() && partition();
    case LayoutPart::Sharding:
      return sharding();
    case LayoutPart::Dispatcher:
      return dispatch();
    case LayoutPart::Recompute:
      return recompute();
    case LayoutPart::Overlap:
      return overlaps();
    case LayoutPart::All:
      break;
    }
    return check(LayoutPart::Mesh) && check(LayoutPart::Schedule) &&
           sharding() && dispatch() && recompute() && overlaps();
  }

  const Framework &f;
  Layout l;

private:
  /// Stops the walk, or notes the obstacle and applies `mend`. Texts are made
  /// where someone reads them.
  bool refuse(StringRef field, function_ref<std::string()> wanted,
              function_ref<std::string()> reason, function_ref<void()> mend,
              function_ref<std::string()> nearest) {
    if (!found)
      return false;
    Obstacle o{field, wanted(), reason(), ""};
    mend();
    o.nearest = nearest();
    found->push_back(std::move(o));
    return true;
  }
  static std::string is(StringRef name, int64_t value) {
    return (name + "=" + Twine(value)).str();
  }
  std::string has(const std::string &what) const { return f.title + what; }

  bool tensor() {
    if (l.tp > 1 && !f.tensor &&
        !refuse(
            "tp", [&] { return is("tp", l.tp); },
            [&] { return has(" has no tensor parallelism"); },
            [&] {
              l.tp = 1;
              l.sequenceParallel = false;
            },
            [&] { return is("tp", 1); }))
      return false;
    if (l.tp == 1)
      return true;
    bool wrong =
        f.sequence == Framework::Sequence::Never
            ? l.sequenceParallel
            : f.sequence == Framework::Sequence::Always && !l.sequenceParallel;
    return !wrong ||
           refuse(
               "sp",
               [&] {
                 return is("tp", l.tp) +
                        (l.sequenceParallel ? " with sp" : " without sp");
               },
               [&] {
                 return has(l.sequenceParallel
                                ? "'s tensor parallelism has no sequence "
                                  "parallelism"
                                : "'s tensor parallelism is always with "
                                  "sequence parallelism");
               },
               [&] { l.sequenceParallel = !l.sequenceParallel; },
               [&] {
                 return std::string(l.sequenceParallel ? "with sp"
                                                       : "without sp");
               });
  }

  bool context() {
    if (l.cp == 1)
      return true;
    constexpr int kKinds = 3;
    if (!f.contexts)
      return refuse(
          "cp", [&] { return is("cp", l.cp); },
          [&] { return has(" has no context parallelism"); }, [&] { l.cp = 1; },
          [&] { return is("cp", 1); });
    auto kind = [&] { return "cp-kind=" + nameOf(l.contextKind).str(); };
    return in(f.contexts, l.contextKind) ||
           refuse(
               "cp-kind", kind,
               [&] {
                 return has("'s context parallelism is " +
                            listed(namesOf<ContextKind>(f.contexts, kKinds)));
               },
               [&] {
                 int to = 0;
                 while (!in(f.contexts, to))
                   ++to;
                 l.contextKind = static_cast<ContextKind>(to);
               },
               kind);
  }

  bool stages() {
    return l.pp == 1 || f.stages ||
           refuse(
               "pp", [&] { return is("pp", l.pp); },
               [&] { return has(" has no pipeline stages"); },
               [&] {
                 l.pp = l.vpp = 1;
                 l.schedule = ScheduleKind::OneFOneB;
                 l.chunkLayers.clear();
               },
               [&] { return is("pp", 1); });
  }

  bool expertRanks() {
    if (!experts)
      return true;
    if (l.ep > 1 && !f.experts &&
        !refuse(
            "ep", [&] { return is("ep", l.ep); },
            [&] { return has(" has no expert parallelism"); },
            [&] { l.ep = 1; }, [&] { return is("ep", 1); }))
      return false;
    using Split = Framework::ExpertSplit;
    bool fine = f.expertSplit == Split::Free ||
                (l.etp == 1 && f.expertSplit != Split::Tensor) ||
                (l.etp == l.tp && f.expertSplit != Split::Whole);
    return fine ||
           refuse(
               "etp",
               [&] { return is("etp", l.etp) + " with " + is("tp", l.tp); },
               [&] {
                 return has(f.expertSplit == Split::Whole
                                ? " does not split experts"
                            : f.expertSplit == Split::Tensor
                                ? " splits experts over the tensor-parallel "
                                  "ranks"
                                : " splits experts over all tensor-parallel "
                                  "ranks or none");
               },
               [&] { l.etp = f.expertSplit == Split::Tensor ? l.tp : 1; },
               [&] { return is("etp", l.etp); });
  }

  bool schedule() {
    if (l.pp == 1)
      return true;
    if (l.vpp > 1 && !f.virtualStages &&
        !refuse(
            "vpp", [&] { return is("vpp", l.vpp); },
            [&] {
              return f.virtualStagesWhy.empty()
                         ? has(" has one stage on a rank")
                         : f.virtualStagesWhy;
            },
            [&] {
              l.vpp = 1;
              l.chunkLayers.clear();
              if (l.schedule == ScheduleKind::Interleaved)
                l.schedule = ScheduleKind::OneFOneB;
            },
            [&] { return is("vpp", 1); }))
      return false;
    constexpr int kKinds = 4;
    bool early = l.schedule == ScheduleKind::ZeroBubble &&
                 f.zeroBubbleVirtual && l.vpp == 1;
    auto kind = [&] { return "schedule=" + nameOf(l.schedule).str(); };
    return (in(f.schedules, l.schedule) && !early) ||
           refuse(
               "schedule",
               [&] { return kind() + (early ? " with vpp=1" : ""); },
               [&] {
                 return early ? "zero-bubble schedules need several stages on "
                                "a rank"
                              : has("'s schedules are " +
                                    listed(namesOf<ScheduleKind>(f.schedules,
                                                                 kKinds)));
               },
               [&] {
                 l.schedule = l.vpp > 1 ? ScheduleKind::Interleaved
                              : in(f.schedules, ScheduleKind::OneFOneB)
                                  ? ScheduleKind::OneFOneB
                                  : ScheduleKind::GPipe;
               },
               kind);
  }

  bool partition() {
    using Partition = Framework::Partition;
    if (l.pp == 1 || f.partition == Partition::Free)
      return true;
    int64_t chunks = int64_t(l.pp) * l.vpp;
    if (!l.chunkLayers.empty() &&
        !refuse(
            "layers", [&] { return std::string("stages of given layers"); },
            [&] {
              return has(f.partition == Partition::Own
                             ? " places blocks on stages by their cost itself"
                             : " has no uneven stages");
            },
            [&] { l.chunkLayers.clear(); },
            [&] { return std::string("even stages"); }))
      return false;
    if (f.partition != Partition::Even || model.layers % chunks == 0)
      return true;
    auto divides = [&](int64_t pp, int64_t vpp) {
      return model.layers % (pp * vpp) == 0;
    };
    // Fewer virtual stages, or else fewer stages.
    bool virtualOnly = divides(l.pp, 1);
    return refuse(
        virtualOnly ? "vpp" : "pp",
        [&] {
          return l.vpp > 1 ? is("pp", l.pp) + " with " + is("vpp", l.vpp)
                           : is("pp", l.pp);
        },
        [&] {
          return f.title + " has no uneven stages, and " +
                 std::to_string(chunks) + " do not divide the " +
                 std::to_string(model.layers) + " layers";
        },
        [&] {
          while (virtualOnly && !divides(l.pp, l.vpp))
            --l.vpp;
          if (!virtualOnly) {
            l.vpp = 1;
            while (!divides(l.pp, 1))
              --l.pp;
          }
          if (l.vpp == 1 && l.schedule == ScheduleKind::Interleaved)
            l.schedule = ScheduleKind::OneFOneB;
        },
        [&] { return virtualOnly ? is("vpp", l.vpp) : is("pp", l.pp); });
  }

  /// One of the four rules on ZeRO's stages.
  bool zero(bool asked, ValueSet set, const std::string &why,
            StringRef beside) {
    return !asked || in(set, l.zeroStage) ||
           refuse(
               "zero", [&] { return (is("zero", l.zeroStage) + beside).str(); },
               [&] { return why.empty() ? has(" has " + stagesOf(set)) : why; },
               [&] {
                 l.zeroStage = nearestOf(set, l.zeroStage, 3);
                 if (l.zeroStage == 0)
                   l.shardGroup = 0;
               },
               [&] { return is("zero", l.zeroStage); });
  }

  bool sharding() {
    if (int64_t(l.dp) * l.cp > 1 || l.zeroStage > 0) {
      std::string staged, split, ranks;
      if (found) {
        staged = " with " + is("pp", l.pp);
        ranks = " with " + is("ep", l.ep);
        split =
            l.tp > 1 ? " with " + is("tp", l.tp) : " with " + is("cp", l.cp);
      }
      if (!zero(l.pp == 1, f.zero, f.zeroWhy, "") ||
          !zero(l.pp > 1, f.zeroStaged, f.zeroStagedWhy, staged) ||
          !zero(l.tp > 1 || l.cp > 1, f.zeroSplit, f.zeroSplitWhy, split) ||
          !zero(l.ep > 1, f.zeroExperts, f.zeroExpertsWhy, ranks))
        return false;
    }
    return l.shardGroup == 0 || l.shardGroup == l.dp ||
           in(f.groups, l.zeroStage) ||
           refuse(
               "shard",
               [&] {
                 return is("shard", l.shardGroup) + " with " +
                        is("zero", l.zeroStage);
               },
               [&] {
                 return f.groupsWhy.empty()
                            ? has(f.groups ? " shards inside groups in " +
                                                 stagesOf(f.groups) + " only"
                                           : " shards over all replicas")
                            : f.groupsWhy;
               },
               [&] { l.shardGroup = 0; },
               [&] { return std::string("shard over all of dp"); });
  }

  bool dispatch() {
    constexpr int kKinds = 3;
    auto kind = [&] { return "dispatcher=" + nameOf(l.dispatcher).str(); };
    return l.ep == 1 || in(f.dispatchers, l.dispatcher) ||
           refuse(
               "dispatcher", kind,
               [&] {
                 auto names = namesOf<DispatcherKind>(f.dispatchers, kKinds);
                 return has(names.size() == 1 ? "'s dispatcher is "
                                              : "'s dispatchers are ") +
                        listed(names);
               },
               [&] {
                 int to = int(DispatcherKind::AllToAll);
                 for (int i = 0; i < kKinds && !in(f.dispatchers, to); ++i)
                   to = i;
                 l.dispatcher = static_cast<DispatcherKind>(to);
               },
               kind);
  }

  bool recompute() {
    auto kind = [&] { return "recompute=" + nameOf(l.recompute).str(); };
    if (!in(f.recompute, l.recompute) &&
        !refuse(
            "recompute", kind,
            [&] {
              return has(in(f.recompute, RecomputeKind::None)
                             ? " recomputes whole layers or nothing"
                             : " keeps the products of a layer at most");
            },
            [&] {
              l.recompute = in(f.recompute, RecomputeKind::Selective)
                                ? RecomputeKind::Selective
                                : RecomputeKind::Full;
            },
            kind))
      return false;
    bool some = l.recompute == RecomputeKind::Full && l.recomputeLayers > 0;
    using Layers = Framework::Layers;
    return !some || f.layers == Layers::First ||
           (f.layers == Layers::Every && isEvery(l.recomputeLayers)) ||
           refuse(
               "recompute-layers",
               [&] { return is("recompute-layers", l.recomputeLayers); },
               [&] {
                 return has(f.layers == Layers::Every
                                ? " recomputes each second, third, ... layer "
                                  "of a chunk"
                                : " recomputes all layers or none");
               },
               [&] {
                 // More before all.
                 int most = mostLayers();
                 do
                   ++l.recomputeLayers;
                 while (l.recomputeLayers < most &&
                        !isEvery(l.recomputeLayers));
                 if (f.layers == Layers::All || l.recomputeLayers >= most)
                   l.recomputeLayers = 0;
               },
               [&] {
                 return l.recomputeLayers
                            ? is("recompute-layers", l.recomputeLayers)
                            : std::string("all layers");
               });
  }

  /// A switch that is on where the framework cannot have it on.
  bool off(StringRef name, bool Layout::*on, bool wrong,
           function_ref<std::string()> reason) {
    return !wrong || !(l.*on) ||
           refuse(
               name, [&] { return name.str(); }, reason, [&] { l.*on = false; },
               [&] { return "no " + name.str(); });
  }

  bool overlaps() {
    using Overlap = Framework::Overlap;
    bool never = f.tensorOverlap == Overlap::Never;
    bool alone = never || (f.tensorOverlap == Overlap::WithSequence &&
                           !l.sequenceParallel);
    return off("tp-overlap", &Layout::overlapTensorParallel, l.tp > 1 && alone,
               [&] {
                 return has(never ? " does not overlap tensor parallelism"
                                  : " overlaps tensor parallelism only with "
                                    "sequence parallelism");
               }) &&
           off("ep-overlap", &Layout::overlapExperts,
               l.ep > 1 && !f.expertOverlap,
               [&] {
                 return has(" has no switch for the experts' overlap");
               }) &&
           off("param-overlap", &Layout::overlapParameters,
               l.zeroStage > 0 && !in(f.parameterOverlap, l.zeroStage),
               [&] {
                 return has(" gathers parameters in the open in ZeRO " +
                            std::to_string(l.zeroStage));
               }) &&
           off("param-overlap", &Layout::overlapParameters,
               l.zeroStage > 0 && !f.parametersAlone && !l.overlapGradients,
               [&] {
                 return has(" overlaps the parameters' gathering only together "
                            "with the gradients' reduction");
               });
  }

  int chunks() const { return l.pp * l.vpp; }
  int mostLayers() const {
    return l.chunkLayers.empty() ? int((model.layers + chunks() - 1) / chunks())
                                 : *llvm::max_element(l.chunkLayers);
  }
  /// Also where the number of layers is not known.
  bool isEvery(int k) const {
    int least = l.chunkLayers.empty() ? int(model.layers / chunks())
                                      : *llvm::min_element(l.chunkLayers);
    return mostLayers() == 0 || everyNth(k, least, mostLayers()) > 0;
  }

  const FrameworkModel &model;
  std::vector<Obstacle> *found;
  bool experts;
};
} // namespace

int tessera::everyNth(int k, int least, int most) {
  // The largest n that gives k of the shortest chunk gives fewest of the
  // longest.
  int n = k > 0 ? least / k : 0;
  return n > 1 && most / n == k ? n : 0;
}

bool tessera::runs(const Framework &f, const Layout &l, const FrameworkModel &m,
                   LayoutPart part) {
  return Walk(f, l, m, nullptr).check(part);
}

std::vector<Obstacle> tessera::obstaclesOf(const Framework &f, const Layout &l,
                                           const FrameworkModel &m) {
  std::vector<Obstacle> found;
  Walk(f, l, m, &found).check(LayoutPart::All);
  return found;
}

Layout tessera::nearestRunning(const Framework &f, const Layout &l,
                               const FrameworkModel &m, LayoutPart part) {
  std::vector<Obstacle> found;
  Walk walk(f, l, m, &found);
  walk.check(part);
  return walk.l;
}

std::string tessera::reasonAgainst(const Framework &f, const Layout &l,
                                   const FrameworkModel &m, StringRef field) {
  static const std::pair<StringRef, StringRef> kDependent[] = {
      {"vpp", "pp"},
      {"layers", "pp"},
      {"schedule", "pp"},
      {"layers", "vpp"},
      {"schedule", "vpp"},
      {"dispatcher", "ep"},
      {"etp", "ep"},
      {"cp-kind", "cp"},
      {"sp", "tp"},
      {"shard", "zero"},
      {"recompute-layers", "recompute"}};
  std::vector<Obstacle> found = obstaclesOf(f, l, m);
  auto reason = [&](StringRef name) {
    for (const Obstacle &o : found)
      if (o.field == name)
        return o.reason;
    return std::string();
  };
  std::string why = reason(field);
  for (auto [dependent, on] : kDependent)
    if (why.empty() && dependent == field)
      why = reason(on);
  return why;
}
