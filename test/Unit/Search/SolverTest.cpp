//===- SolverTest.cpp - branch and bound against enumeration --------------===//
//
// The reference is every layout of the space evaluated one by one, without
// bounds, caches or an order.
//
//===----------------------------------------------------------------------===//
#include "Problems.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

void expectSameRanking(const PlanResult &a, const PlanResult &b) {
  ASSERT_EQ(a.ranked.size(), b.ranked.size());
  for (size_t i = 0; i < a.ranked.size(); ++i)
    // Ties may come in either order, times may not differ.
    EXPECT_NEAR(a.ranked[i].step.seconds, b.ranked[i].step.seconds,
                1e-9 * b.ranked[i].step.seconds)
        << a.ranked[i].layout.str() << " / " << b.ranked[i].layout.str();
}

TEST(Solver, EqualsEnumerationOnRandomProblems) {
  std::mt19937 random(20260101);
  int feasible = 0, infeasible = 0;
  for (int i = 0; i < 40; ++i) {
    PlanProblem p = randomProblem(random);
    if (llvm::errorToBool(p.check()))
      continue;
    ClosedFormProvider provider(p);
    SolverOptions options;
    options.top = 1 + int(random() % 4);
    PlanResult fast = solve(p, provider, options);
    PlanResult slow = solveExhaustively(p, provider, options.top);
    SCOPED_TRACE("problem " + std::to_string(i));
    expectSameRanking(fast, slow);
    EXPECT_EQ(fast.certificate.meshes, slow.certificate.meshes);
    EXPECT_EQ(fast.certificate.space, slow.certificate.space);
    EXPECT_LE(fast.certificate.evaluated, slow.certificate.evaluated);
    EXPECT_EQ(fast.certificate.gap, 0);
    EXPECT_EQ(fitsAtAll(p, provider), !slow.ranked.empty());
    (slow.ranked.empty() ? infeasible : feasible)++;
  }
  // The draw must cover both kinds.
  EXPECT_GE(feasible, 15);
  EXPECT_GE(infeasible, 2);
}

TEST(Solver, FixedChoicesHold) {
  PlanProblem p = denseProblem();
  p.fixed = llvm::cantFail(parseChoices("tp=2,pp=2,mb=2,recompute=full"));
  ASSERT_FALSE(llvm::errorToBool(p.check()));
  PlanResult r = solve(p, ClosedFormProvider(p), {});
  ASSERT_FALSE(r.ranked.empty());
  EXPECT_TRUE(p.fixed.allows(r.ranked.front().layout));
}

TEST(Solver, RankedMeshesDifferAndAreSorted) {
  PlanProblem p = expertProblem();
  SolverOptions options;
  options.top = 8;
  PlanResult r = solve(p, ClosedFormProvider(p), options);
  ASSERT_EQ(r.ranked.size(), 8u);
  for (size_t i = 0; i < r.ranked.size(); ++i)
    for (size_t j = i + 1; j < r.ranked.size(); ++j) {
      EXPECT_LE(r.ranked[i].step.seconds, r.ranked[j].step.seconds);
      EXPECT_FALSE(sameMesh(r.ranked[i].layout, r.ranked[j].layout));
    }
}

TEST(Solver, CertificateAddsUp) {
  for (const PlanProblem &p : {denseProblem(4, 8), expertProblem(4, 8)}) {
    PlanResult r = solve(p, ClosedFormProvider(p), {});
    const Certificate &c = r.certificate;
    EXPECT_EQ(c.meshes, c.stateCut + c.bounded);
    EXPECT_LE(c.expanded, c.bounded);
    EXPECT_GT(c.evaluated, 0);
    EXPECT_LT(double(c.evaluated + c.memoryCut), c.space);
    EXPECT_EQ(c.gap, 0);
    EXPECT_EQ(c.bound, r.ranked.front().step.seconds);
  }
}

TEST(Solver, StoppedSearchStatesItsGap) {
  PlanProblem p = expertProblem(32, 8);
  p.shape.layers = 32;
  p.workload = defaultWorkload(p.shape.sequence, 1024, p.model.traits);
  ClosedFormProvider provider(p);
  PlanResult whole = solve(p, provider, {});
  ASSERT_FALSE(whole.ranked.empty());
  SolverOptions options;
  options.timeLimit = 1e-9;
  PlanResult r = solve(p, provider, options);
  EXPECT_GT(r.certificate.gap, 0);
  // Whatever was not looked at is no faster than the stated bound.
  EXPECT_LE(r.certificate.bound, whole.ranked.front().step.seconds);
}

TEST(Solver, AnIncumbentChangesNothingButWork) {
  PlanProblem p = expertProblem();
  ClosedFormProvider provider(p);
  PlanResult plain = solve(p, provider, {});
  SolverOptions options;
  options.incumbent = plain.ranked.front().step.seconds * 1.001;
  PlanResult warm = solve(p, provider, options);
  expectSameRanking(warm, plain);
  EXPECT_LE(warm.certificate.evaluated, plain.certificate.evaluated);
}

TEST(Solver, KnownBoundsOfAFasterNetworkChangeNothing) {
  for (const PlanProblem &p : {denseProblem(4, 4), expertProblem(4, 4)}) {
    PlanResult before = solve(p, ClosedFormProvider(p), {});
    PlanProblem slow = p;
    slow.model.cluster.network.nicBandwidth *= 0.5;
    ClosedFormProvider provider(slow);
    SolverOptions options;
    options.known = &before.bounds;
    expectSameRanking(solve(slow, provider, options),
                      solve(slow, provider, {}));
  }
}

TEST(Solver, SkewCostsOnlyWithExpertParallelism) {
  PlanProblem p = expertProblem();
  PlanProblem skewed = p;
  skewed.expertSkew = 2;
  for (const char *text : {"dp=8,ep=1,mb=1", "dp=8,ep=8,mb=1"}) {
    Layout l =
        llvm::cantFail(layoutFrom(llvm::cantFail(parseChoices(text)), 8));
    double even = evaluate(p, ClosedFormProvider(p), l).step.seconds;
    double uneven =
        evaluate(skewed, ClosedFormProvider(skewed), l).step.seconds;
    if (l.ep == 1)
      EXPECT_EQ(even, uneven);
    else
      EXPECT_GT(uneven, even);
  }
}

/// No layout is charged a load that its ranks cannot get.
TEST(Solver, SkewIsWhatALayoutCanHave) {
  PlanProblem p = expertProblem();
  auto rows = [&](const char *text, double skew) { // of an expert's products
    PlanProblem q = p;
    q.expertSkew = skew;
    Layout l =
        llvm::cantFail(layoutFrom(llvm::cantFail(parseChoices(text)), 8));
    ModelFeatures f = ClosedFormProvider(q).features(l);
    for (const BlockFeatures &block : f.blocks)
      for (const OpFeature &op : block.ops)
        if (op.kernel == KernelClass::GroupedMatmul)
          return double(op.shape.m);
    return 0.0;
  };
  double two = rows("dp=8,ep=2,mb=1", 1), four = rows("dp=8,ep=4,mb=1", 1);
  // Two ranks: one can get both choices of all tokens, twice the mean.
  EXPECT_EQ(rows("dp=8,ep=2,mb=1", 1.5), 1.5 * two);
  EXPECT_EQ(rows("dp=8,ep=2,mb=1", 4), 2 * two);
  EXPECT_EQ(rows("dp=8,ep=4,mb=1", 4), 4 * four);
}

TEST(Solver, WorstSkewByHand) {
  PlanProblem p = expertProblem();
  Layout l;
  // 8 experts on 8 ranks, 2 chosen of them: a rank has one expert, which every
  // token may choose once: T tokens where the mean is 2T/8.
  l.ep = 8;
  EXPECT_DOUBLE_EQ(worstExpertSkew(p.shape, l), 4.0);
  // Two experts on a rank: both choices of every token, 2T over 2T/4.
  l.ep = 4;
  EXPECT_DOUBLE_EQ(worstExpertSkew(p.shape, l), 4.0);
  l.ep = 1;
  EXPECT_DOUBLE_EQ(worstExpertSkew(p.shape, l), 1.0);
}

} // namespace
