//===- WordsTest.cpp - how sources spell things ---------------------------===//
#include "lib/Planning/Validate/Words.h"
#include "lib/Planning/Validate/Case.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

TEST(Words, ChipsAreUnderstood) {
  const std::pair<const char *, const char *> spellings[] = {
      {"V100", "v100-32g-sxm"},
      {"V100-SXM2-32GB", "v100-32g-sxm"},
      {"Tesla V100-SXM3-32GB", "v100-32g-sxm"},
      {"NVIDIA V100 16GB", "v100-16g-sxm"},
      {"Tesla_V100-SXM2-16GB", "v100-16g-sxm"},
      {"V100 (DGX-2)", "v100-32g-sxm"},
      {"A100", "a100-80g-sxm"},
      {"a100_80gb", "a100-80g-sxm"},
      {"A100-SXM4-80GB", "a100-80g-sxm"},
      {"8x A100 80GB SXM4", "a100-80g-sxm"},
      {"8xA100", "a100-80g-sxm"},
      {"NVIDIA_A100-SXM4-40GB", "a100-40g-sxm"},
      {"A100-40GBx8", "a100-40g-sxm"},
      {"DGX-A100 (8x40G)", "a100-40g-sxm"},
      {"40GB A100", "a100-40g-sxm"},
      {"A100 SXM 40G", "a100-40g-sxm"},
      {"NVIDIA A100 40GB PCIe", "a100-40g-pcie"},
      {"A100-PCIE-80GB", "a100-80g-pcie"},
      {"A800", "a800-80g-sxm"},
      {"NVIDIA_A800-SXM4-80GB", "a800-80g-sxm"},
      {"H100", "h100-sxm"},
      {"nvidia_h100", "h100-sxm"},
      {"H100 SXM5 80GB", "h100-sxm"},
      {"HGX H100", "h100-sxm"},
      {"DGX-H100", "h100-sxm"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"H100-96GB HBM2e (500W)", "h100-96g-500w"},
      {"H100 PCIe", "h100-pcie"},
      {"H100-NVL", "h100-nvl"},
      {"H800", "h800-sxm"},
      {"H200", "h200-sxm"},
      {"NVIDIA H200-SXM-141GB", "h200-sxm"},
      {"DGX B200", "b200-sxm"},
      {"GB200 NVL72", "gb200-nvl72"},
      {"NVIDIA_GB200", "gb200-nvl72"},
      {"L40S 48GB", "l40s"},
      {"NVIDIA GeForce RTX 4090", "rtx-4090"},
      {"RTX4090", "rtx-4090"},
      {"p4d.24xlarge", "a100-40g-sxm"},
      {"AWS p4de.24xlarge", "a100-80g-sxm"},
      {"p5.48xlarge", "h100-sxm"},
      {"p5en.48xlarge", "h200-sxm"},
      {"a3-megagpu-8g", "h100-sxm"},
      {"a2-highgpu-1g", "a100-40g-sxm"}};
  for (auto [written, name] : spellings) {
    Expected<Chip> c = chipOf(written);
    EXPECT_TRUE(bool(c)) << written;
    if (c)
      EXPECT_EQ(c->name, name) << written;
    else
      consumeError(c.takeError());
  }
  EXPECT_EQ(cantFail(chipOf("V100-SXM3-32GB (DGX-2)")).gpusPerNode, 16);
}

// A part that resembles one of the table is not taken for it.
TEST(Words, OtherChipsAreRefused) {
  for (const char *written :
       {"TPU v5p", "MI300X", "GH200", "H200 NVL", "A100-64GB", "A10G", "A6000",
        "V100-PCIE-32GB", "RTX 3090", "T4", "Gaudi 2", "Ascend 910B", "P100",
        "A40", "L4", "L40", "RTX 6000 Ada", "", "GPU"}) {
    Expected<Chip> c = chipOf(written);
    EXPECT_FALSE(bool(c)) << written;
    if (!c)
      EXPECT_TRUE(StringRef(toString(c.takeError()))
                      .starts_with(("unknown chip '" + Twine(written)).str()))
          << written;
  }
}

static Cluster cluster(StringRef chip, StringRef interconnect, int gpus = 64,
                       int perNode = 0) {
  Point p;
  p.interconnect = interconnect.str();
  p.gpusPerNode = perNode;
  return clusterOf(p, cantFail(chipOf(chip)), gpus);
}

TEST(Words, Networks) {
  struct {
    const char *chip, *text;
    double gbitPerNode;
  } const known[] = {
      {"A100", "400 Gbps node-node", 400},
      {"A100", "1600 Gbps node-node", 1600},
      {"H100", "3.2 Tbps", 3200},
      {"A100", "4 * 100Gb RoCE", 400},
      {"A100", "4x100Gb/s InfiniBand", 400},
      {"A100", "8x 200 Gb/s HDR InfiniBand", 1600},
      {"A100", "NVLink 600 GB/s; 8 x 200Gbps RDMA", 1600},
      {"A100", "NVLink3 + 2x HDR", 400},
      {"A100", "NVLink (600 GB/s) and InfiniBand (4x 200 Gb/s)", 800},
      {"V100", "2x EDR InfiniBand", 200},
      {"V100", "4 x Omni-Path", 400},
      {"H100", "NVLink; 400 Gb/s RDMA per GPU (Grand Teton)", 3200},
      {"H100", "8x ConnectX-7 400 Gb/s", 3200},
      {"H100", "InfiniBand NDR", 3200},
      {"H100", "25 GB/s per node Ethernet", 200},
      {"A100", "EFA 400 Gbps", 400},
      {"A100", "PCIe 4.0 x16, 100 Gb/s InfiniBand", 800},
      {"V100", "NVLink; InfiniBand 100 Gb/sec (4X EDR), one port", 100},
      {"A100", "HDR InfiniBand, 4 HCAs", 800},
      {"A100", "dual 100 Gb/s NICs", 200},
      {"H100", "8 NVIDIA 400 Gbps InfiniBand host channel adapters", 3200},
      {"H100", "400 Gb/s NIC per GPU", 3200},
      {"L40S", "PCIe; 10GbE", 10}};
  for (const auto &k : known) {
    Network n = cluster(k.chip, k.text).network;
    EXPECT_NEAR(n.nicsPerNode * n.nicBandwidth * 8e-9, k.gbitPerNode, 0.01)
        << k.text;
  }
  // What says nothing leaves the usual server as it is.
  Network usual = cluster("H100", "").network;
  for (const char *text : {"NVLink", "NVSwitch 900 GB/s", "-", "fast",
                           "99999999999999 Gb/s", "A3 VM", "BF3"}) {
    Network n = cluster("H100", text).network;
    EXPECT_EQ(n.nicsPerNode * n.nicBandwidth,
              usual.nicsPerNode * usual.nicBandwidth)
        << text;
  }
  Cluster four = cluster("A100", "", 64, 4);
  EXPECT_EQ(four.gpusPerNode, 4);
  EXPECT_EQ(four.nodes, 16);
  EXPECT_EQ(four.network.nicsPerNode, 4);
  EXPECT_EQ(cluster("RTX 4090", "PCIe").network.nvlinkDomain, 1);
}

TEST(Words, Precisions) {
  auto of = [](const char *text) {
    Point p;
    p.precision = text;
    return precisionOf(p);
  };
  for (const char *text :
       {"bf16", "BF16", "bfloat16", "fp16", "float16", "amp", "AMP O2", "mixed",
        "fp16 mixed", "bf16-mixed", "16-bit", "half", "BF16 (fp32 grads)",
        "bf16 + fp32 accumulate", "", "-", "n/a"})
    EXPECT_EQ(cantFail(of(text)).linear, DataType::BF16) << text;
  for (const char *text : {"fp8", "FP8-CS", "FP8-MX", "float8", "bf16+fp8",
                           "Float8 rowwise", "e4m3", "fp8_hybrid"})
    EXPECT_EQ(cantFail(of(text)).linear, DataType::FP8) << text;
  for (const char *text : {"nvfp4", "FP4", "MXFP4"})
    EXPECT_EQ(cantFail(of(text)).linear, DataType::FP4) << text;
  for (const char *text : {"fp32", "FP32", "tf32", "float32", "full", "int8",
                           "nf4", "QLoRA 4-bit", "posit"})
    EXPECT_TRUE(
        StringRef(toString(of(text).takeError())).starts_with("precision '"))
        << text;
}

TEST(Words, Recomputation) {
  auto is = [](const char *text, RecomputeKind kind, double share = 1) {
    Recomputation r = recomputationOf(text);
    EXPECT_TRUE(r.stated && r.understood) << text;
    EXPECT_EQ(r.kind, kind) << text;
    EXPECT_DOUBLE_EQ(r.share, share) << text;
  };
  for (const char *text : {"none", "None", "no", "off", "false", "0"})
    is(text, RecomputeKind::None);
  for (const char *text :
       {"full", "Full", "yes", "true", "1", "on", "uniform", "full AC", "block",
        "gradient checkpointing", "activation checkpointing", "save_qkv_proj",
        "AC", "re-materialization", "remat", "80 of 80 layers"})
    is(text, RecomputeKind::Full);
  for (const char *text :
       {"selective", "Selective", "SAC", "core_attn", "attention",
        "minimal_flash", "partial", "selective op"})
    is(text, RecomputeKind::Selective);
  for (const char *text : {"selective layer", "every 2nd layer",
                           "every other block", "1/2 of blocks", "50%"})
    is(text, RecomputeKind::Full, 0.5);
  is("1/4", RecomputeKind::Full, 0.25);
  is("20 of 80 layers", RecomputeKind::Full, 0.25);
  is("every 4 layers", RecomputeKind::Full, 0.25);
  for (const char *text : {"", "-", "n/a", "unknown", "?"}) {
    EXPECT_FALSE(recomputationOf(text).stated) << text;
    EXPECT_TRUE(recomputationOf(text).understood) << text;
  }
  EXPECT_FALSE(recomputationOf("as we like").understood);
}

TEST(Words, Frameworks) {
  struct {
    const char *source, *notes;
    int zero;
    const char *stack;
    int tp = 1, pp = 1;
  } const rows[] = {
      {"pytorch/torchtitan@1:x.md", "", 3, "torchtitan"},
      {"pytorch/torchtune@1:README.md", "", -1, "torchtitan"},
      {"MosaicML llm-foundry", "", 3, "llm-foundry"},
      {"mosaicml/examples@1:llm/README.md", "MosaicGPT", 3, "llm-foundry"},
      {"arXiv 2302.02599", "Colossal-AI", 1, "deepspeed"},
      {"Megatron-DeepSpeed", "", 1, "megatron-deepspeed"},
      {"deepspeed 0.11.1", "ZeRO-3", 3, "deepspeed"},
      // DeepSpeed splits no tensors by itself.
      {"arXiv 2210.02414", "DeepSpeed", 1, "megatron-deepspeed", 4, 8},
      {"arXiv 2201.11990", "Megatron and DeepSpeed", 1, "megatron-deepspeed"},
      {"google/maxtext", "", 3, "jax"},
      {"NeMo 24.09", "", 1, "nemo"},
      // What a row names comes before the repository that it is in.
      {"NVIDIA/dgxc-benchmarking@1:hf/README.md", "Hugging Face accelerate", 3,
       "accelerate"},
      {"NVIDIA/dgxc-benchmarking@1:nemotron/README.md", "", 3, "nemo"},
      {"QwenLM/Qwen@1:README.md", "transformers, DeepSpeed", 3, "deepspeed"},
      {"InternLM/xtuner@1:benchmark.md", "", -1, "accelerate"},
      {"a blog", "Transformer Engine", 1, "megatron-core"},
      // Releases before Megatron-Core are told by their year.
      {"a report", "Megatron-LM@8aa4619 (2021)", 1, "megatron-2021", 8},
      {"a report", "Megatron-LM of 2022", 1, "megatron-2022", 8},
      {"a report", "Megatron-LM; 2021 is the year of the GPUs", 1,
       "megatron-core", 8},
      {"a report", "Megatron-LM@20215b1", 1, "megatron-core", 8},
      {"OneFlow-Inc/DLPerf@1:README.md", "", 0, "megatron-2021"},
      {"arXiv 2304.11277", "FSDP", 3, "llm-foundry"},
      // The wrapper alone splits no tensors and has no pipeline.
      {"arXiv 2407.21783", "FSDP", 2, "torchtitan", 8, 16},
      {"a blog", "FSDP2 + torch.compile", 3, "torchtitan"},
      {"a blog", "", -1, "megatron-core"}};
  for (const auto &row : rows) {
    Point p;
    p.source = row.source;
    p.notes = row.notes;
    p.zeroStage = row.zero;
    p.tp = row.tp;
    p.pp = row.pp;
    EXPECT_EQ(stackOf(p), row.stack) << row.source << " " << row.notes;
  }
}

TEST(Words, FrameworksThatStandForOthers) {
  struct {
    const char *source, *notes;
    int zero;
    bool own;
  } const rows[] = {
      {"pytorch/torchtitan@1:x.md", "", 3, true},
      {"google/maxtext", "", 3, true},
      {"dgxc-benchmarking", "Paxml 5B", 3, false},
      {"NeMo 24.09", "", 1, true},
      {"arXiv 2302.02599", "Colossal-AI", 1, false},
      {"mosaicml/llm-foundry", "", 3, true},
      // PyTorch's DDP with its ZeroRedundancyOptimizer.
      {"Dao-AILab/flash-attention", "PyTorch DDP (Lightning)", 1, false},
      {"a blog", "", -1, false}};
  for (const auto &row : rows) {
    Point p;
    p.source = row.source;
    p.notes = row.notes;
    p.zeroStage = row.zero;
    EXPECT_EQ(isOwnStack(p, stackOf(p)), row.own)
        << row.source << " " << row.notes;
  }
}

TEST(Words, Practice) {
  auto traits = [](const char *stack, const char *notes) {
    Point p;
    p.notes = notes;
    StackTraits t = cantFail(stackTraits(stack));
    applyPractice(p, t);
    return t;
  };
  EXPECT_EQ(traits("deepspeed", "flash attention 2").attention,
            AttentionKernel::Flash2);
  EXPECT_EQ(traits("llm-foundry", "torch 1.12; flash attention").attention,
            AttentionKernel::Flash1);
  EXPECT_EQ(traits("deepspeed", "no flash attention").attention,
            AttentionKernel::Unfused);
  EXPECT_EQ(traits("torchtitan", "FA3").attention, AttentionKernel::Native);
  for (const char *eager : {"FSDP; eager", "torch.compile off; eager"}) {
    EXPECT_FALSE(traits("torchtitan", eager).fusedElementwise) << eager;
    EXPECT_TRUE(traits("torchtitan", eager).composed) << eager;
  }
  EXPECT_FALSE(traits("torchtitan", "eager; fused rms norm").composed);
  for (const char *compiled : {"FSDP + torch.compile", "FSDP2"}) {
    EXPECT_TRUE(traits("torchtitan", compiled).fusedElementwise) << compiled;
    EXPECT_FALSE(traits("torchtitan", compiled).composed) << compiled;
  }
  EXPECT_TRUE(traits("megatron-deepspeed", "PaddleNLP").composed);
  EXPECT_TRUE(traits("torchtitan", "torchtitan; torch.compile").fusedLoss);
  EXPECT_FALSE(traits("torchtitan", "torchtitan of 2024").fusedLoss);
  EXPECT_FALSE(traits("torchtitan", "torchtitan; eager").fusedLoss);
  EXPECT_FALSE(traits("torchtitan", "FSDP2; torch.compile").fusedLoss);
  EXPECT_TRUE(traits("torchtitan", "torchtune; torch.compile").fusedLoss);
  EXPECT_FALSE(traits("torchtitan", "torchtune").fusedLoss);
  EXPECT_FALSE(
      traits("megatron-deepspeed", "PaddleNLP; fused_rms_norm").composed);
  // XLA's fused attention on GPUs comes from Transformer Engine.
  EXPECT_EQ(traits("jax", "Transformer Engine").attention,
            AttentionKernel::Native);
  EXPECT_EQ(traits("jax", "without Transformer Engine").attention,
            AttentionKernel::Unfused);
  // transformers' modules, whatever shards them.
  StackTraits hugging = traits("deepspeed", "Hugging Face; flash attention");
  EXPECT_TRUE(hugging.composed);
  EXPECT_FALSE(hugging.jointHeads || hugging.jointGate);
  EXPECT_EQ(hugging.attention, AttentionKernel::Flash2);
  EXPECT_FALSE(traits("accelerate", "Hugging Face; Liger").composed);
  Point p;
  p.notes = "FSDP; shard_group=32";
  EXPECT_EQ(shardGroupOf(p, 8), 32);
  p.notes = "HSDP";
  EXPECT_EQ(shardGroupOf(p, 8), 8);
  p.notes = "FSDP";
  EXPECT_EQ(shardGroupOf(p, 8), 0);
  p.notes = "ZeRO-Offload";
  EXPECT_NE(notModelled(p), "");
  p.notes = "offload=false";
  EXPECT_EQ(notModelled(p), "");
}

// scripts/performance/configs/{deepseek,kimi,qwen} of Megatron-Bridge.
TEST(Words, Recipes) {
  auto apply = [](const char *model, const char *chip, int ep, int microBatch,
                  const char *source = "NVIDIA-NeMo/Megatron-Bridge") {
    Point p;
    p.source = source;
    p.table = "26.06 NeMo Container";
    p.model = model;
    p.chip = chip;
    p.microBatch = microBatch;
    std::pair<StackTraits, Layout> out;
    out.first = cantFail(stackTraits(stackOf(p)));
    out.second.ep = ep;
    out.second.dispatcher = out.first.dispatcher;
    applyRecipe(p, out.first, out.second);
    return out;
  };
  auto allToAll = DispatcherKind::AllToAll, fused = DispatcherKind::Fused;
  EXPECT_EQ(apply("Qwen3_235B_a22B", "H100", 32, 1).second.dispatcher,
            allToAll);
  EXPECT_TRUE(apply("Qwen3_235B_a22B", "H100", 32, 1).second.overlapExperts);
  EXPECT_EQ(apply("Qwen3_235B_a22B", "B200", 8, 1).second.dispatcher, allToAll);
  EXPECT_FALSE(apply("Qwen3_235B_a22B", "B200", 8, 1).second.overlapExperts);
  EXPECT_EQ(apply("Qwen3_235B_a22B", "GB200", 32, 1).second.dispatcher, fused);
  EXPECT_TRUE(apply("DeepSeekV3", "B200", 32, 1).second.overlapExperts);
  EXPECT_FALSE(apply("DeepSeekV3", "GB300", 32, 1).second.overlapExperts);
  EXPECT_TRUE(apply("DeepSeekV3", "GB300", 32, 1).first.fusedExperts);
  EXPECT_FALSE(apply("Kimi_K2", "GB300", 64, 2).first.fusedExperts);
  // In MXFP8, which Hopper has not.
  EXPECT_FALSE(apply("Qwen3_30B_a3B", "H100", 16, 1).first.fusedExperts);
  EXPECT_TRUE(
      apply("Qwen3_30B_a3B (tokendrop)", "H100", 8, 2).first.cudaGraphs);
  EXPECT_FALSE(apply("Qwen3_30B_a3B", "H100", 8, 2).first.cudaGraphs);
  EXPECT_FALSE(apply("Qwen3_30B_a3B (tokendrop)", "H100", 8, 2, "NeMo")
                   .first.cudaGraphs);
}
