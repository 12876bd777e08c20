//===- DetailTest.cpp - the drawn step is the counted step ----------------===//
//
// stepTime counts a step by sums over stages; the timeline plays every pass.
// What is drawn must add up to what is counted.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Page/Detail.h"
#include "lib/Planning/Search/Session.h"
#include "tessera/Forecast/GraphSource.h"
#include "gtest/gtest.h"
#include <map>

using namespace llvm;
using namespace tessera;

namespace {
struct Looked {
  Candidate candidate;
  LayoutDetail detail;
  double memoryLimit = 0;
};
} // namespace

static Looked look(const char *model, const char *cluster, const char *layout,
                   int64_t batch = 64) {
  PlanInput in;
  in.model = model;
  in.cluster = cluster;
  in.globalBatch = batch;
  in.features = makeGraphSource;
  PlanSession session = cantFail(makeSession(in));
  const PlanProblem &p = session.problem;
  Layout l = cantFail(layoutFrom(layout, p.gpus()));
  cantFail(p.verify(l));
  ModelProvider provider(p);
  return {evaluate(p, provider, l), detailOf(p, provider, l), p.memoryLimit};
}

/// Seconds of each kind on one stage.
static std::map<SegmentKind, double> spent(const Timeline &t, int stage) {
  std::map<SegmentKind, double> sums;
  for (const Segment &s : segmentsOf(t))
    if (s.stage == stage)
      sums[s.kind] += s.end - s.start;
  return sums;
}

static double sum(const AxisSeconds &seconds) {
  double all = 0;
  for (double s : seconds)
    all += s;
  return all;
}

/// One after the other, none of no length, all inside the step.
static void expectInOrder(const Timeline &t) {
  std::vector<double> last(t.problem.stages, 0.0);
  for (const Segment &s : segmentsOf(t)) {
    EXPECT_GT(s.end, s.start);
    EXPECT_GE(s.start, last[s.stage] - 1e-9) << nameOf(s.kind).str();
    last[s.stage] = s.end;
  }
}

class DrawnStep : public ::testing::TestWithParam<const char *> {};

TEST_P(DrawnStep, AddsUpToTheCountedStep) {
  Looked x = look("llama-13b", "a100-80g-sxm:4x8", GetParam());
  const Timeline &t = x.detail.timeline;
  const StepTime &step = x.candidate.step;
  ASSERT_FALSE(t.cut) << "choose fewer microbatches";
  expectInOrder(t);
  EXPECT_DOUBLE_EQ(t.seconds, step.seconds);
  // The busiest stage is the one that the breakdown describes.
  double best = -1;
  std::map<SegmentKind, double> busiest;
  for (int s = 0; s < t.problem.stages; ++s) {
    std::map<SegmentKind, double> sums = spent(t, s);
    double passes = 0;
    for (auto [kind, seconds] : sums)
      if (kind < SegmentKind::Gradients)
        passes += seconds;
    if (passes > best * (1 + 1e-9)) {
      best = passes;
      busiest = sums;
    }
  }
  double computed =
      busiest[SegmentKind::Forward] + busiest[SegmentKind::Backward] +
      busiest[SegmentKind::Weight] + busiest[SegmentKind::Recompute];
  double communicated =
      busiest[SegmentKind::Exposed] + busiest[SegmentKind::Send];
  double counted = step.compute + step.recompute + step.host;
  // Recomputation repeats communication too; it is drawn as recomputation, and
  // the gradients' reduction is counted as communication of dp.
  double ends = step.exposed[int(ParallelAxis::DP)];
  EXPECT_GE(computed, counted * (1 - 1e-9));
  EXPECT_NEAR(computed + communicated, counted + sum(step.exposed),
              ends + 1e-9);
  // All that a stage does fits the time before the end of the step.
  EXPECT_LE(best, t.seconds);
  EXPECT_NEAR(best + step.bubble, simulatePipeline(t.problem).seconds,
              1e-9 * t.seconds);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, DrawnStep,
    ::testing::Values("tp=8,mb=2,sp,zero=1", "tp=2,pp=4,mb=1,sp,zero=1",
                      "tp=2,pp=4,vpp=2,mb=1,sp,recompute=full",
                      "tp=4,pp=4,mb=2,sp,schedule=zero-bubble",
                      "mb=1,zero=3,recompute=full", "tp=4,pp=8,mb=4,sp"));

TEST(Timeline, LongStepsAreCutInTheSteadyState) {
  Looked x = look("llama-13b", "a100-80g-sxm:4x8", "tp=8,pp=4,mb=1,sp", 2048);
  const Timeline &t = x.detail.timeline;
  ASSERT_TRUE(t.cut);
  EXPECT_LE(t.passes.size(), 1000u);
  EXPECT_EQ(int64_t(t.passes.size()) + t.cut->passes, 2 * 4 * 2048);
  // The first and the last microbatch are there.
  bool first = false, last = false;
  for (const PipelineEvent &e : t.passes) {
    first |= e.microBatch == 0;
    last |= e.microBatch == 2047;
    EXPECT_FALSE(e.start >= t.cut->from && e.end <= t.cut->to);
  }
  EXPECT_TRUE(first && last);
  expectInOrder(t);
}

// Two hundred thousand passes are not played one by one; the end of the step is
// where playing them all puts it.
TEST(Timeline, VeryLongStepsEndWhereTheyShould) {
  Looked x = look("llama-13b", "a100-80g-sxm:4x8", "tp=8,pp=4,mb=1,sp", 65536);
  const Timeline &t = x.detail.timeline;
  ASSERT_TRUE(t.cut);
  std::vector<PipelineEvent> all;
  PipelineResult played = simulatePipeline(t.problem, 0, &all);
  double last = 0;
  for (double end : t.lastPass)
    last = std::max(last, end);
  EXPECT_NEAR(last, played.seconds, 1e-6 * played.seconds);
  EXPECT_EQ(int64_t(t.passes.size()) + t.cut->passes, int64_t(all.size()));
  EXPECT_EQ(t.passes.back().stage, 3);
  expectInOrder(t);
}

TEST(StageMemory, FullestIsTheOneThatIsCounted) {
  Looked x = look("llama-13b", "a100-80g-sxm:4x8", "tp=2,pp=4,mb=1,sp");
  ASSERT_EQ(x.detail.stages.size(), 4u);
  double most = 0;
  for (const MemoryUse &m : x.detail.stages)
    most = std::max(most, m.total());
  EXPECT_DOUBLE_EQ(most, x.candidate.memory.total());
}

TEST(Roofline, NoKernelBeatsTheChip) {
  for (const char *model : {"llama-13b", "mixtral-8x7b", "deepseek-v3"}) {
    Looked x = look(model, "h100-sxm:16x8", "tp=2,sp,mb=1,zero=1");
    ASSERT_FALSE(x.detail.kernels.empty());
    double share = 0;
    for (const KernelPoint &k : x.detail.kernels) {
      share += k.share;
      EXPECT_LE(k.rate(), 989.5e12) << model << " " << k.str();
      EXPECT_GT(k.calls, 0);
    }
    EXPECT_NEAR(share, 1, 1e-9);
    // The data sheet: 989 TFLOP/s at 16 bits, 3.35 TB/s.
    ASSERT_EQ(x.detail.peaks.size(), 1u);
    EXPECT_NEAR(x.detail.peaks[0].second, 989e12, 1e12);
    EXPECT_NEAR(x.detail.memoryBandwidth, 3.35e12, 0.01e12);
  }
}
