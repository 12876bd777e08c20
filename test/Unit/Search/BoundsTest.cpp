//===- BoundsTest.cpp - bounds never exceed what they bound ---------------===//
#include "Problems.h"
#include "lib/Planning/Search/Expansion.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Bounds, AreAdmissibleForEveryLayout) {
  std::mt19937 random(7);
  int64_t layouts = 0, sharded = 0, gathered = 0, partial = 0;
  double tightest = 0;
  for (int i = 0; i < 25; ++i) {
    PlanProblem p = randomProblem(random);
    if (llvm::errorToBool(p.check()))
      continue;
    ClosedFormProvider provider(p);
    MeshCache cache(p, provider);
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      Layout plainest = mesh;
      plainest.dispatcher = choices.dispatchers.front();
      double floor = cache.floor(plainest);
      forEachLayout(cache, choices, mesh, [&](const Layout &l) {
        ++layouts;
        sharded += l.zeroStage >= 2 && l.pp > 1;
        gathered += l.dispatcher == DispatcherKind::AllGather;
        partial += l.recomputeLayers > 0;
        Candidate c = evaluate(p, provider, l);
        double bound = layoutBound(cache.times(l), cache.outline(l), l, p);
        Layout part = mesh;
        part.dispatcher = l.dispatcher;
        part.zeroStage = l.zeroStage < 2 ? 0 : l.zeroStage;
        part.shardGroup = l.shardGroup;
        double slack = 1 + 1e-9;
        EXPECT_LE(bound, c.step.seconds * slack) << l.str();
        EXPECT_LE(cache.bound(part), c.step.seconds * slack) << l.str();
        part.zeroStage = l.zeroStage;
        EXPECT_LE(cache.boundToTheEnd(part), c.step.seconds * slack) << l.str();
        EXPECT_LE(floor, c.step.seconds * slack) << l.str();
        EXPECT_LE(stateBound(p, l), c.memory.total() * slack) << l.str();
        tightest = std::max(tightest, bound / c.step.seconds);
        return true;
      });
      return true;
    });
  }
  EXPECT_GT(layouts, 1000);
  EXPECT_GT(sharded, 100);
  EXPECT_GT(gathered, 100);
  EXPECT_GT(partial, 100);
  // And they are worth something.
  EXPECT_GT(tightest, 0.95);
}

/// What the search relies on when it takes the least recomputation that fits.
TEST(Bounds, RecomputingMoreLayersTakesLongerAndLessMemory) {
  std::mt19937 random(13);
  int families = 0;
  for (int i = 0; i < 40; ++i) {
    PlanProblem p = randomProblem(random);
    p.workload.globalBatch *= 1 + int64_t(random() % 40);
    if (llvm::errorToBool(p.check()))
      continue;
    ClosedFormProvider provider(p);
    MeshCache cache(p, provider);
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      if (random() % 16)
        return true;
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      forEachFamily(cache, choices, mesh, [&](const Layout &family) {
        int limit = choices.partialLimit(family.recompute, family.vpp);
        if (limit == 0 || family.schedule == ScheduleKind::ZeroBubble ||
            random() % 4)
          return true;
        ++families;
        Layout l = family;
        l.recompute = RecomputeKind::None;
        Candidate before = evaluate(p, provider, l);
        l.recompute = RecomputeKind::Full;
        for (int n = 1; n <= limit + 1; ++n) {
          l.recomputeLayers = n > limit ? 0 : n;
          Candidate next = evaluate(p, provider, l);
          EXPECT_GE(next.step.seconds * (1 + 1e-12), before.step.seconds)
              << l.str();
          EXPECT_LE(next.memory.total(), before.memory.total() * (1 + 1e-12))
              << l.str();
          before = std::move(next);
        }
        return true;
      });
      return true;
    });
  }
  EXPECT_GT(families, 200);
}

TEST(Bounds, CondensedFeaturesNeedTheSameMemory) {
  PlanProblem p = expertProblem();
  ClosedFormProvider provider(p);
  for (RecomputeKind kind :
       {RecomputeKind::None, RecomputeKind::Selective, RecomputeKind::Full}) {
    Layout l;
    l.dp = 2;
    l.pp = 4;
    l.ep = 2;
    l.recompute = kind;
    l.recomputeLayers = kind == RecomputeKind::Full ? 1 : 0;
    ModelFeatures f = provider.features(l);
    EXPECT_EQ(memoryUse(f, l, p.workload, p.model.cluster).total(),
              memoryUse(condensed(f), l, p.workload, p.model.cluster).total());
  }
}

/// Longest chunk of a partition, embedding and head counted.
double longest(const std::vector<double> &layers, double first, double last,
               llvm::ArrayRef<int> sizes) {
  double worst = 0;
  size_t next = 0;
  for (size_t c = 0; c < sizes.size(); ++c) {
    double t = (c == 0 ? first : 0) + (c + 1 == sizes.size() ? last : 0);
    for (int i = 0; i < sizes[c]; ++i)
      t += layers[next++];
    worst = std::max(worst, t);
  }
  return worst;
}

/// Tries every partition.
double bestByEnumeration(const std::vector<double> &layers, double first,
                         double last, std::vector<int> sizes, int chunks) {
  int used = std::accumulate(sizes.begin(), sizes.end(), 0);
  int left = int(layers.size()) - used;
  if (int(sizes.size()) == chunks - 1) {
    sizes.push_back(left);
    return longest(layers, first, last, sizes);
  }
  double best = 1e30;
  for (int n = 1; n <= left - (chunks - 1 - int(sizes.size())); ++n) {
    std::vector<int> next = sizes;
    next.push_back(n);
    best = std::min(best, bestByEnumeration(layers, first, last, next, chunks));
  }
  return best;
}

TEST(Bounds, BalancedPartitionIsTheShortest) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    ModelFeatures f;
    f.blocks.resize(4);
    int a = 1 + int(random() % 4), b = 4 + int(random() % 5);
    f.calls = {{0, 1, true}, {1, a, false}, {2, b, false}, {3, 1, true}};
    BlockSecondsList times;
    for (int i = 0; i < 4; ++i)
      times.push_back({0.1 + double(random() % 100) / 50, 0.2, 0.1});
    std::vector<double> layers(a, times[1].total());
    layers.insert(layers.end(), b, times[2].total());
    int chunks = 2 + int(random() % 3);
    auto sizes = balancedChunks(times, outlineOf(f), chunks);
    ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), a + b);
    double first = times[0].total(), last = times[3].total();
    EXPECT_NEAR(longest(layers, first, last, sizes),
                bestByEnumeration(layers, first, last, {}, chunks), 1e-6);
  }
}

} // namespace
