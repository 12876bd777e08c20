//===- MemoryTest.cpp - model state and activations by published rules ----===//
#include "tessera/CostModel/Memory.h"
#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Pipeline.h"
#include "tessera/CostModel/Step.h"
#include "gtest/gtest.h"
#include <random>

using namespace tessera;

static ModelFeatures layers(int count, int64_t parameters, int64_t saved) {
  ModelFeatures f;
  BlockFeatures b;
  b.denseParameters = parameters;
  b.inputBytes = 10;
  OpFeature op;
  op.kernel = KernelClass::Elementwise;
  op.savedBytes = saved;
  b.ops.push_back(op);
  op.savedBytes = saved / 2;
  op.selective = true;
  b.ops.push_back(op);
  f.blocks.push_back(b);
  f.calls.push_back({0, count, false});
  return f;
}

static double stateGB(int zero) {
  Layout l;
  l.dp = 64;
  l.zeroStage = zero;
  Workload w;
  w.globalBatch = 64;
  w.gradientBytes = 2; // the paper's 16-bit gradients
  Cluster c = makeCluster(llvm::cantFail(findChip("v100")), 8, 8);
  MemoryUse use = memoryUse(layers(75, 100000000, 0), l, w, c);
  return (use.weights + use.gradients + use.optimizer) / 1e9;
}

// arXiv 1910.02054, figure 1: 7.5B parameters over 64 ranks.
TEST(Memory, ZeroPaperFigure1) {
  EXPECT_NEAR(stateGB(0), 120, 0.05);
  EXPECT_NEAR(stateGB(1), 31.4, 0.05);
  EXPECT_NEAR(stateGB(2), 16.6, 0.05);
  EXPECT_NEAR(stateGB(3), 1.9, 0.05);
}

// The same paper's table 1: GB on each device for 7.5B, 128B and 1T parameters,
// with optimizer, gradients and weights divided one after another. Printed
// figures are cut or rounded to three digits.
TEST(Memory, ZeroPaperTable1) {
  struct Row {
    int dp;
    double gb[3][3]; ///< by model, by stage
  };
  const Row table[] = {
      {1, {{120, 120, 120}, {2048, 2048, 2048}, {16000, 16000, 16000}}},
      {4, {{52.5, 41.3, 30}, {896, 704, 512}, {7000, 5500, 4000}}},
      {16, {{35.6, 21.6, 7.5}, {608, 368, 128}, {4750, 2875, 1000}}},
      {64, {{31.4, 16.6, 1.88}, {536, 284, 32}, {4187, 2218, 250}}},
      {256, {{30.4, 15.4, 0.47}, {518, 263, 8}, {4046, 2054, 62.5}}},
      {1024, {{30.1, 15.1, 0.12}, {513, 257, 2}, {4011, 2013, 15.6}}}};
  const int64_t sizes[] = {7500000000, 128000000000, 1000000000000};
  for (const Row &row : table)
    for (int model = 0; model < 3; ++model)
      for (int stage = 1; stage <= 3; ++stage) {
        Layout l;
        l.dp = row.dp;
        l.zeroStage = stage;
        Workload w;
        w.globalBatch = row.dp;
        w.gradientBytes = 2;
        Cluster c = makeCluster(llvm::cantFail(findChip("v100")),
                                (row.dp + 15) / 16, std::min(row.dp, 16));
        MemoryUse use = memoryUse(layers(1, sizes[model], 0), l, w, c);
        double expected = row.gb[model][stage - 1];
        EXPECT_NEAR((use.weights + use.gradients + use.optimizer) / 1e9,
                    expected, std::max(0.006, 0.005 * expected))
            << row.dp << " " << model << " " << stage;
      }
}

// Bytes a parameter by Megatron-Core's user guide, "Distributed Optimizer":
// 18 or 6 + 12/d with 32-bit gradients, 20 or 4 + 16/d with 16-bit ones, whose
// 32-bit copies exist while the optimizer steps.
TEST(Memory, MegatronDistributedOptimizer) {
  for (int d : {1, 8, 64})
    for (bool narrow : {false, true})
      for (int stage : {0, 1}) {
        Layout l;
        l.dp = d;
        l.zeroStage = stage;
        Workload w;
        w.globalBatch = d;
        w.gradientBytes = narrow ? 2 : 4;
        w.stepBytes = narrow ? 4 : 0;
        Cluster c = makeCluster(llvm::cantFail(findChip("h100")), (d + 7) / 8,
                                std::min(d, 8));
        double shards = stage ? d : 1;
        double expected = narrow ? 4 + 16 / shards : 6 + 12 / shards;
        EXPECT_NEAR(memoryUse(layers(1, 1000000, 0), l, w, c).allocated() / 1e6,
                    expected, 1e-9)
            << d << " " << narrow << " " << stage;
      }
}

TEST(Memory, CopiesForTheStepComeWhenActivationsAreGone) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(4, 1000, 1000); // keeps 6000
  Workload w;
  Layout l;
  w.stepBytes = 1;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).transient, 0);
  w.stepBytes = 2;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).transient, 4000 * 2 - 6000);
}

TEST(Memory, OffloadedLayersKeepOneForTheWayBack) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(8, 1000, 1000);
  Workload w;
  w.globalBatch = 16;
  w.offloadedLayers = 3;
  MemoryUse use = memoryUse(f, Layout(), w, c);
  EXPECT_DOUBLE_EQ(use.activations, 5 * 1500);
  EXPECT_DOUBLE_EQ(use.transient, 1500);
  Layout l; // three of each stage
  l.pp = 2;
  use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.activations, 2 * (4 - 3) * 1500);
}

TEST(Memory, MasterShardsReplaceWeights) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(1, 8000, 0);
  Layout l;
  l.dp = 8;
  l.zeroStage = 3;
  Workload w = workloadOf(llvm::cantFail(stackTraits("llm-foundry")));
  w.globalBatch = 8;
  // PyTorch's FSDP: 32-bit weights, gradients and moments, 16 bytes.
  MemoryUse use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.weights + use.gradients + use.optimizer, 16 * 1000);
  l.zeroStage = 2;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).weights, 2 * 8000);
  // DeepSpeed gathers weights one by one.
  w = workloadOf(llvm::cantFail(stackTraits("deepspeed")));
  w.globalBatch = 8;
  l.zeroStage = 3;
  use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.weights, 2 * 1000);
  EXPECT_DOUBLE_EQ(use.transient, (4 + 2 * 2) * 8000 / 4.0);
}

TEST(Memory, NoDeviceShowsMoreThanItHas) {
  MemoryUse use;
  use.weights = 70;
  use.context = 5;
  use.reserve = 3;
  use.cached = 10;
  EXPECT_DOUBLE_EQ(use.needed(), 75);
  EXPECT_DOUBLE_EQ(use.total(), 78);
  EXPECT_DOUBLE_EQ(use.shown(100), 85);
  EXPECT_DOUBLE_EQ(use.shown(80), 80); // the allocator gives back what it holds
  EXPECT_DOUBLE_EQ(use.shown(60), 75);
}

TEST(Memory, RecomputationKeepsLess) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(4, 1000, 1000);
  Workload w;
  Layout l;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).activations, 4 * 1500);
  l.recompute = RecomputeKind::Selective;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).activations, 4 * 1000);
  l.recompute = RecomputeKind::Full;
  MemoryUse full = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(full.activations, 4 * 10);
  EXPECT_DOUBLE_EQ(full.transient, 1500 - 10); // one block at a time again
}

TEST(Memory, RecomputedLayersOfAChunkKeepTheirInputs) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(8, 1000, 1000);
  Workload w;
  w.globalBatch = 16;
  Layout l;
  l.recompute = RecomputeKind::Full;
  l.recomputeLayers = 3;
  MemoryUse use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.activations, 3 * 10 + 5 * 1500);
  EXPECT_DOUBLE_EQ(use.transient, 1500 - 10);
  // Two stages of 2 and 6 layers: the first holds two microbatches of 2 * 10,
  // the second one of 3 * 10 + 3 * 1500.
  l.pp = 2;
  l.chunkLayers = {2, 6};
  use = memoryUse(f, l, w, c);
  EXPECT_EQ(use.stage, 1);
  EXPECT_DOUBLE_EQ(use.activations, 3 * 10 + 3 * 1500);
}

TEST(Memory, ShardedGradientsExistWholeForOneBlock) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(8, 1000, 0);
  Workload w;
  w.globalBatch = 16;
  Layout l;
  l.dp = 4;
  l.pp = 2;
  l.zeroStage = 2;
  MemoryUse use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.weights, 2 * 4 * 1000);
  EXPECT_DOUBLE_EQ(use.gradients, 4 * 4 * 1000 / 4);
  EXPECT_DOUBLE_EQ(use.transient, 4 * 1000);
  l.zeroStage = 3; // and the weights of two
  use = memoryUse(f, l, w, c);
  EXPECT_DOUBLE_EQ(use.weights, 2 * 4 * 1000 / 4);
  EXPECT_DOUBLE_EQ(use.transient, (4 + 2 * 2) * 1000);
}

TEST(Memory, FirstStageHoldsAllMicrobatchesInFlight) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  ModelFeatures f = layers(8, 1000, 1000);
  Workload w;
  w.globalBatch = 16;
  Layout l;
  l.pp = 4;
  MemoryUse use = memoryUse(f, l, w, c);
  EXPECT_EQ(use.stage, 0);
  EXPECT_DOUBLE_EQ(use.activations, 4 * 2 * 1500);
  EXPECT_DOUBLE_EQ(use.weights, 2 * 2 * 1000);
  // The stages behind it have one microbatch less in flight each.
  std::vector<MemoryUse> stages;
  memoryUse(f, l, w, c, &stages);
  ASSERT_EQ(stages.size(), 4u);
  for (int s = 0; s < 4; ++s) {
    EXPECT_EQ(stages[s].stage, s);
    EXPECT_DOUBLE_EQ(stages[s].activations, (4 - s) * 2 * 1500);
  }
}

TEST(Memory, HybridShardingDividesByItsGroup) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 8, 8);
  ModelFeatures f = layers(1, 6400, 0);
  Workload w;
  w.globalBatch = 64;
  Layout l;
  l.dp = 64;
  l.zeroStage = 3;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).weights, 200);
  l.shardGroup = 8;
  EXPECT_DOUBLE_EQ(memoryUse(f, l, w, c).weights, 1600);
}

TEST(Memory, LargestPartsAddUp) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 1, 8);
  MemoryUse use = memoryUse(layers(4, 1000, 1000), Layout(), Workload(), c);
  EXPECT_DOUBLE_EQ(use.total(), use.weights + use.gradients + use.optimizer +
                                    use.activations + use.transient +
                                    use.communication + use.context +
                                    use.reserve);
  EXPECT_GT(use.context, 0);
}

// What the stages hold, added up layer by layer.
TEST(Memory, StagesAddUpTheirLayers) {
  Cluster c = makeCluster(llvm::cantFail(findChip("a100")), 4, 8);
  std::mt19937 random(11);
  auto pick = [&](int n) { return int(random() % n); };
  for (int trial = 0; trial < 300; ++trial) {
    ModelFeatures f;
    std::vector<int> kinds; // of each layer
    for (int b = 0; b < 4; ++b) {
      BlockFeatures block =
          layers(1, 1000 + pick(1000), 100 + pick(100)).blocks[0];
      block.expertParameters = pick(500);
      block.inputBytes = 1 + pick(50);
      block.transientBytes = pick(400);
      f.blocks.push_back(block);
    }
    f.calls.push_back({2, 1, true});
    for (int i = 0; i < 3; ++i) {
      int kind = pick(2), count = 2 + pick(9);
      f.calls.push_back({kind, count, false});
      kinds.insert(kinds.end(), count, kind);
    }
    f.calls.push_back({3, 1, true});
    Layout l;
    l.pp = 1 + pick(4);
    l.vpp = l.pp > 1 ? 1 + pick(2) : 1;
    int chunks = l.pp * l.vpp, n = int(kinds.size());
    if (chunks > n)
      continue;
    l.recompute = static_cast<RecomputeKind>(pick(3));
    l.recomputeLayers = pick(3);
    Workload w;
    w.globalBatch = 8;
    w.offloadedLayers = pick(3);
    if (pick(2)) { // uneven
      l.chunkLayers.assign(chunks, 1);
      for (int i = chunks; i < n; ++i)
        ++l.chunkLayers[pick(chunks)];
    }
    auto sizes = l.chunkLayers.empty() ? evenChunks(n, chunks) : l.chunkLayers;
    std::vector<double> weights(l.pp), kept(l.pp), again(l.pp), out(l.pp);
    auto all = [&](int kind) {
      const BlockFeatures &b = f.blocks[kind];
      return double(b.ops[0].savedBytes + b.ops[1].savedBytes);
    };
    std::vector<int> away(l.pp, w.offloadedLayers);
    int layer = 0;
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int i = 0; i < sizes[chunk]; ++i, ++layer) {
        int s = chunk % l.pp;
        const BlockFeatures &b = f.blocks[kinds[layer]];
        weights[s] += double(b.denseParameters + b.expertParameters);
        bool some = l.recompute == RecomputeKind::Full && l.recomputeLayers > 0;
        bool redone = !some || i < l.recomputeLayers;
        double mine = all(kinds[layer]);
        if (redone && l.recompute == RecomputeKind::Selective)
          mine = double(b.ops[0].savedBytes);
        if (redone && l.recompute == RecomputeKind::Full)
          mine = double(b.inputBytes);
        if (away[s]-- > 0)
          mine = 0;
        kept[s] += mine;
        again[s] = std::max(again[s], all(kinds[layer]) - mine);
        out[s] = std::max(out[s], double(b.transientBytes));
      }
    weights.front() +=
        double(f.blocks[2].denseParameters + f.blocks[2].expertParameters);
    weights.back() +=
        double(f.blocks[3].denseParameters + f.blocks[3].expertParameters);
    out.front() = std::max(out.front(), double(f.blocks[2].transientBytes));
    out.back() = std::max(out.back(), double(f.blocks[3].transientBytes));
    std::vector<MemoryUse> stages;
    memoryUse(f, l, w, c, &stages);
    ASSERT_EQ(int(stages.size()), l.pp);
    PipelineProblem pipeline;
    pipeline.stages = l.pp;
    pipeline.virtualStages = l.vpp;
    pipeline.microBatches = 8;
    pipeline.schedule = l.schedule;
    for (int s = 0; s < l.pp; ++s) {
      EXPECT_DOUBLE_EQ(stages[s].weights, 2 * weights[s]);
      double flight = double(chunksInFlight(pipeline, s)) / l.vpp;
      double pinned = (s == 0 ? all(2) : 0) + (s == l.pp - 1 ? all(3) : 0);
      EXPECT_DOUBLE_EQ(stages[s].activations, kept[s] * flight + pinned);
      EXPECT_DOUBLE_EQ(stages[s].transient, std::max(again[s], out[s]));
    }
  }
}
