//===- Table.cpp - what each training framework can run -------------------===//
//
// Facts with the file or page that states them; versions as given there.
//
// Megatron-Core (core 0.12 to 0.15): megatron/training/arguments.py
//   (validate_args), megatron/core/pipeline_parallel/schedules.py (1F1B with
//   and without interleaving, no other), core/transformer/transformer_config.py
//   (cp_comm_type p2p, all_gather, a2a; recompute_granularity, recompute_method
//   "block": so many layers of each virtual stage, one number for all stages;
//   expert_tensor_parallel_size; pipeline_model_parallel_layout),
//   arguments.py (--tp-comm-overlap wants --sequence-parallel,
//   --overlap-param-gather wants --overlap-grad-reduce),
//   moe/token_dispatcher.py (allgather, alltoall, flex). Megatron-FSDP is
//   "compatible with TP, EP and CP": docs/user-guide/features/custom_fsdp.md;
//   asked for with pipelines in NVIDIA/Megatron-LM issue 1455.
// NeMo: Megatron-Core's; the flex dispatcher is in Megatron-Bridge's recipes.
// NeMo 1.x YAML: examples/nlp/language_modeling/conf/megatron_gpt_config.yaml
//   (1.23): no uneven stages, cp by the ring, FSDP without stages, experts
//   split like the rest, Megatron-Core's default dispatcher.
// Megatron-LM of arXiv 2104.04473 (section 2.2: stages divide the layers, no
//   sharding of the optimizer), of arXiv 2205.05198 (adds sequence parallelism,
//   selective recomputation and --recompute-method block).
// Megatron-DeepSpeed, BigScience's fork: 1F1B of deepspeed/runtime/pipe/
//   schedule.py, stages by PipelineModule's partition_method.
// DeepSpeed (0.17): runtime/pipe/engine.py ("ZeRO-2 and ZeRO-3 are incompatible
//   with pipeline parallelism"), runtime/engine.py ("MoE not supported with
//   Stage 3"), docs/_tutorials/ds-sequence.md (Ulysses), mics.md (stage 3).
// Composer and llm-foundry: FSDP's FULL_SHARD, SHARD_GRAD_OP, NO_SHARD,
//   HYBRID_SHARD; llmfoundry/models/utils/act_ckpt.py (targets "first-k"),
//   ffn_type mb_dmoe with moe_world_size; nothing else splits a model.
// TorchTitan (0.1 and 0.2): torchtitan/config/job_config.py,
//   distributed/pipeline.py; pytorch (2.8) distributed/pipelining/schedules.py
//   (PipelineScheduleMulti wants two stages or more on a rank) and stage.py
//   (backward_maybe_with_nosync: gradients whole until the last microbatch),
//   distributed/activation_checkpoint.py (selective_ac_option "op" or each n-th
//   layer of a model part).
// nanotron (commit 19f88fbe): src/nanotron/config/parallelism_config.py,
//   config.py (zero_stage 0 or 1), models/base.py (blocks go to stages by their
//   cost), parallel/context.py.
// Accelerate (1.10): src/accelerate/parallelism_config.py,
//   utils/dataclasses.py.
// MaxText (2025, on GPUs): docs/explanations/sharding.md (DP and FSDP;
// pipelines
//   are GPipe's or circular, "1F1B and dualpipe" are not there; experts' ranks
//   are FSDP's elsewhere; sequence parallelism over heads is the TPU kernel's),
//   src/MaxText/configs/base.yml (pipeline_fsdp_ag_once: "similar to zero-1
//   sharding"; "SPMD pipelining requires that the PP degree divides the number
//   of layers"; expert weights have the logical axis "mlp", which tensor
//   parallelism splits; use_ring_of_experts gathers and scatters),
//   configs/types.py (shard_optimizer_over_data: "ZeRO-1 optimizer sharding",
//   context_parallel_strategy "'all_gather' or 'ring'"), layers/decoders.py
//   (get_remat_policy, set_remat_policy: every layer under one policy, the
//   lightest of which keeps the products and attention's output).
//
//===----------------------------------------------------------------------===//
#include "tessera/Planning/Framework.h"

#include <map>

using namespace llvm;
using namespace tessera;

namespace {
struct Table {
  std::map<std::string, Framework> frameworks;
  std::map<std::string, std::string> stacks, formats;
  std::map<std::string, StringRef> runners; ///< of formats: stacks
};
} // namespace

static constexpr ValueSet kPlainPipelines =
    only(ScheduleKind::OneFOneB, ScheduleKind::Interleaved);
static constexpr ValueSet kWholeLayers =
    only(RecomputeKind::None, RecomputeKind::Full);

static Framework megatronCore() {
  Framework f;
  f.name = "megatron-core";
  f.title = "Megatron-Core";
  f.format = "megatron";
  f.zeroStaged = only(0, 1);
  f.zeroStagedWhy = "Megatron-FSDP goes without pipeline stages";
  f.schedules = kPlainPipelines;
  f.tensorOverlap = Framework::Overlap::WithSequence;
  f.parametersAlone = false;
  return f;
}

/// Megatron-LM before there was Megatron-Core.
static Framework megatron2022() {
  Framework f = megatronCore();
  f.name = "megatron-2022";
  f.title = "Megatron-LM of 2022";
  f.tensorOverlap = Framework::Overlap::Never;
  f.expertOverlap = false;
  f.zero = f.zeroStaged = only(0);
  f.zeroWhy = f.zeroStagedWhy = "Megatron-LM did not shard the optimizer yet";
  f.groups = 0;
  f.contexts = 0;
  f.partition = Framework::Partition::Even;
  f.experts = false;
  f.fp8 = false;
  return f;
}

static Framework megatron2021() {
  Framework f = megatron2022();
  f.name = "megatron-2021";
  f.title = "Megatron-LM of 2021";
  f.sequence = Framework::Sequence::Never;
  f.recompute = kWholeLayers;
  f.layers = Framework::Layers::All;
  return f;
}

static Framework deepspeed() {
  Framework f;
  f.name = f.format = "deepspeed";
  f.title = "DeepSpeed";
  f.zeroStaged = only(0, 1);
  f.zeroStagedWhy = "DeepSpeed's pipeline engine goes with ZeRO up to stage 1";
  f.zeroExperts = only(0, 1, 2);
  f.zeroExpertsWhy = "DeepSpeed's MoE layer does not go with ZeRO stage 3";
  f.groups = only(3);
  f.groupsWhy = "DeepSpeed shards inside groups in ZeRO stage 3 only";
  f.sequence = Framework::Sequence::Never;
  f.tensorOverlap = Framework::Overlap::Never;
  f.expertOverlap = false;
  f.parameterOverlap = only(3); // stages 1 and 2 gather after the step
  f.contexts = only(ContextKind::Ulysses);
  f.virtualStages = false;
  f.schedules = only(ScheduleKind::OneFOneB);
  f.expertSplit = Framework::ExpertSplit::WholeOrTensor;
  f.dispatchers = only(DispatcherKind::AllToAll);
  f.recompute = kWholeLayers;
  f.layers = Framework::Layers::All;
  f.fp8 = false;
  return f;
}

/// Megatron's blocks on DeepSpeed's engines.
static Framework megatronDeepspeed() {
  Framework f = deepspeed();
  f.name = "megatron-deepspeed";
  f.title = "Megatron-DeepSpeed";
  f.format = "megatron";
  f.contexts = 0;
  return f;
}

static Framework composer() {
  Framework f;
  f.name = "llm-foundry";
  f.title = "llm-foundry";
  f.format = "accelerate";
  f.zero = only(0, 2, 3);
  f.zeroWhy = "FSDP shards gradients along with the optimizer";
  f.tensor = false;
  f.expertOverlap = false;
  f.contexts = 0;
  f.stages = false;
  f.expertSplit = Framework::ExpertSplit::Whole;
  f.dispatchers = only(DispatcherKind::AllToAll);
  f.recompute = kWholeLayers;
  return f;
}

static Framework accelerate() {
  Framework f;
  f.name = f.format = "accelerate";
  f.title = "Accelerate";
  f.zero = only(0, 2, 3);
  f.zeroWhy = "FSDP shards gradients along with the optimizer";
  f.zeroSplit = only(2, 3);
  f.zeroSplitWhy = "tensor and context parallelism need FSDP";
  f.sequence = Framework::Sequence::Never;
  f.tensorOverlap = Framework::Overlap::Never;
  f.expertOverlap = false;
  f.contexts = only(ContextKind::Ring, ContextKind::AllGather);
  f.stages = false;
  f.experts = false;
  f.recompute = kWholeLayers;
  f.layers = Framework::Layers::All;
  return f;
}

static Framework torchtitan() {
  Framework f;
  f.name = f.format = "torchtitan";
  f.title = "TorchTitan";
  f.zero = only(0, 2, 3);
  f.zeroWhy = "FSDP shards gradients along with the optimizer";
  f.zeroStaged = only(0, 1);
  f.zeroStagedWhy =
      "PyTorch's pipelines sum whole gradients over the microbatches";
  f.sequence = Framework::Sequence::Always;
  f.expertOverlap = false;
  f.contexts = only(ContextKind::Ring, ContextKind::AllGather);
  f.zeroBubbleVirtual = true;
  f.expertSplit = Framework::ExpertSplit::WholeOrTensor;
  f.dispatchers = only(DispatcherKind::AllToAll, DispatcherKind::Fused);
  f.layers = Framework::Layers::Every; // selective_ac_option = "2"
  return f;
}

static Framework maxtext() {
  Framework f;
  f.name = "maxtext";
  f.title = "MaxText";
  f.zero = f.zeroStaged = only(0, 1, 3);
  f.zeroWhy = f.zeroStagedWhy =
      "MaxText shards the optimizer over data (stage 1) or everything (FSDP)";
  f.groups = only(3);
  f.contexts = only(ContextKind::Ring, ContextKind::AllGather);
  f.virtualStages = false;
  f.virtualStagesWhy = "MaxText's circular pipelines are not modelled";
  f.schedules = only(ScheduleKind::GPipe);
  f.partition = Framework::Partition::Even;
  f.expertSplit = Framework::ExpertSplit::Tensor;
  f.dispatchers = only(DispatcherKind::AllToAll, DispatcherKind::AllGather);
  f.recompute = only(RecomputeKind::Selective, RecomputeKind::Full);
  f.layers = Framework::Layers::All;
  return f;
}

static Framework nanotron() {
  Framework f;
  f.name = f.format = f.title = "nanotron";
  f.zero = f.zeroStaged = only(0, 1);
  f.zeroWhy = f.zeroStagedWhy = "nanotron shards the optimizer only (stage 1)";
  f.groups = 0;
  f.groupsWhy = "nanotron shards over all replicas";
  f.expertOverlap = false;
  f.contexts = only(ContextKind::Ring);
  f.virtualStages = false;
  f.schedules = only(ScheduleKind::GPipe, ScheduleKind::OneFOneB);
  f.partition = Framework::Partition::Own;
  f.expertSplit = Framework::ExpertSplit::Whole;
  f.dispatchers = only(DispatcherKind::AllToAll);
  f.recompute = kWholeLayers;
  f.layers = Framework::Layers::All;
  f.fp8 = false;
  return f;
}

static Framework nemo1() {
  Framework f = megatronCore();
  f.name = f.format = "nemo";
  f.title = "NeMo 1.x";
  f.zeroStagedWhy = "NeMo's FSDP goes without pipeline stages";
  f.groups = 0;
  f.expertOverlap = false;
  f.parametersAlone = true;
  f.contexts = only(ContextKind::Ring);
  f.partition = Framework::Partition::Even;
  f.expertSplit = Framework::ExpertSplit::Tensor;
  f.dispatchers = only(DispatcherKind::AllGather);
  return f;
}

/// The forward pass; the gradients' and the optimizer's sharding is accepted
/// and means nothing there.
static Framework compiler() {
  Framework f;
  f.name = "tessera";
  f.title = "Tessera's compiler";
  f.zero = only(0, 1, 2);
  f.contexts = 0;
  f.stages = false;
  f.experts = false;
  f.expertSplit = Framework::ExpertSplit::Whole;
  return f;
}

static const Table &table() {
  static const Table t = [] {
    Table t;
    auto add = [&](Framework f) { t.frameworks[f.name] = std::move(f); };
    Framework core = megatronCore(), nemo = core, bridge = core;
    nemo.name = "nemo-2";
    nemo.title = "NeMo";
    nemo.dispatchers =
        only(DispatcherKind::AllToAll, DispatcherKind::AllGather);
    bridge.name = bridge.format = "megatron-bridge";
    bridge.title = "Megatron-Bridge";
    for (Framework f :
         {core, nemo, bridge, megatron2022(), megatron2021(), deepspeed(),
          megatronDeepspeed(), composer(), accelerate(), torchtitan(),
          maxtext(), nanotron(), nemo1(), compiler()})
      add(std::move(f));
    t.stacks = {{"nemo", "nemo-2"},
                {"megatron-core", "megatron-core"},
                {"megatron-bridge", "megatron-bridge"},
                {"megatron-bridge-26.06", "megatron-bridge"},
                {"megatron-2022", "megatron-2022"},
                {"megatron-2021", "megatron-2021"},
                {"megatron-deepspeed", "megatron-deepspeed"},
                {"bigscience-2022", "megatron-deepspeed"},
                {"deepspeed", "deepspeed"},
                {"llm-foundry", "llm-foundry"},
                {"accelerate", "accelerate"},
                {"torchtitan", "torchtitan"},
                {"jax", "maxtext"},
                {"nanotron", "nanotron"}};
    t.formats = {{"megatron", "megatron-core"},
                 {"megatron-bridge", "megatron-bridge"},
                 {"nemo", "nemo"},
                 {"torchtitan", "torchtitan"},
                 {"deepspeed", "deepspeed"},
                 {"nanotron", "nanotron"},
                 {"accelerate", "accelerate"}};
    t.runners = {{"megatron", "megatron-core"},
                 {"megatron-bridge", "megatron-bridge"},
                 {"nemo", "nemo"},
                 {"torchtitan", "torchtitan"},
                 {"deepspeed", "deepspeed"},
                 {"nanotron", "nanotron"},
                 {"accelerate", "accelerate"}};
    return t;
  }();
  return t;
}

static const Framework *lookUp(const std::map<std::string, std::string> &names,
                               StringRef name) {
  auto it = names.find(name.str());
  return it == names.end() ? nullptr : &table().frameworks.at(it->second);
}

const Framework *tessera::frameworkOfStack(StringRef stack) {
  return lookUp(table().stacks, stack);
}
const Framework *tessera::frameworkOfFormat(StringRef format) {
  return lookUp(table().formats, format);
}
StringRef tessera::stackOfFormat(StringRef format) {
  auto it = table().runners.find(format.str());
  return it == table().runners.end() ? StringRef() : it->second;
}

// transformer_config.py (recompute_modules), transformer_layer.py (the norms
// of dense layers are parts of the products behind them, so that "layernorm"
// finds none there), moe/experts.py (moe_act), multi_latent_attention.py
// (mla_up_proj, with the norms in its products).
std::vector<StringRef> tessera::selectiveModules(bool experts, bool latent) {
  if (!experts && !latent)
    return {"core_attn"};
  std::vector<StringRef> modules = {"layernorm"};
  if (experts)
    modules.push_back("moe_act");
  if (latent)
    modules.push_back("mla_up_proj");
  return modules;
}

std::vector<std::string> tessera::stacksRunning(const Layout &layout,
                                                const FrameworkModel &model) {
  std::vector<std::string> names;
  for (StringRef name :
       {"nemo", "megatron-core", "megatron-bridge", "torchtitan", "nanotron",
        "deepspeed", "llm-foundry", "accelerate"})
    if (runs(*frameworkOfStack(name), layout, model))
      names.push_back(name.str());
  return names;
}

const Framework &tessera::tesseraFramework() {
  return table().frameworks.at("tessera");
}
