//===- PipelineTest.cpp - timelines against published bubbles -------------===//
#include "tessera/CostModel/Pipeline.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace tessera;

static PipelineProblem uniform(int p, int v, int64_t m, ScheduleKind kind) {
  PipelineProblem problem;
  problem.stages = p;
  problem.virtualStages = v;
  problem.microBatches = m;
  problem.schedule = kind;
  problem.forward.assign(p * v, 1.0 / v);
  problem.backward.assign(p * v, 2.0 / v);
  problem.backwardWeight.assign(p * v, 1.0 / v);
  return problem;
}

// arXiv 2104.04473, section 2.2: bubble / ideal = (p-1)/m, and /v with v
// chunks.
TEST(Pipeline, PublishedBubbles) {
  for (int p : {2, 4, 8})
    for (int64_t m : {8, 16, 64}) {
      for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB}) {
        PipelineResult r = simulatePipeline(uniform(p, 1, m, kind));
        EXPECT_NEAR(r.seconds, 3.0 * (m + p - 1), 1e-9) << p << " " << m;
        EXPECT_NEAR(r.busy, 3.0 * m, 1e-9);
      }
      for (int v : {2, 4}) {
        PipelineResult r =
            simulatePipeline(uniform(p, v, m, ScheduleKind::Interleaved));
        EXPECT_NEAR(r.seconds, 3.0 * m + 3.0 * (p - 1) / v, 1e-9)
            << p << " " << m << " " << v;
      }
    }
}

// arXiv 2401.10241, table 2: ZB-H1 leaves (p-1)(F + B - W) with B and W the two
// halves of the backward pass, here (p-1)(1 + 1 - 1).
TEST(Pipeline, ZeroBubbleKeepsAThird) {
  PipelineResult r =
      simulatePipeline(uniform(4, 1, 32, ScheduleKind::ZeroBubble));
  EXPECT_NEAR(r.seconds, 3.0 * 32 + 3.0 * 1, 1e-9);
}

// Two stages, the second twice as slow, three microbatches: the second starts
// after 1, works 3 * 6, and the first ends with one backward pass of 2.
TEST(Pipeline, UnevenStagesByHand) {
  PipelineProblem p = uniform(2, 1, 3, ScheduleKind::OneFOneB);
  p.forward = {1, 2};
  p.backward = {2, 4};
  EXPECT_DOUBLE_EQ(simulatePipeline(p).seconds, 1 + 18 + 2);
}

TEST(Pipeline, TransfersDelayTheCriticalPath) {
  PipelineProblem p = uniform(4, 1, 1, ScheduleKind::OneFOneB);
  p.transfer = 0.25;
  // One microbatch: four forward, four backward, six transfers.
  EXPECT_DOUBLE_EQ(simulatePipeline(p).seconds, 4 * 3 + 6 * 0.25);
}

// Exact for 1F1B; uneven interleaved chunks settle into longer periods.
TEST(Pipeline, SteadyStateExtension) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> time(0.5, 2.0);
  for (int trial = 0; trial < 30; ++trial) {
    int p = 1 + trial % 6, v = 1 + trial % 3;
    PipelineProblem problem =
        uniform(p, v, p * (20 + trial),
                v > 1 ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB);
    for (double &t : problem.forward)
      t = time(random);
    for (double &t : problem.backward)
      t = 2 * time(random);
    problem.transfer = 0.01;
    double exact = simulatePipeline(problem).seconds;
    double extended = simulatePipeline(problem, 8 * p).seconds;
    EXPECT_NEAR(extended, exact, (v > 1 ? 5e-3 : 1e-9) * exact)
        << "trial " << trial;
  }
}

// Every pass happens once, on its stage, after what it needs, one at a time.
TEST(Pipeline, EventsAreALegalSchedule) {
  for (ScheduleKind kind :
       {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
        ScheduleKind::ZeroBubble}) {
    int v = kind == ScheduleKind::Interleaved ? 3 : 1;
    PipelineProblem p = uniform(4, v, 10, kind); // 10 is no multiple of 4
    std::vector<PipelineEvent> events;
    simulatePipeline(p, 0, &events);
    std::map<std::tuple<int, int64_t, int>, PipelineEvent> seen;
    std::map<int, double> free;
    for (const PipelineEvent &e : events) {
      EXPECT_EQ(e.stage, e.chunk % 4);
      EXPECT_TRUE(
          seen.emplace(std::tuple(e.chunk, e.microBatch, int(e.kind)), e)
              .second);
    }
    size_t passes = kind == ScheduleKind::ZeroBubble ? 3 : 2;
    EXPECT_EQ(events.size(), passes * 4 * v * 10);
    std::sort(events.begin(), events.end(),
              [](const PipelineEvent &a, const PipelineEvent &b) {
                return a.start < b.start;
              });
    for (const PipelineEvent &e : events) {
      EXPECT_GE(e.start, free[e.stage] - 1e-9);
      free[e.stage] = e.end;
      auto need = [&](int chunk, PassKind pass) {
        auto it = seen.find(std::tuple(chunk, e.microBatch, int(pass)));
        ASSERT_NE(it, seen.end());
        EXPECT_LE(it->second.end, e.start + 1e-9);
      };
      if (e.kind == PassKind::Forward && e.chunk > 0)
        need(e.chunk - 1, PassKind::Forward);
      if (e.kind == PassKind::Backward)
        need(e.chunk + 1 < 4 * v ? e.chunk + 1 : e.chunk,
             e.chunk + 1 < 4 * v ? PassKind::Backward : PassKind::Forward);
      if (e.kind == PassKind::Weight)
        need(e.chunk, PassKind::Backward);
    }
  }
}

// arXiv 2205.05198, appendix C: 1F1B keeps p microbatches on the first stage,
// interleaving p(v-1) + 2(p-1) + 1 chunks.
TEST(Pipeline, ActivationsInFlight) {
  EXPECT_EQ(chunksInFlight(uniform(8, 1, 64, ScheduleKind::OneFOneB), 0), 8);
  EXPECT_EQ(chunksInFlight(uniform(8, 1, 64, ScheduleKind::OneFOneB), 7), 1);
  EXPECT_EQ(chunksInFlight(uniform(8, 1, 4, ScheduleKind::OneFOneB), 0), 4);
  EXPECT_EQ(chunksInFlight(uniform(8, 3, 64, ScheduleKind::Interleaved), 0),
            2 * 7 + 2 * 8 + 1);
  EXPECT_EQ(chunksInFlight(uniform(8, 1, 64, ScheduleKind::GPipe), 3), 64);
}
