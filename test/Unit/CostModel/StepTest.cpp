//===- StepTest.cpp - a step put together by hand -------------------------===//
#include "tessera/CostModel/Step.h"
#include "gtest/gtest.h"
#include <unordered_set>

using namespace tessera;

TEST(Overlap, HidesAtMostTheComputeAndItsShare) {
  EXPECT_DOUBLE_EQ(exposedTime(1.0, 10.0, 1.0, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(exposedTime(1.0, 0.25, 1.0, 0.0), 0.75);
  EXPECT_DOUBLE_EQ(exposedTime(1.0, 10.0, 0.4, 0.0), 0.6);
  // What is hidden slows the compute by the contention.
  EXPECT_DOUBLE_EQ(exposedTime(1.0, 10.0, 1.0, 0.2), 0.2);
  EXPECT_DOUBLE_EQ(exposedTime(0.0, 10.0, 1.0, 0.2), 0.0);
}

TEST(MeasuredEfficiencies, ReplaceTheFittedOnes) {
  Cluster cluster = llvm::cantFail(parseCluster("h100-sxm:2x8"));
  ChipConstants fitted = llvm::cantFail(makeStepModel(cluster, "nemo")).chip;
  cluster.efficiencies = {{"matmul16", 0.5}, {"kernel_gap", 0.0}};
  ChipConstants chip = llvm::cantFail(makeStepModel(cluster, "nemo")).chip;
  EXPECT_NE(fitted.matmul16, 0.5);
  EXPECT_DOUBLE_EQ(chip.matmul16, 0.5);
  EXPECT_DOUBLE_EQ(chip.kernelGap, 0.0);
  EXPECT_DOUBLE_EQ(chip.nic, fitted.nic);

  auto message = [&](const char *name, double value) {
    cluster.efficiencies = {{name, value}};
    return llvm::toString(makeStepModel(cluster, "nemo").takeError());
  };
  EXPECT_EQ(message("matmul61", 0.5).substr(0, 73),
            "cluster: unknown efficiency 'matmul61'; did you mean 'matmul16'? "
            "(known: ")
      << message("matmul61", 0.5);
  EXPECT_EQ(message("matmul16", 1.5), "cluster: efficiency 'matmul16' should "
                                      "be above 0 and at most 1, got 1.500000");
  EXPECT_EQ(message("nic", 0), "cluster: efficiency 'nic' should be above 0 "
                               "and at most 1, got 0.000000");
  EXPECT_EQ(message("kernel_gap", 2),
            "cluster: efficiency 'kernel_gap' should be seconds from 0 to "
            "0.001, got 2.000000");
}

TEST(Chunks, SurplusGoesToTheMiddle) {
  auto sizes = [](int layers, int chunks) {
    auto c = evenChunks(layers, chunks);
    return std::vector<int>(c.begin(), c.end());
  };
  EXPECT_EQ(sizes(8, 4), (std::vector<int>{2, 2, 2, 2}));
  // Llama-3-405B on 16 stages: 126 layers, ends one short of eight.
  auto llama = sizes(126, 16);
  EXPECT_EQ(llama.front(), 7);
  EXPECT_EQ(llama.back(), 7);
  EXPECT_EQ(llama[5], 8);
  EXPECT_EQ(sizes(3, 2), (std::vector<int>{2, 1}));
  EXPECT_EQ(sizes(1, 4), (std::vector<int>{0, 1, 0, 0}));
}

namespace {
/// Blocks that take exactly a second forward and two backward on a device of
/// 1 GB/s, everything else free.
struct Seconds : ::testing::Test {
  Seconds() {
    Chip chip;
    chip.name = "test";
    chip.bf16 = chip.fp32 = 1e15;
    chip.memoryBandwidth = 1e9;
    chip.l2Bytes = 1;
    chip.numSMs = 1;
    chip.nvlinkBandwidth = 1e9;
    chip.nvlinkDomain = 8;
    chip.nicBandwidth = 1e9;
    model.cluster = makeCluster(chip, 1, 8);
    model.cluster.network.nvlinkLatency = 0;
    model.cluster.network.nicLatency = 0;
    model.chip.memory = model.chip.nvlink = model.chip.nic = 1;
    model.chip.kernelGap = model.chip.contention = 0;
    model.stack.hostPerLaunch = model.stack.jitter = 0;
    model.stack.vectorTraffic = 1;
    model.stack.ppOverlap = 1;
    BlockFeatures b;
    OpFeature op;
    op.kernel = KernelClass::Elementwise;
    op.forward.bytesRead = 1000000000;
    op.backward.bytesRead = 2000000000;
    b.ops.push_back(op);
    features.blocks.push_back(b);
    features.calls.push_back({0, 8, false});
    workload.globalBatch = 8;
  }
  /// Without the fixed millisecond of a step.
  double seconds(const Layout &l) {
    return stepTime(features, l, workload, model).seconds - 0.001;
  }
  StepModel model;
  ModelFeatures features;
  Workload workload;
};
} // namespace

TEST_F(Seconds, LayersTimesMicrobatches) {
  Layout l;
  EXPECT_NEAR(seconds(l), 8 * 8 * 3, 1e-6);
  l.microBatch = 2; // the features are what they are: half as many microbatches
  EXPECT_NEAR(seconds(l), 4 * 8 * 3, 1e-6);
  l.dp = 2;
  l.overlapGradients = false;
  EXPECT_NEAR(seconds(l), 2 * 8 * 3, 1e-6); // no parameters, no reduction
}

// A host that waits for each kernel hides behind none.
TEST_F(Seconds, BlockingLaunchesAddTheHostsTime) {
  model.stack.hostPerLaunch = 0.25; // a block: one forward, one backward
  Layout l;
  double hidden = seconds(l);
  model.traits.blockingLaunches = true;
  EXPECT_NEAR(seconds(l), 8 * 8 * (3 + 2 * 0.25), 1e-6);
  EXPECT_LT(hidden, 8 * 8 * 3.01);
}

TEST_F(Seconds, FullRecomputationAddsAForwardPass) {
  Layout l;
  l.recompute = RecomputeKind::Full;
  EXPECT_NEAR(seconds(l), 8 * 8 * 4, 1e-6);
  EXPECT_NEAR(stepTime(features, l, workload, model).recompute, 8 * 8 * 1,
              1e-6);
}

// What a compiler leaves of it ends before the block's last product, unless
// that is among experts, whose results the router's gradient needs.
TEST_F(Seconds, CompiledRecomputationDoesNoMoreThanNeeded) {
  OpFeature second = features.blocks[0].ops.back();
  second.kernel = KernelClass::Matmul;
  features.blocks[0].ops.push_back(second);
  Layout l;
  l.recompute = RecomputeKind::Full;
  auto again = [&] { return stepTime(features, l, workload, model).recompute; };
  double all = again();
  model.traits.recomputesAll = false;
  double needed = again();
  EXPECT_GT(needed, 0);
  EXPECT_LT(needed, 0.9 * all);
  features.blocks[0].ops.back().kernel = KernelClass::GroupedMatmul;
  double experts = again();
  model.traits.recomputesAll = true;
  EXPECT_DOUBLE_EQ(again(), experts);
}

TEST_F(Seconds, SomeLayersOfEachChunkRecompute) {
  Layout l;
  l.recompute = RecomputeKind::Full;
  l.recomputeLayers = 3; // of 8
  EXPECT_NEAR(seconds(l), 8 * (8 * 3 + 3), 1e-6);
  // Two chunks on each of two stages, two layers each: one of the two.
  l.pp = l.vpp = 2;
  l.schedule = ScheduleKind::Interleaved;
  l.recomputeLayers = 1;
  StepTime t = stepTime(features, l, workload, model);
  EXPECT_NEAR(t.recompute, 8 * 2 * 1, 1e-4);
  EXPECT_NEAR(t.compute, 8 * 4 * 3, 1e-4);
  // Of a chunk with one layer, that layer; of one with three, one.
  l.pp = 2;
  l.vpp = 1;
  l.schedule = ScheduleKind::OneFOneB;
  l.chunkLayers = {2, 6};
  l.recomputeLayers = 4;
  t = stepTime(features, l, workload, model);
  ASSERT_EQ(t.pipeline.backward.size(), 2u);
  EXPECT_NEAR(t.pipeline.backward[0], 2 * 2 + 2, 1e-6);
  EXPECT_NEAR(t.pipeline.backward[1], 6 * 2 + 4, 1e-6);
}

// What a rank sends, by hand: with ZeRO 2 each of the m microbatches scatters
// its gradients; with ZeRO 3 it gathers the weights twice besides; then nothing
// is left to reduce (2) or to gather (3).
TEST_F(Seconds, ShardedGradientsAreReducedForEachMicrobatch) {
  features.blocks[0].denseParameters = 1000000;
  Layout l;
  l.dp = 4;
  l.overlapGradients = l.overlapParameters = false;
  model.stack.dpOverlap = 0;
  model.traits.fusedGradientAccumulation = true;
  workload.optimizerBytes = workload.gradientBytes = 0;
  workload.globalBatch = 16; // 4 microbatches a rank
  double ring = 3.0 / 4 / 1e9;
  double reduce = 8 * 4e6 * ring, gather = 8 * 2e6 * ring;
  l.zeroStage = 1;
  workload.weightBytes = 2;
  double adam = 8 * 1e6 / 4 * 2 / 1e9; // writes its shard of the weights
  double plain = 4 * 8 * 3 + adam;
  EXPECT_NEAR(seconds(l), plain + reduce + gather, 2e-3);
  l.zeroStage = 2;
  EXPECT_NEAR(seconds(l), plain + 4 * reduce + gather, 4e-3);
  l.zeroStage = 3;
  EXPECT_NEAR(seconds(l), plain + 4 * (reduce + 2 * gather), 8e-3);
  // In a pipeline as well: each stage for its four layers, and the pipeline
  // fills with passes that are as much longer.
  l.pp = 2;
  double pass = 4 * 3 + (reduce + 2 * gather) / 2;
  EXPECT_NEAR(seconds(l), (4 + 1) * pass + adam / 2, 1e-2);
}

TEST_F(Seconds, PipelineOfFourHasThreeBubbles) {
  Layout l;
  l.pp = 4;
  EXPECT_NEAR(seconds(l), (8 + 3) * 2 * 3, 1e-4);
  StepTime t = stepTime(features, l, workload, model);
  EXPECT_NEAR(t.bubble, 3 * 2 * 3, 1e-4);
}

TEST_F(Seconds, GradientsAreReducedOverTheReplicas) {
  features.blocks[0].denseParameters = 1000000; // 8 layers of 4 MB gradients
  model.traits.zeroStage = 0;
  Layout l;
  l.dp = 8;
  l.overlapGradients = false;
  workload.optimizerBytes = workload.weightBytes = 0;
  workload.gradientBytes = 0;
  double reduce = 2.0 * 7 / 8 * 32e6 / 1e9; // ring all-reduce at 1 GB/s
  EXPECT_NEAR(seconds(l), 8 * 3 + reduce, 1e-3);
  // Hidden behind the last backward pass.
  l.overlapGradients = true;
  model.stack.dpOverlap = 1;
  EXPECT_NEAR(seconds(l), 8 * 3, 1e-3);
}

TEST_F(Seconds, SlowHostSetsThePace) {
  model.stack.hostPerLaunch = 10; // one launch a pass
  Layout l;
  EXPECT_NEAR(seconds(l) / (8 * 8 * 20), 1.0, 1e-2);
}

TEST_F(Seconds, BreakdownAddsUp) {
  features.blocks[0].denseParameters = 1000000;
  features.blocks[0].collectives.push_back(
      {CollectiveKind::AllReduce, ParallelAxis::TP, 100000000, 2, 2, false});
  Layout l;
  l.dp = 2;
  l.tp = 2;
  l.pp = 2;
  l.recompute = RecomputeKind::Full;
  model.stack.jitter = 0.01;
  StepTime t = stepTime(features, l, workload, model);
  double sum =
      t.compute + t.recompute + t.bubble + t.host + t.optimizer + t.overhead;
  for (double e : t.exposed)
    sum += e;
  EXPECT_NEAR(sum, t.seconds, 1e-6 * t.seconds);
  EXPECT_GT(t.exposed[int(ParallelAxis::TP)], 0);
}

TEST(StepModel, LooksEverythingUp) {
  Cluster cluster = llvm::cantFail(parseCluster("h100-sxm:2x8"));
  StepModel model = llvm::cantFail(makeStepModel(cluster, "llm-foundry"));
  EXPECT_TRUE(model.traits.fsdp);
  EXPECT_EQ(model.chip.matmul16,
            defaultConstants().chips.at("hopper").matmul16);
  EXPECT_EQ(llvm::toString(makeStepModel(cluster, "lm-foundry").takeError()),
            "unknown software stack 'lm-foundry'; did you mean 'llm-foundry'?");
}

TEST(Layout, EqualAndHashed) {
  Layout a, b;
  a.chunkLayers = {1, 2};
  EXPECT_NE(a, b);
  b.chunkLayers = {1, 2};
  EXPECT_EQ(a, b);
  EXPECT_EQ(hash_value(a), hash_value(b));
  b.overlapExperts = true;
  EXPECT_NE(a, b);
  EXPECT_NE(hash_value(a), hash_value(b));
  Layout l;
  l.dp = 4;
  l.tp = 8;
  l.sequenceParallel = true;
  EXPECT_EQ(l.str(), "dp=4 tp=8 mb=1 sp");
}

// With the detail the whole step can be drawn: each pass of the timeline is the
// chunk's own work and what its transfers occupy; the ends follow.
TEST_F(Seconds, DetailExplainsThePasses) {
  features.blocks[0].denseParameters = 1000000;
  features.boundaryBytes = 100000000; // 0.1 s to the next stage
  Layout l;
  l.dp = 2;
  l.pp = 4;
  l.vpp = 2;
  l.schedule = ScheduleKind::Interleaved;
  l.recompute = RecomputeKind::Full;
  l.overlapPipeline = false;
  StepDetail detail;
  StepTime t = stepTime(features, l, workload, model, &detail);
  ASSERT_EQ(detail.chunks.size(), 8u);
  ASSERT_EQ(detail.ends.size(), 4u);
  EXPECT_NEAR(detail.occupied, 0.1, 1e-3);
  for (size_t c = 0; c < 8; ++c) {
    EXPECT_NEAR(detail.chunks[c].forward.compute, 1, 1e-9);
    EXPECT_NEAR(t.pipeline.forward[c], 1 + detail.occupied, 1e-9);
    EXPECT_NEAR(t.pipeline.backward[c], 2 + 1 + detail.occupied, 1e-9);
  }
  // Two layers a stage, reduced between the two replicas of the node.
  for (const StepDetail::End &end : detail.ends)
    EXPECT_GT(end.communication, 0);
}
