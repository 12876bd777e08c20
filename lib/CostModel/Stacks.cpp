//===- Stacks.cpp - what training frameworks are known to do --------------===//
//
// Facts, each from the framework's own paper or documentation:
//   megatron-2021   Megatron-LM of arXiv 2104.04473: unfused attention with a
//                   fused softmax, dropout, all-reduce tensor parallelism,
//                   gradient reduction after the backward pass.
//   megatron-deepspeed  Megatron-DeepSpeed of the same age: the same blocks.
//   bigscience-2022     BigScience's fork of it while BLOOM was being prepared.
//   megatron-2022   arXiv 2205.05198: adds sequence parallelism and selective
//                   recomputation, gradient accumulation fused into matmuls.
//   nemo            NeMo with Transformer Engine: fused attention, tensor- and
//                   data-parallel overlap, distributed optimizer.
//   megatron-core   Megatron-Core as run without a tuned recipe: fused
//                   attention, distributed optimizer, no tensor-parallel
//                   overlap.
//   megatron-bridge Megatron-Bridge recipes: as nemo, with CUDA graphs and a
//                   fused token dispatcher (DeepEP, HybridEP).
//   llm-foundry     PyTorch FSDP with FlashAttention-2, eager.
//   accelerate      FSDP under Hugging Face Accelerate, transformers' models,
//                   eager.
//   nanotron        FlashAttention-2, eager, asynchronous tensor parallelism,
//                   gradients summed in 32 bits outside the products.
//   torchtitan      FSDP2 with torch.compile.
//   jax             PaxML, MaxText: whole-program XLA, no host launches.
//   deepspeed       ZeRO-3 of DeepSpeed (2021), eager; weights are gathered one
//                   by one (small ones stay:
//                   stage3_param_persistence_threshold).
// Products that are one (jointHeads, jointGate): Megatron's linear_qkv and
// linear_fc1 (core/transformer/attention.py, mlp.py) and query_key_value before
// them, Wqkv of llm-foundry's MPT (fused_qkv; MPTGLU has its gate apart,
// llmfoundry/models/layers/ffn.py), combine_qkv in PaxML's language models
// (Praxis' ffn_layer1_gate is apart), nanotron's qkv_proj and gate_up_proj.
// TorchTitan has wq, wk, wv and w1, w3, for experts too (torchtitan/models/
// llama3/model, models/moe); transformers have q_proj ... and gate_proj,
// up_proj.
// Selective recomputation (selective): Megatron-Core's recompute_modules
// (core/transformer/transformer_config.py, transformer_layer.py).
// Recomputation (recomputesAll): Megatron, DeepSpeed and PyTorch before 2.1 run
// the whole block again (core/tensor_parallel/random.py, CheckpointFunction of
// torch/utils/checkpoint.py); torch.compile and XLA drop what nobody uses, and
// PyTorch's checkpoint without reentrant autograd stops early by default.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Features.h"
#include "tessera/Support/Suggest.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

static const std::map<std::string, StackTraits> &table() {
  static const std::map<std::string, StackTraits> stacks = [] {
    std::map<std::string, StackTraits> t;
    StackTraits old;
    old.attention = AttentionKernel::Unfused;
    old.fusedElementwise = false;
    old.fusedGradientAccumulation = false;
    old.overlapGradients = old.overlapTensorParallel = false;
    old.sequenceParallel = false;
    old.zeroStage = 0;
    old.dropout = true;
    t["megatron-2021"] = old;
    t["megatron-deepspeed"] = old;
    StackTraits bigscience = old;
    // "CUDA_LAUNCH_BLOCKING=1 workaround providing a robust solution we will
    // use that for a time being": train/tr11-176B-ml/chronicles-prequel.md.
    bigscience.blockingLaunches = true;
    t["bigscience-2022"] = bigscience;
    StackTraits y2022 = old;
    y2022.fusedGradientAccumulation = true;
    t["megatron-2022"] = y2022;
    StackTraits modern;
    modern.tunedRecipes = true;
    modern.selective = SelectivePart::Modules;
    // Megatron-Core since 0.12: weighted_bias_swiglu_impl of its experts.py.
    modern.weighsInActivation = true;
    t["nemo"] = modern;
    StackTraits bridge = modern;
    bridge.dispatcher = DispatcherKind::Fused;
    bridge.fusedLoss = true; // cross_entropy_fusion_impl "te"
    t["megatron-bridge"] = bridge;
    // "Unfused expert GEMMs and cast functions", "Unfused activation func"
    // until then: NVIDIA-NeMo/Megatron-Bridge#2885.
    bridge.fusedExperts = true;
    t["megatron-bridge-26.06"] = bridge;
    StackTraits core = modern;
    core.overlapTensorParallel = false;
    core.tunedRecipes = false;
    t["megatron-core"] = core;
    StackTraits fsdp;
    fsdp.fsdp = fsdp.masterShards = true;
    fsdp.jointGate = false;
    fsdp.attention = AttentionKernel::Flash2;
    fsdp.fusedElementwise = false;
    fsdp.fusedGradientAccumulation = false;
    fsdp.overlapTensorParallel = false;
    fsdp.zeroStage = 3;
    StackTraits foundry = fsdp;
    foundry.fusedLoss = true; // loss_fn "fused_crossentropy", its default
    t["llm-foundry"] = foundry;
    StackTraits accelerate = fsdp;
    accelerate.attention = AttentionKernel::Native; // PyTorch's SDPA
    accelerate.jointHeads = false;
    accelerate.recomputesAll = false; // checkpoints without reentrant autograd
    t["accelerate"] = accelerate;
    StackTraits nanotron;
    nanotron.attention = AttentionKernel::Flash2;
    nanotron.fusedElementwise = false;
    nanotron.fusedGradientAccumulation = false;
    t["nanotron"] = nanotron;
    StackTraits deepspeed = fsdp;
    deepspeed.attention = AttentionKernel::Unfused;
    deepspeed.dropout = true;
    deepspeed.masterShards = false;
    deepspeed.jointGate = true; // runs Megatron's blocks
    deepspeed.gathersPerBlock = 4;
    t["deepspeed"] = deepspeed;
    StackTraits titan = fsdp;
    // run_train.sh: PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
    titan.cachedShare = 0.05;
    titan.fusedElementwise = true;
    // torchtitan/models/attention.py: cuDNN for compute capability 10, else
    // FLASH_ATTENTION, which on Hopper is FlashAttention-2; PyTorch made cuDNN
    // opt-in with 2.5.1 (pytorch/pytorch#138522).
    titan.attention = AttentionKernel::Sdpa;
    titan.jointHeads = false;
    titan.recomputesAll = false;
    titan.selectsOperations = true;
    titan.fusedLoss = true; // compiled with the model: pytorch/torchtitan#1033
    t["torchtitan"] = titan;
    StackTraits jax = titan;
    jax.selectsOperations = jax.fusedLoss = false;
    jax.attention = AttentionKernel::Native;
    jax.jointHeads = true;
    jax.fusedGradientAccumulation = true;
    t["jax"] = jax;
    return t;
  }();
  return stacks;
}

Workload tessera::workloadOf(const StackTraits &traits) {
  Workload w;
  w.cachedShare = traits.cachedShare;
  if (traits.masterShards)
    w.shardedWeightBytes = 0;
  w.wholeShare = 1.0 / traits.gathersPerBlock;
  return w;
}

Expected<StackTraits> tessera::stackTraits(StringRef name) {
  auto it = table().find(name.str());
  if (it != table().end())
    return it->second;
  std::vector<StringRef> names;
  for (const auto &entry : table())
    names.push_back(entry.first);
  std::string near = didYouMean(name, names);
  return makeError("unknown software stack '" + name + "'" + near +
                   (near.empty() ? " (known: " + join(names, ", ") + ")" : ""));
}

std::vector<std::string> tessera::stackNames() {
  std::vector<std::string> names;
  for (const auto &entry : table())
    names.push_back(entry.first);
  return names;
}
