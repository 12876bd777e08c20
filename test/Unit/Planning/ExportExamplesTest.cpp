//===- ExportExamplesTest.cpp - published configs read as their authors say
//===//
//
// Each text holds the lines about parallelism and batches of a published
// config, named above it; the expectations come from the publication.
//
//===----------------------------------------------------------------------===//
#include "tessera/Planning/Export.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

static FrameworkRun read(StringRef text, StringRef where, StringRef format,
                         int64_t gpus = 0, int64_t layers = 0) {
  FrameworkReadOptions options;
  options.gpus = gpus;
  options.layers = layers;
  Expected<FrameworkRun> run = readFrameworkText(text, where, options);
  if (!run) {
    ADD_FAILURE() << toString(run.takeError());
    return {};
  }
  EXPECT_EQ(run->format, format.str());
  return *run;
}

// NVIDIA/Megatron-LM, README "GPT-3 Example" and
// examples/gpt3/train_gpt3_175b_distributed.sh (157006d6): 1024 A100, 8-way
// tensor and 16-way pipeline parallelism, batch 1536. The script itself is for
// one node.
TEST(ExportExamples, MegatronGpt3) {
  StringRef script = R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=1
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
CHECKPOINT_PATH=$1 #<Specify path>
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --seq-length 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --rampup-batch-size 16 16 5859375
    --fp16
)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]}
)";
  FrameworkRun run = read(script, "train.sh", "megatron", 1024);
  EXPECT_EQ(run.layout.tp, 8);
  EXPECT_EQ(run.layout.pp, 16);
  EXPECT_EQ(run.layout.dp, 8);
  EXPECT_EQ(run.layout.zeroStage, 0);
  EXPECT_EQ(run.layout.recompute, RecomputeKind::None);
  EXPECT_FALSE(run.layout.overlapGradients);
  EXPECT_EQ(run.workload.globalBatch, 1536);
  EXPECT_EQ(run.workload.sequence, 2048);
  EXPECT_EQ(run.layers, 96);
}

// NVIDIA/Megatron-LM, examples/mixtral/train_mixtral_8x7b_distributed.sh
// (9b8acfd0), on 8 nodes; the commented line is ours.
TEST(ExportExamples, MegatronMixtral) {
  StringRef script = R"(
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-"1"}
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
)
MODEL_ARGS=(
    --num-layers 32
    --seq-length 4096
)
MOE_ARGS=(
    --num-experts 8
    --moe-router-topk 2
    --moe-token-dispatcher-type alltoall
    --overlap-param-gather
    --overlap-grad-reduce
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 256
    #--micro-batch-size 7
)
MODEL_PARALLEL_ARGS=(
    --tensor-model-parallel-size 1
    --pipeline-model-parallel-size 4
    --expert-model-parallel-size 8
    --use-distributed-optimizer
    --sequence-parallel
)
)";
  FrameworkRun run = read(script, "mixtral", "megatron", 64);
  EXPECT_EQ(run.layout.str(), "dp=16 pp=4 ep=8 zero=1 mb=1 no-tp-overlap");
  EXPECT_EQ(run.layout.etp, 1); // that of tp
  EXPECT_TRUE(run.layout.overlapGradients && run.layout.overlapParameters);
  EXPECT_EQ(run.workload.globalBatch, 256);
}

// NVIDIA-NeMo/Megatron-Bridge, scripts/performance/dryrun_configs/deepseek/
// deepseek_v3_pretrain_h100_fp8_sc_v1.yaml (a9497c6b), on 1024 GPUs.
TEST(ExportExamples, BridgeDeepSeekV3) {
  StringRef yaml = R"(_target_: megatron.bridge.training.config.ConfigContainer
comm_overlap:
  _target_: megatron.bridge.training.comm_overlap.CommOverlapConfig
  overlap_grad_reduce: false
  overlap_moe_expert_parallel_comm: false
  overlap_p2p_comm: null
  tp_comm_overlap: false
ddp:
  data_parallel_sharding_strategy: no_shard
  num_distributed_optimizer_instances: 1
  overlap_grad_reduce: false
  overlap_param_gather: true
  use_distributed_optimizer: true
  use_megatron_fsdp: false
dist:
  use_megatron_fsdp: false
  use_torch_fsdp2: false
model:
  activation_func:
    _call_: false
    _target_: torch.nn.functional.silu
  context_parallel_size: 1
  cp_comm_type: null
  expert_model_parallel_size: 64
  expert_tensor_parallel_size: 1
  moe_enable_deepep: false
  moe_flex_dispatcher_backend: hybridep
  moe_layer_freq:
  - 0
  - 1
  moe_token_dispatcher_type: flex
  num_layers: 61
  num_moe_experts: 256
  pipeline_model_parallel_layout: Et|(tt|)*30mL
  pipeline_model_parallel_size: 8
  recompute_granularity: selective
  recompute_method: null
  recompute_modules:
  - mla_up_proj
  - mlp
  recompute_num_layers: null
  seq_length: 4096
  sequence_parallel: true
  tensor_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 4
train:
  global_batch_size: 8192
  micro_batch_size: 1
)";
  FrameworkRun run = read(yaml, "dsv3.yaml", "megatron-bridge", 1024);
  const Layout &l = run.layout;
  EXPECT_EQ(l.dp, 64);
  EXPECT_EQ(l.tp, 2);
  EXPECT_EQ(l.pp, 8);
  EXPECT_EQ(l.vpp, 4);
  EXPECT_EQ(l.ep, 64);
  EXPECT_EQ(l.etp, 1);
  EXPECT_TRUE(l.sequenceParallel);
  EXPECT_EQ(l.zeroStage, 1);
  EXPECT_EQ(l.dispatcher, DispatcherKind::Fused);
  EXPECT_EQ(l.recompute, RecomputeKind::Selective);
  EXPECT_EQ(l.schedule, ScheduleKind::Interleaved);
  ASSERT_EQ(l.chunkLayers.size(), 32u);
  EXPECT_EQ(l.chunkLayers.front(), 1);
  EXPECT_EQ(l.chunkLayers[1], 2);
  EXPECT_EQ(l.chunkLayers[30], 2);
  EXPECT_EQ(l.chunkLayers.back(), 0);
  EXPECT_EQ(run.layers, 61);
  // The prediction layer; of the modules that "mlp" of the dense layers is not
  // modelled, and layernorm and moe_act are not in the file.
  EXPECT_EQ(run.notes.size(), 4u);
}

// NVIDIA-NeMo/Megatron-Bridge, examples/recipes/llama/conf/
// llama3_8b_pretrain_override_example_megatron_fsdp.yaml: "ZeRO-3 like".
TEST(ExportExamples, BridgeFsdp) {
  StringRef yaml = R"(model:
  seq_length: 4096
  init_model_with_meta_device: true
train:
  train_iters: 20
  global_batch_size: 8
  micro_batch_size: 1
dist:
  use_megatron_fsdp: true
  use_torch_fsdp2: false
ddp:
  grad_reduce_in_fp32: true
  data_parallel_sharding_strategy: "optim_grads_params" # for Megatron FSDP
)";
  FrameworkRun run = read(yaml, "override.yaml", "megatron-bridge", 8);
  EXPECT_EQ(run.layout.zeroStage, 3);
  EXPECT_EQ(run.layout.dp, 8);
  EXPECT_EQ(run.workload.sequence, 4096);
}

// NVIDIA/NeMo-Framework-Launcher,
// launcher_scripts/conf/training/gpt3/175b.yaml
// (056a90ed): 128 nodes of 8.
TEST(ExportExamples, NemoGpt3) {
  StringRef yaml = R"(run:
  name: gpt3_175b
  results_dir: ${base_results_dir}/${.name}
trainer:
  num_nodes: 128
  devices: 8
  precision: bf16
exp_manager:
  checkpoint_callback_params:
    filename: 'megatron_gpt--{val_loss:.2f}-{step}-{consumed_samples}'
    model_parallel_size: ${multiply:${training.model.tensor_model_parallel_size}, ${training.model.pipeline_model_parallel_size}}
model:
  micro_batch_size: 1
  global_batch_size: 2048
  rampup_batch_size: null
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 8
  virtual_pipeline_model_parallel_size: 12 # interleaved pipeline
  encoder_seq_length: 2048
  num_layers: 96
  ffn_hidden_size: ${multiply:4, ${.hidden_size}}
  activations_checkpoint_granularity: selective # 'selective' or 'full'
  activations_checkpoint_method: block # 'uniform', 'block'
  activations_checkpoint_num_layers: 0
  sequence_parallel: True
  ub_tp_comm_overlap: True
  overlap_p2p_comm: True
  optim:
    name: distributed_fused_adam
    overlap_grad_sync: True
    overlap_param_sync: true
    betas:
    - 0.9
    - 0.95
  data:
    seq_length: 2048
    data_prefix: # Should be weight path weight path
      - .0333
      - ${data_dir}/my-gpt3_00_text_document
)";
  FrameworkRun run = read(yaml, "175b.yaml", "nemo");
  EXPECT_EQ(run.layout.str(),
            "dp=32 tp=4 pp=8 vpp=12 zero=1 mb=1 sp recompute=selective "
            "dispatcher=all-gather");
  EXPECT_EQ(run.layout.numGPUs(), 1024);
  EXPECT_EQ(run.workload.globalBatch, 2048);
  EXPECT_EQ(run.workload.sequence, 2048);
  EXPECT_EQ(run.layers, 96);
}

// pytorch/torchtitan, torchtitan/models/llama3/train_configs/llama3_405b.toml:
// "a preset for 128 H100 GPUs" (e0d2de68, its batch_size under today's name).
TEST(ExportExamples, TorchTitanLlama405B) {
  StringRef toml = R"(# torchtitan Config.toml
[model]
name = "llama3"
flavor = "405B"
converters = ["float8"]

[optimizer]
lr = 8e-5

[lr_scheduler]
warmup_steps = 600  # lr scheduler warm up

[training]
local_batch_size = 2
seq_len = 8192
max_norm = 1.0  # grad norm clipping
steps = 3_000
compile = true

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 8  # 8-way TP
enable_async_tensor_parallel = true
pipeline_parallel_degree = 1
context_parallel_degree = 1

[activation_checkpoint]
mode = "full" # ["none", "selective", "full"]
)";
  FrameworkRun run = read(toml, "llama3_405b.toml", "torchtitan", 128);
  EXPECT_EQ(withoutMootFields(run.layout).str(),
            "dp=16 tp=8 zero=3 mb=2 sp recompute=full");
  EXPECT_EQ(run.workload.globalBatch, 32);
  EXPECT_EQ(run.workload.sequence, 8192);
}

// pytorch/torchtitan, torchtitan/distributed/pipeline.py (0ab23071),
// generate_module_names_per_stage: embedding and output count as a layer each,
// the first stages take the rest (32 + 2 over 4 stages: 9, 9, 8, 8).
TEST(ExportExamples, TorchTitanDefaultStages) {
  StringRef toml = "[training]\nlocal_batch_size = 8\n[parallelism]\n"
                   "data_parallel_shard_degree = 2\n"
                   "pipeline_parallel_degree = 4\n";
  FrameworkRun run = read(toml, "a.toml", "torchtitan", 0, 32);
  EXPECT_EQ(run.layout.chunkLayers, (SmallVector<int, 8>{8, 9, 8, 7}));
  // With a pipeline parameters are kept and gradients summed whole.
  EXPECT_EQ(run.layout.zeroStage, 1);
  EXPECT_EQ(run.layout.numGPUs(), 8);
}

// huggingface/nanotron, examples/config_tiny_qwen_moe.yaml.
TEST(ExportExamples, NanotronQwenMoe) {
  StringRef yaml = R"(model:
  model_config:
    num_hidden_layers: 2
    rms_norm_eps: 1.0e-05
optimizer:
  zero_stage: 0
parallelism:
  context_parallel_size: 1
  dp: 2
  expert_parallel_size: 1
  moe_layer_recompute: true
  pp: 1
  pp_engine: 1f1b
  recompute_layer: false
  tp: 1
  tp_linear_async_communication: true
  tp_mode: REDUCE_SCATTER
  tp_recompute_allgather: true
profiler: null
tokens:
  batch_accumulation_per_replica: 1
  micro_batch_size: 2
  sequence_length: 256
)";
  FrameworkRun run = read(yaml, "qwen.yaml", "nanotron");
  EXPECT_EQ(run.layout.str(), "dp=2 mb=2");
  EXPECT_EQ(run.workload.globalBatch, 4);
  EXPECT_EQ(run.layers, 2);
}

// huggingface/accelerate, examples/torch_native_parallelism/configs/
// tp_hsdp.yaml (571ca020): two replicas of two shards, tensor parallel 2. Then
// examples/config_yaml_templates/fsdp.yaml with the other strategy.
TEST(ExportExamples, AccelerateHybrid) {
  StringRef yaml = R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_activation_checkpointing: false
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_version: 2
mixed_precision: bf16
num_machines: 1
num_processes: 8
parallelism_config:
  parallelism_config_cp_size: 1
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 2
  parallelism_config_tp_size: 2
tpu_env: []
use_cpu: false
)";
  FrameworkRun run = read(yaml, "tp_hsdp.yaml", "accelerate");
  EXPECT_EQ(withoutMootFields(run.layout).str(),
            "dp=4 shard=2 tp=2 zero=3 mb=1 no-tp-overlap");
  FrameworkRun old = read("distributed_type: FSDP\nmixed_precision: 'bf16'\n"
                          "num_processes: 2\nfsdp_config:\n"
                          "  fsdp_sharding_strategy: SHARD_GRAD_OP\n",
                          "fsdp.yaml", "accelerate");
  EXPECT_EQ(old.layout.zeroStage, 2);
  EXPECT_EQ(old.layout.dp, 2);
}

// deepspeedai/DeepSpeed, docs/_pages/config-json.md: train_batch_size equals
// micro-batch size times accumulation steps times GPUs; and the tutorial on
// automatic tensor parallelism.
TEST(ExportExamples, DeepSpeed) {
  FrameworkRun run = read(R"({
    "train_batch_size": 32,
    "gradient_accumulation_steps": 4,
    "zero_optimization": {"stage": 2, "overlap_comm": true,
                          "contiguous_gradients": true},
    "bf16": {"enabled": true},
    "tensor_parallel": {"autotp_size": 4}
  })",
                          "ds.json", "deepspeed", 16);
  EXPECT_EQ(run.layout.dp, 4);
  EXPECT_EQ(run.layout.tp, 4);
  EXPECT_EQ(run.layout.microBatch, 2);
  EXPECT_EQ(run.layout.zeroStage, 2);
  EXPECT_TRUE(run.layout.overlapGradients);
  EXPECT_EQ(run.workload.globalBatch, 32);
}

// Megatron-Core's own example of a layout, in the comment of its parser.
TEST(ExportExamples, PipelineLayoutOfMegatronCore) {
  FrameworkRun run = read("--pipeline-model-parallel-size 16 "
                          "--pipeline-model-parallel-layout "
                          "'Ettt|(tt|)*29,m|L' --micro-batch-size 1",
                          "args", "megatron", 16);
  ASSERT_EQ(run.layout.chunkLayers.size(), 32u);
  EXPECT_EQ(run.layout.vpp, 2);
  EXPECT_EQ(run.layout.chunkLayers[0], 3);
  EXPECT_EQ(run.layout.chunkLayers[29], 2);
  EXPECT_EQ(run.layout.chunkLayers[30], 0);
  EXPECT_EQ(run.layout.chunkLayers[31], 0);
}

// Megatron-LM's arguments.py: 80 layers, 4 ranks, 5 layers for each virtual
// stage are 4 virtual stages; first and last stage of their own size.
TEST(ExportExamples, MegatronVirtualAndUnevenStages) {
  FrameworkRun run =
      read("--num-layers 80 --pipeline-model-parallel-size 4 "
           "--num-layers-per-virtual-pipeline-stage 5 --micro_batch_size=2",
           "args", "megatron", 8);
  EXPECT_EQ(run.layout.vpp, 4);
  EXPECT_EQ(run.layout.microBatch, 2);
  run = read("--num-layers 62 --pipeline-model-parallel-size 4 "
             "--decoder-first-pipeline-num-layers 15 "
             "--decoder-last-pipeline-num-layers 15",
             "args", "megatron", 4);
  EXPECT_EQ(run.layout.chunkLayers, (SmallVector<int, 8>{15, 16, 16, 15}));
  run = read("--num-layers 126 --pipeline-model-parallel-size 16 "
             "--account-for-embedding-in-pipeline-split "
             "--account-for-loss-in-pipeline-split",
             "args", "megatron", 16);
  EXPECT_EQ(run.layout.chunkLayers.front(), 7);
  EXPECT_EQ(run.layout.chunkLayers[1], 8);
  EXPECT_EQ(run.layout.chunkLayers.back(), 7);
}
