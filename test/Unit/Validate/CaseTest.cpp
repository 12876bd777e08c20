//===- CaseTest.cpp - rows made ready to predict --------------------------===//
#include "lib/Planning/Validate/Case.h"
#include "tessera/Forecast/GraphSource.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

/// Models are built once for all tests.
static RowSources &sources() {
  static RowSources all(makeGraphSource);
  return all;
}

namespace {
/// A GPT of 78 layers on 384 GPUs, as BigScience ran it.
struct FactsOfARun : ::testing::Test {
  FactsOfARun() {
    p.run = "r";
    p.source = "bigscience";
    p.model = "GPT-182B";
    p.chip = "A100-80GB";
    p.layers = 78;
    p.hidden = 13824;
    p.heads = 64;
    p.sequence = 2048;
    p.globalBatch = 2048;
    p.microBatch = 2;
    p.dp = 8;
    p.tp = 4;
    p.pp = 12;
    p.cp = 1;
  }
  Case make() { return cantFail(makeCase({&p}, sources())); }
  Point p;
};

/// Four layers on one GPU, by nobody's framework.
struct SmallRun : ::testing::Test {
  SmallRun() {
    p.run = "r";
    p.source = "x";
    p.chip = "A100";
    p.layers = 4;
    p.hidden = 1024;
    p.heads = 16;
    p.sequence = 128;
    p.globalBatch = 8;
    p.dp = p.tp = p.pp = p.cp = p.microBatch = 1;
  }
  Point p;
};
} // namespace

TEST_F(FactsOfARun, VocabularyInWords) {
  EXPECT_EQ(make().shape.vocab, 51200);
  p.notes = "cfg=complete; vocab ~250k; layer split uneven";
  EXPECT_EQ(make().shape.vocab, 250880); // BLOOM's
}

// "78/12=6.5 - so the last stage has 1 block, while the rest have 7";
// 2 + 70 layers divide, and embedding and head then count as layers.
TEST_F(FactsOfARun, DeepSpeedFillsStagesUp) {
  Case c = make();
  ASSERT_EQ(c.layout.chunkLayers.size(), 12u);
  EXPECT_EQ(c.layout.chunkLayers.front(), 7);
  EXPECT_EQ(c.layout.chunkLayers.back(), 1);
  EXPECT_EQ(c.workload.gradientBytes, 2);
  p.layers = 70;
  c = make();
  EXPECT_TRUE(c.layout.chunkLayers.empty());
  EXPECT_EQ(c.workload.gradientBytes, 6);
}

TEST_F(FactsOfARun, OverlapSwitchedOff) {
  p.source = "nemo";
  EXPECT_TRUE(make().layout.overlapGradients);
  p.notes = "comm overlap off";
  Layout l = make().layout;
  EXPECT_FALSE(l.overlapGradients || l.overlapParameters ||
               l.overlapTensorParallel);
}

// "To reduce pipeline bubbles, we use an interleaved schedule ... the first
// model chunk on the first stage has only the embedding" (arXiv 2407.21783,
// section 3.3.2): 126 layers on 16 stages, how finely is not said.
TEST_F(FactsOfARun, InterleavedSomehow) {
  p.source = "x";
  p.notes = "FSDP";
  p.layers = 126;
  p.pp = 16;
  p.tp = 8;
  p.microBatch = 1;
  p.zeroStage = 2;
  p.globalBatch = 8 * 32;
  EXPECT_EQ(make().layout.vpp, 1);
  p.interleaved = true;
  Case c = make();
  EXPECT_EQ(c.stack, "torchtitan");
  EXPECT_EQ(c.layout.vpp, 4); // two layers to a chunk
  // Gradients of stages are summed over the microbatches before they travel.
  EXPECT_EQ(c.layout.zeroStage, 1);
}

// reduce_dtype of FSDP's MixedPrecision; Composer's "PURE" sets 16 bits too.
TEST_F(SmallRun, GradientsTravelAsTheRunSays) {
  p.dp = 8;
  p.zeroStage = 3;
  for (auto [notes, bytes] :
       {std::pair("PyTorch FSDP", 4),
        std::pair("PyTorch FSDP; gradients reduced in bf16 (policy)", 2),
        std::pair("PyTorch FSDP; MP mode PURE", 2)}) {
    p.notes = notes;
    Case c = cantFail(makeCase({&p}, sources()));
    EXPECT_TRUE(c.traits.masterShards);
    EXPECT_EQ(c.workload.gradientCommBytes, bytes) << notes;
  }
}

// --expert-tensor-parallel-size: "Default is same to
// --tensor-model-parallel-size" (megatron/core/transformer/moe/README.md).
TEST_F(FactsOfARun, ExpertsAreSplitAsTensorsAre) {
  p.source = "x";
  p.notes = "Megatron-LM; moe_ffn=4096";
  p.experts = 8;
  p.topk = 2;
  EXPECT_EQ(make().layout.etp, 4);
  p.notes = "Megatron-LM; moe_ffn=4096; ETP=1";
  EXPECT_EQ(make().layout.etp, 1);
  p.ep = 2;
  p.notes = "Megatron-LM; moe_ffn=4096";
  EXPECT_EQ(make().layout.etp, 1);
  p.notes = "Megatron-LM; moe_ffn=4096; etp=3";
  EXPECT_EQ(toString(makeCase({&p}, sources()).takeError()),
            "r: ep and etp = 6 do not divide the ranks of a stage");
}

// A pipeline is filled by many small microbatches; elsewhere large ones are
// the faster.
TEST_F(FactsOfARun, MicrobatchThatIsNotSaid) {
  p.source = "x";
  p.stack = "megatron-core";
  p.microBatch = 0;
  EXPECT_EQ(make().layout.microBatch, 1);
  p.layers = 4;
  p.hidden = 4096;
  p.heads = 32;
  p.pp = 1;
  p.globalBatch = 8 * 6;
  p.recompute = "none";
  Case c = make();
  EXPECT_EQ(c.layout.microBatch, 6);
  EXPECT_EQ(c.remarks, std::vector<std::string>(
                           {"micro_batch is not stated, taken as 6"}));
  p.layers = 40;
  p.hidden = 8192;
  p.heads = 64;
  EXPECT_LT(make().layout.microBatch, 6); // what fits
}

// FlashAttention and cuDNN's fused attention need Ampere.
TEST_F(FactsOfARun, VoltaHasNoFusedAttention) {
  p.source = "Megatron-Core";
  EXPECT_EQ(make().traits.attention, AttentionKernel::Native);
  p.chip = "V100";
  EXPECT_EQ(make().traits.attention, AttentionKernel::Unfused);
}

// Nothing trains a frozen weight, so it has no 32-bit copy whose shards FSDP
// could hold instead; and one GPU shards nothing.
TEST_F(FactsOfARun, FrozenWeightsAreHeld) {
  p.source = "torchtitan";
  p.layers = 4;
  p.pp = p.tp = p.microBatch = 1;
  p.zeroStage = 3;
  EXPECT_EQ(make().workload.shardedWeightBytes, 0);
  p.notes = "LoRA";
  EXPECT_EQ(make().workload.shardedWeightBytes, 2);
  p.dp = 1;
  p.zeroStage = -1;
  EXPECT_EQ(make().layout.zeroStage, 0);
}

TEST_F(FactsOfARun, TunedRecipesInterleave) {
  p.source = "nemo";
  p.layers = 96;
  p.pp = 8;
  EXPECT_EQ(make().layout.vpp, 6); // two layers to a chunk
  p.vpp = 1;
  EXPECT_EQ(make().layout.vpp, 1);
  p.vpp = 0;
  p.layers = 94; // does not divide
  EXPECT_EQ(make().layout.vpp, 1);
  p.layers = 96;
  p.globalBatch = 8 * 2 * 12; // 12 microbatches are no multiple of 8 stages
  EXPECT_EQ(make().layout.vpp, 1);
  p.source = "vTrain";
  p.globalBatch = 2048;
  EXPECT_EQ(make().layout.vpp, 1);
}

// Gradients of tuned recipes have 16 bits; Megatron-Core's own defaults 32.
TEST_F(FactsOfARun, OptimizersOfTunedRecipes) {
  p.source = "NVIDIA-NeMo/Megatron-Bridge";
  p.precision = "BF16";
  Workload w = make().workload;
  EXPECT_EQ(w.gradientBytes, 2);
  EXPECT_EQ(w.gradientCommBytes, 2);
  EXPECT_EQ(w.optimizerBytes, 2 + 4 + 4); // half a master copy, two moments
  EXPECT_EQ(w.stepBytes, 0);
  p.precision = "MXFP8";
  w = make().workload;
  EXPECT_EQ(w.optimizerBytes, 12);
  EXPECT_EQ(w.stepBytes, 4);
  p.source = "SimuMax";
  w = make().workload;
  EXPECT_EQ(w.gradientBytes, 4);
  EXPECT_EQ(w.optimizerBytes + w.stepBytes, 12);
}

// Megatron-Bridge's LLAMA3_70B_PRETRAIN_CONFIG_GB200_FP8_CS_V2 moves the
// activations of 40 of 80 layers to the host; GB200_BF16_V2, with half the
// microbatch, of 20 (scripts/performance/configs/llama). The published row
// says neither. The fewest that fit are assumed.
TEST_F(FactsOfARun, WhatMadeARunFitIsAssumed) {
  p.source = "NVIDIA-NeMo/Megatron-Bridge";
  p.model = "LLAMA3_70B";
  p.chip = "GB200";
  p.notes = "";
  p.layers = 80;
  p.hidden = 8192;
  p.heads = 64;
  p.kvHeads = 8;
  p.ffn = 28672;
  p.vocab = 128256;
  p.sequence = 8192;
  p.gpus = p.dp = 64;
  p.tp = p.pp = p.cp = 1;
  p.zeroStage = 3;
  p.globalBatch = 256;
  p.microBatch = 2;
  p.precision = "FP8";
  p.recompute = "";
  Case c = make();
  EXPECT_TRUE(c.recomputeInferred);
  EXPECT_EQ(c.layout.recompute, RecomputeKind::None);
  EXPECT_GE(c.workload.offloadedLayers, 30);
  EXPECT_LE(c.workload.offloadedLayers, 40);
  p.precision = "BF16";
  p.microBatch = 1;
  c = make();
  EXPECT_GE(c.workload.offloadedLayers, 1);
  EXPECT_LE(c.workload.offloadedLayers, 20);
  // Unsharded weights would not fit by themselves.
  p.zeroStage = -1;
  EXPECT_EQ(make().layout.zeroStage, 3);
  // What a source states is not changed.
  p.recompute = "none";
  c = make();
  EXPECT_FALSE(c.recomputeInferred);
  EXPECT_EQ(c.workload.offloadedLayers, 0);
  EXPECT_EQ(c.layout.zeroStage, 1);
  // Other recipes recompute as few layers of a stage as needed.
  p.recompute = "";
  p.pp = p.dp = 8;
  p.vpp = 1;
  p.microBatch = 2;
  c = make();
  EXPECT_EQ(c.layout.recompute, RecomputeKind::Full);
  EXPECT_GT(c.layout.recomputeLayers, 0);
  EXPECT_EQ(c.layout.zeroStage, 1);
  double needed = predict(c, defaultConstants()).memory.needed();
  EXPECT_LE(needed, c.cluster.chip.memoryBytes);
  --c.layout.recomputeLayers;
  EXPECT_GT(predict(c, defaultConstants()).memory.needed(),
            c.cluster.chip.memoryBytes);
}

// By name, else by the MLP's width: Llama's kin have a gate.
TEST_F(SmallRun, GatesOfUnknownFamilies) {
  p.chip = "A100";
  p.gpus = 1;
  const std::tuple<const char *, int, bool> models[] = {
      {"Baichuan2-13B", 2736, true}, {"ChatGLM3-6B", 3424, true},
      {"Aquila2-7B", 2752, true},    {"NewLM-7B", 2752, true},
      {"NewLM-7B", 4096, false},     {"GPT-3 7B", 3072, false},
      {"Nemotron-4", 3072, false},   {"PaLM-8B", 4096, true}};
  for (auto [name, ffn, gated] : models) {
    p.model = name;
    p.ffn = ffn;
    EXPECT_EQ(cantFail(makeCase({&p}, sources())).shape.gated, gated)
        << name << ffn;
  }
}

// What a framework cannot run is what the table of frameworks says, for rows of
// that framework.
TEST_F(SmallRun, ZeroStagesByTheTable) {
  p.chip = "8x A100-SXM4-80GB";
  p.gpus = 8;
  auto zero = [&](const char *source, int pp, int stage, size_t remarks) {
    p.source = source;
    p.pp = pp;
    p.dp = 8 / pp;
    p.zeroStage = stage;
    Case c = cantFail(makeCase({&p}, sources()));
    EXPECT_EQ(c.remarks.size(), remarks) << source << pp << stage;
    return c.layout.zeroStage;
  };
  EXPECT_EQ(zero("pytorch/torchtitan", 1, 3, 0), 3);
  EXPECT_EQ(zero("pytorch/torchtitan", 2, 3, 1), 1);
  EXPECT_EQ(zero("pytorch/torchtitan", 2, 1, 0), 1);
  // GPipe is MaxText's only schedule of those that there are.
  p.pp = 2;
  p.dp = 4;
  p.source = "google/maxtext";
  EXPECT_EQ(cantFail(makeCase({&p}, sources())).layout.schedule,
            ScheduleKind::GPipe);
  // llm-foundry has FSDP's stages; PyTorch's DDP with its
  // ZeroRedundancyOptimizer has the first.
  EXPECT_EQ(zero("mosaicml/llm-foundry", 1, 2, 0), 2);
  EXPECT_EQ(zero("a trainer of its own, PyTorch DDP", 1, 1, 0), 1);
}

TEST_F(SmallRun, RemarksAndRefusals) {
  p.chip = "8x A100-SXM4-80GB";
  p.dp = p.gpus = 8;
  auto make = [&] { return makeCase({&p}, sources()); };
  EXPECT_EQ(cantFail(make()).remarks,
            std::vector<std::string>({"no software is named (column 'stack'): "
                                      "taken for megatron-core"}));
  p.stack = "megatron-core";
  EXPECT_TRUE(cantFail(make()).remarks.empty());
  // Every second layer, of four.
  p.recompute = "every 2nd layer";
  EXPECT_EQ(cantFail(make()).layout.recomputeLayers, 2);
  p.recompute = "as we like";
  EXPECT_EQ(cantFail(make()).remarks,
            std::vector<std::string>(
                {"recompute 'as we like' is taken as not stated"}));
  p.recompute = "none";
  p.microBatch = 0;
  EXPECT_EQ(cantFail(make()).remarks,
            std::vector<std::string>({"micro_batch is not stated, taken "
                                      "as 1"}));
  p.microBatch = 1;
  // Of FSDP within nodes.
  p.zeroStage = 3;
  p.notes = "shard_group=4";
  EXPECT_EQ(cantFail(make()).layout.shardGroup, 4);
  p.notes = "shard_group=3";
  EXPECT_EQ(toString(make().takeError()),
            "r: shards over 3 ranks do not divide dp = 8");
  p.notes = "ZeRO-Offload";
  EXPECT_EQ(toString(make().takeError()),
            "r: state offloaded to the host is not modelled");
  p.notes = "";
  p.gpus = 16;
  EXPECT_EQ(toString(make().takeError()),
            "r: dp, tp, pp and cp make 8 GPUs, not the 16 of the row");
  // Expert-parallel ranks that a source counts apart from dp.
  p.experts = 8;
  p.topk = 2;
  p.ep = 2;
  p.notes = "moe_ffn=1024";
  EXPECT_EQ(cantFail(make()).layout.dp, 16);
  p.ep = p.experts = p.topk = 0;
  p.dp = 0;
  p.tp = 3;
  EXPECT_EQ(toString(make().takeError()),
            "r: 16 GPUs cannot be split over tp, pp and cp = 3");
}

TEST_F(SmallRun, ImpossibleRunsAreRefused) {
  p.chip = "H100";
  auto error = [](Point q) {
    return toString(makeCase({&q}, sources()).takeError());
  };
  EXPECT_TRUE(bool(makeCase({&p}, sources())));
  const std::pair<const char *, const char *> spellings[] = {
      {"A100-SXM4-80GB", "a100-80g-sxm"},
      {"NVIDIA A100 40GB PCIe", "a100-40g-pcie"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"H100-96GB HBM2e (500W)", "h100-96g-500w"},
      {"V100 (DGX-2)", "v100-32g-sxm"},
      {"V100-16GB", "v100-16g-sxm"},
      {"GB200 NVL72", "gb200-nvl72"},
      {"B200-SXM", "b200-sxm"}};
  for (auto [written, chip] : spellings) {
    Point q = p;
    q.chip = written;
    EXPECT_EQ(cantFail(makeCase({&q}, sources())).cluster.chip.name, chip)
        << written;
  }
  Point q = p;
  q.chip = "TPU v5p";
  EXPECT_TRUE(StringRef(error(q)).starts_with("unknown chip 'TPU v5p'"));
  q = p;
  q.tp = 32;
  EXPECT_EQ(error(q), "r: 16 heads cannot be split over tp = 32");
  q = p;
  q.pp = 64;
  EXPECT_EQ(error(q), "r: 4 layers cannot fill pp = 64 stages");
  q = p;
  q.sequence = 1000000000000;
  EXPECT_EQ(error(q), "r: seq is 1000000000000, more than 100000000");
  q = p;
  q.dp = 1000000;
  q.tp = 16;
  EXPECT_EQ(error(q), "r: dp, tp, pp and cp make more than 1000000 GPUs");
  q = p;
  q.globalBatch = 0;
  EXPECT_EQ(error(q), "r: global_batch is needed");
  q = p;
  q.experts = 8;
  EXPECT_EQ(error(q), "r: the experts' width is not stated");
}
