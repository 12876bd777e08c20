//===- Unmodelled.cpp - settings that no plan is made with ----------------===//
//
// One list for each framework of what is known to change time or memory and has
// no term in the cost model, and one of what is known to change neither. What
// stands in neither is said too. Sources: megatron/training/arguments.py and
// core/transformer/transformer_config.py (core 0.12 to 0.15),
// torchtitan/config/job_config.py (0.2), DeepSpeed's docs/_pages/config-json.md
// (0.17), accelerate's utils/dataclasses.py (1.10), nanotron's config/config.py
// (19f88fbe), NeMo's megatron_gpt_config.yaml (1.23).
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

namespace {
/// A setting with an effect that is not modelled.
struct Unmodelled {
  StringLiteral key;
  /// Values without an effect, beside false, null and 0.
  StringLiteral harmless;
  StringLiteral effect;
};
struct Lists {
  ArrayRef<Unmodelled> unmodelled;
  /// Keys without an effect; with a star at its end all that begin so.
  ArrayRef<StringLiteral> harmless;
};
} // namespace

// Megatron-LM's options; Megatron-Bridge's fields have the same names.
static constexpr Unmodelled kMegatronUnmodelled[] = {
    {"optimizer-cpu-offload", "", "the optimizer in the host's memory"},
    {"optimizer-offload-fraction", "", "the optimizer in the host's memory"},
    {"use-precision-aware-optimizer", "", "an optimizer with narrower state"},
    {"exp-avg-dtype", "fp32", "narrower moments"},
    {"exp-avg-sq-dtype", "fp32", "narrower moments"},
    {"main-grads-dtype", "fp32", "narrower gradients"},
    {"main-params-dtype", "fp32", "narrower master weights"},
    {"grad-reduce-in-bf16", "", "gradients reduced in 16 bits"},
    {"grad-reduce-in-fp32", "true", "gradients reduced in 16 bits"},
    {"fp8-param-gather", "", "parameters gathered in 8 bits"},
    {"fp8-param", "", "parameters kept in 8 bits"},
    {"reuse-grad-buf-for-mxfp8-param-ag", "", "buffers shared by FP8"},
    {"fp4-format", "", "products in 4 bits"},
    {"first-last-layers-bf16", "", "outer layers in 16 bits"},
    {"optimizer", "adam", "another optimizer than Adam"},
    {"cpu-offloading", "", "activations in the host's memory"},
    {"cpu-offloading-num-layers", "", "activations in the host's memory"},
    {"fine-grained-activation-offloading", "",
     "activations in the host's memory"},
    {"mtp-num-layers", "", "layers of multi-token prediction"},
    {"enable-cuda-graph", "", "CUDA graphs"},
    {"external-cuda-graph", "", "CUDA graphs"},
    {"cuda-graph-impl", "none", "CUDA graphs"},
    {"use-te-rng-tracker", "", "CUDA graphs"},
    {"delay-wgrad-compute", "", "weight gradients computed later"},
    {"defer-embedding-wgrad-compute", "", "weight gradients computed later"},
    {"no-gradient-accumulation-fusion", "", "gradients added up apart"},
    {"gradient-accumulation-fusion", "true", "gradients added up apart"},
    {"moe-shared-expert-overlap", "", "shared experts beside the exchange"},
    {"moe-expert-capacity-factor", "", "experts of a fixed capacity"},
    {"moe-pad-expert-input-to-capacity", "", "experts of a fixed capacity"},
    {"moe-layer-recompute", "", "recomputation of expert layers"},
    {"moe-upcycling-granularity", "1", "another width of the experts"},
    {"overlap-param-gather-with-optimizer-step", "",
     "parameters gathered beside the optimizer's step"},
    {"distribute-saved-activations", "", "recomputed layers' inputs split"},
    {"hierarchical-context-parallel-sizes", "",
     "context parallelism in levels"},
    {"attention-backend", "auto|flash|fused", "attention that is not fused"},
    {"transformer-impl", "transformer_engine", "layers without their fusions"},
    {"no-bias-swiglu-fusion", "", "kernels that are not fused"},
    {"no-bias-gelu-fusion", "", "kernels that are not fused"},
    {"no-bias-dropout-fusion", "", "kernels that are not fused"},
    {"no-masked-softmax-fusion", "", "kernels that are not fused"},
    {"no-rope-fusion", "", "kernels that are not fused"},
    {"cross-entropy-loss-fusion", "", "a loss of one kernel"},
    {"deterministic-mode", "", "deterministic kernels"},
    {"rampup-batch-size", "", "smaller batches at the start"},
    {"hidden-dropout", "0.0|0", "dropout"},
    {"attention-dropout", "0.0|0", "dropout"},
    {"use-nccl-ub", "", "registered buffers"},
    {"nccl-ub", "", "registered buffers"},
    {"use-sharp", "", "reductions in the network's switches"},
    {"peft", "", "adapters"},
    {"lora-rank", "", "adapters"},
    {"encoder-tensor-model-parallel-size", "", "an encoder of its own"},
    {"encoder-pipeline-model-parallel-size", "", "an encoder of its own"},
};
static constexpr StringLiteral kMegatronHarmless[] = {
    "accumulate-allreduce-grads-in-fp32",
    "adam-*",
    "add-qkv-bias",
    "apply-*",
    "async-save",
    "attention-softmax-in-fp32",
    "auto-detect-ckpt*",
    "barrier*",
    "batch-size",
    "beta-*",
    "bias-*",
    "calculate-per-token-loss",
    "check-*",
    "ckpt*",
    "clip-grad",
    "cross-entropy-fusion-impl",
    "data-*",
    "dataloader-*",
    "dataset*",
    "ddp-*",
    "disable-*",
    "dist-*",
    "distributed-*",
    "embedding-*",
    "empty-*",
    "enable-experimental",
    "end-*",
    "eod-*",
    "eval-*",
    "exit-*",
    "expert-*",
    "ffn-hidden-size",
    "finetune",
    "fp16-*",
    "fp8-*",
    "gated-*",
    "gpt-*",
    "group-query-attention",
    "head*",
    "hidden-size",
    "hybrid-*",
    "hysteresis",
    "init-*",
    "initial-loss-scale",
    "inference-*",
    "kv-*",
    "layernorm-*",
    "legacy-*",
    "load*",
    "local-rank",
    "log*",
    "loss-scale*",
    "lr*",
    "make-vocab-size-divisible-by",
    "manual-gc*",
    "mask-*",
    "master-*",
    "max-*",
    "merge-file",
    "min-*",
    "mock-data",
    "moe-aux-loss-coeff",
    "moe-ffn-hidden-size",
    "moe-grouped-gemm",
    "moe-layer-freq",
    "moe-permute-fusion",
    "moe-router-*",
    "moe-shared-expert-intermediate-size",
    "moe-token-*",
    "moe-z-loss-coeff",
    "mscale*",
    "multi-latent-attention",
    "no-create-*",
    "no-load-*",
    "no-mmap-*",
    "no-position-embedding",
    "no-save-*",
    "no-check-*",
    "nnodes",
    "node-rank",
    "nproc-*",
    "norm-epsilon",
    "normalization",
    "num-*",
    "original-max-position-embeddings",
    "overlap-p2p-communication-warmup-*",
    "override-*",
    "patch-*",
    "per-split-*",
    "position-embedding-type",
    "pretrained-checkpoint",
    "profile*",
    "q-lora-rank",
    "qk-*",
    "rdzv*",
    "redirects",
    "reset-*",
    "rope-*",
    "rotary-*",
    "save*",
    "seed",
    "sft",
    "short-seq-prob",
    "special-*",
    "split",
    "squared-relu",
    "start-*",
    "swiglu",
    "task",
    "te-*",
    "tee",
    "tensorboard*",
    "test-*",
    "tiktoken-*",
    "timing-*",
    "tokenizer*",
    "tp-comm-overlap-*",
    "tp-comm-*",
    "train-*",
    "trust-*",
    "untie-embeddings-and-output-weights",
    "use-checkpoint-*",
    "use-dist-*",
    "use-distributed-*",
    "use-flash-attn",
    "use-mcore-models",
    "use-mp-args-*",
    "use-one-sent-docs",
    "use-rope-scaling",
    "use-rotary-position-embeddings",
    "v-head-dim",
    "valid-*",
    "vocab-*",
    "wandb*",
    "warmup",
    "weight-decay*",
    "window-*",
    "wgrad-deferral-limit"};
// Sections of Megatron-Bridge that have nothing to do with time or memory.
static constexpr StringLiteral kBridgeHarmless[] = {"checkpoint.*",
                                                    "data.*",
                                                    "dataset.*",
                                                    "inprocess_restart.*",
                                                    "ft.*",
                                                    "logger.*",
                                                    "nvrx*",
                                                    "profiling.*",
                                                    "rng.*",
                                                    "scheduler.*",
                                                    "straggler*",
                                                    "tensor_inspect.*",
                                                    "tokenizer.*",
                                                    "validation.*",
                                                    "mixed_precision._target_"};

static constexpr Unmodelled kNemoUnmodelled[] = {
    {"model.optim.grad_sync_dtype", "fp32|32", "gradients reduced in 16 bits"},
    {"model.cpu_offloading", "", "activations in the host's memory"},
    {"model.sharp", "", "reductions in the network's switches"},
    {"model.hidden_dropout", "0.0|0", "dropout"},
    {"model.attention_dropout", "0.0|0", "dropout"},
    {"model.peft.peft_scheme", "none", "adapters"},
    {"model.enable_cuda_graph", "", "CUDA graphs"},
    {"model.activations_checkpoint_layers_per_pipeline", "",
     "fewer recomputed layers on later stages"},
    {"model.num_micro_batches_with_partial_activation_checkpoints", "",
     "recomputation of some microbatches"}};
static constexpr StringLiteral kNemoHarmless[] = {
    "cluster*", "defaults*", "exp_manager.*", "hydra*", "name",
    "restore*", "run.*",     "trainer.*",     "model.*"};

static constexpr Unmodelled kTitanUnmodelled[] = {
    {"training.enable_cpu_offload", "", "state in the host's memory"},
    {"training.mixed_precision_param", "bfloat16", "parameters in 32 bits"},
    {"training.mixed_precision_reduce", "float32",
     "gradients reduced in 16 bits"},
    {"optimizer.name", "AdamW|Adam", "another optimizer than Adam"},
    {"optimizer.early_step_in_backward", "",
     "the step inside the backward pass"},
    {"activation_checkpoint.memory_budget", "", "recomputation by a budget"},
    {"parallelism.enable_compiled_autograd", "", "a compiled backward pass"},
    {"parallelism.disable_loss_parallel", "", "logits on every rank"},
    {"parallelism.pipeline_parallel_schedule_csv", "",
     "a schedule of one's own"},
    {"parallelism.pipeline_parallel_expert_parallel_overlap", "",
     "experts' exchange beside another microbatch"}};
static constexpr StringLiteral kTitanHarmless[] = {"activation_checkpoint.*",
                                                   "checkpoint.*",
                                                   "comm.*",
                                                   "compile.*",
                                                   "debug.*",
                                                   "experimental.*",
                                                   "fault_tolerance.*",
                                                   "float8.*",
                                                   "quantize.*",
                                                   "job.*",
                                                   "lr_scheduler.*",
                                                   "memory_estimation.*",
                                                   "metrics.*",
                                                   "model.*",
                                                   "optimizer.*",
                                                   "parallelism.*",
                                                   "profiling.*",
                                                   "training.dataset*",
                                                   "training.deterministic",
                                                   "training.gc_*",
                                                   "training.max_norm",
                                                   "training.seed",
                                                   "training.steps",
                                                   "training.warmup_steps",
                                                   "training.data_parallel*",
                                                   "training.debug*",
                                                   "validation.*"};

static constexpr Unmodelled kDeepSpeedUnmodelled[] = {
    {"zero_optimization.cpu_offload", "", "the optimizer in the host's memory"},
    {"zero_optimization.zero_quantized_weights", "",
     "parameters gathered in 8 bits"},
    {"zero_optimization.zero_quantized_gradients", "",
     "gradients reduced in 4 bits"},
    {"communication_data_type", "fp32", "gradients reduced in 16 bits"},
    {"data_types.grad_accum_dtype", "fp32", "narrower gradients"},
    {"activation_checkpointing.partition_activations", "",
     "recomputed layers' inputs split"},
    {"activation_checkpointing.cpu_checkpointing", "",
     "recomputed layers' inputs in the host's memory"},
    {"optimizer.type", "Adam|AdamW|FusedAdam", "another optimizer than Adam"},
    {"torch_autocast.enabled", "", "PyTorch's own mixed precision"},
    {"compile.enabled", "", "a compiled model"}};
static constexpr StringLiteral kDeepSpeedHarmless[] = {
    "activation_checkpointing.*",
    "aio.*",
    "autotuning.*",
    "bf16.*",
    "checkpoint.*",
    "comms_logger.*",
    "csv_monitor.*",
    "data_efficiency.*",
    "data_types.*",
    "dump_state",
    "elasticity.*",
    "flops_profiler.*",
    "fp16.*",
    "gradient_clipping",
    "gradient_predivide_factor",
    "optimizer.*",
    "prescale_gradients",
    "scheduler.*",
    "seed",
    "sparse_gradients",
    "steps_per_print",
    "tensorboard.*",
    "wall_clock_breakdown",
    "wandb.*",
    "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer",
    "zero_optimization.*",
    "$schema"};

static constexpr Unmodelled kNanotronUnmodelled[] = {
    {"optimizer.accumulate_grad_in_fp32", "true", "gradients in 16 bits"},
    {"parallelism.moe_layer_recompute", "", "recomputation of expert layers"}};
static constexpr StringLiteral kNanotronHarmless[] = {
    "checkpoints.*", "data_stages*", "general.*",  "lighteval*",
    "logging.*",     "metrics*",     "model.*",    "optimizer.*",
    "parallelism.*", "profiler*",    "s3_upload*", "tokenizer.*",
    "tokens.*"};

static constexpr Unmodelled kAccelerateUnmodelled[] = {
    {"dynamo_config.dynamo_backend", "NO|no", "a compiled model"},
    {"downcast_bf16", "no", "parameters in 16 bits"},
    {"use_cpu", "", "a run on the host"}};
static constexpr StringLiteral kAccelerateHarmless[] = {
    "compute_environment", "debug",
    "dynamo_config.*",     "enable_cpu_affinity",
    "fsdp_config.*",       "gpu_ids",
    "machine_rank",        "main_*",
    "num_machines",        "rdzv_*",
    "same_network",        "tpu_*",
    "num_processes",       "fp8_config.*",
    "distributed_type"};

static Lists listsOf(StringRef format) {
  if (format == "megatron" || format == "megatron-bridge")
    return {kMegatronUnmodelled, kMegatronHarmless};
  if (format == "nemo")
    return {kNemoUnmodelled, kNemoHarmless};
  if (format == "torchtitan")
    return {kTitanUnmodelled, kTitanHarmless};
  if (format == "deepspeed")
    return {kDeepSpeedUnmodelled, kDeepSpeedHarmless};
  if (format == "nanotron")
    return {kNanotronUnmodelled, kNanotronHarmless};
  return {kAccelerateUnmodelled, kAccelerateHarmless};
}

static bool matches(ArrayRef<StringLiteral> patterns, StringRef key) {
  return any_of(patterns, [&](StringRef p) {
    return p.consume_back("*") ? key.starts_with(p) : key == p;
  });
}

/// Whether the setting leaves things as they are.
static bool isOff(const Setting &s, StringRef harmless) {
  std::string value = shown(s.value);
  SmallVector<StringRef> fine;
  harmless.split(fine, '|', -1, /*KeepEmpty=*/false);
  return s.value.getAsNull() || value == "false" || value == "0" ||
         value == "None" ||
         any_of(fine, [&](StringRef f) { return f.equals_insensitive(value); });
}

void exports::noteRest(const Format &format, const SettingsReader &reader,
                       FrameworkRun &run) {
  bool bridge = format.name == "megatron-bridge";
  StringRef dashes = format.syntax == Syntax::Arguments ? "--" : "";
  Lists lists = listsOf(format.name);
  std::vector<std::string> others;
  constexpr size_t kMost = 12;
  size_t more = 0;
  for (const Setting *s : reader.unread()) {
    std::string option = s->key;
    if (bridge) {
      option = StringRef(option).rsplit('.').second.empty()
                   ? option
                   : StringRef(option).rsplit('.').second.str();
      std::replace(option.begin(), option.end(), '_', '-');
      if (option == "-target-" || option == "-call-") // names of classes
        continue;
    }
    auto known = find_if(lists.unmodelled,
                         [&](const Unmodelled &u) { return u.key == option; });
    if (known != lists.unmodelled.end()) {
      if (isOff(*s, known->harmless))
        continue;
      std::string value = s->value.getAsBoolean() ? "" : " " + shown(s->value);
      run.notes.push_back((dashes + s->key + value + ": " + known->effect +
                           " is not modelled; the run is planned without")
                              .str());
    } else if (!matches(lists.harmless, option) &&
               !(bridge && matches(kBridgeHarmless, s->key))) {
      if (others.size() < kMost)
        others.push_back((dashes + s->key).str());
      else
        ++more;
    }
  }
  if (others.empty())
    return;
  std::string text = "nothing is made of " + join(others, ", ");
  if (more)
    text += " and " + std::to_string(more) + " more settings";
  run.notes.push_back(text + ": not known to change time or memory");
}
