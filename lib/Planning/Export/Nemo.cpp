//===- Nemo.cpp - NeMo's YAML of Megatron GPT -----------------------------===//
//
// NVIDIA/NeMo, examples/nlp/language_modeling/conf/megatron_gpt_config.yaml
// (1.23), and NVIDIA/NeMo-Framework-Launcher, launcher_scripts/conf/training
// (gpt3/175b.yaml, commit 056a90ed). fsdp_sharding_strategy is 'full', 'hybrid'
// (shards in a node, replicas across) or 'grad'. NeMo 2 and later are set up
// in Python; their fields are those of Megatron-Bridge.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static constexpr StringLiteral kStrategies[] = {"full", "hybrid", "grad"};

static void write(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  int gpus = l.numGPUs(),
      perNode = std::min(std::max(1, input.gpusPerNode), gpus);
  while (gpus % perNode != 0)
    --perNode;
  auto model = [&](StringRef key, json::Value value) {
    put(out, ("model." + key).str(), std::move(value));
  };
  put(out, "trainer.num_nodes", gpus / perNode);
  put(out, "trainer.devices", perNode);
  put(out, "trainer.precision",
      input.precision == "fp16" ? "16-mixed" : "bf16");
  if (input.precision == "fp8") {
    model("fp8", true);
    model("fp8_hybrid", true);
  }
  model("micro_batch_size", l.microBatch);
  if (input.workload.globalBatch > 0)
    model("global_batch_size", input.workload.globalBatch);
  if (input.workload.sequence > 0) {
    model("encoder_seq_length", input.workload.sequence);
    model("data.seq_length", input.workload.sequence);
  }
  if (input.layers > 0)
    model("num_layers", input.layers);
  model("mcore_gpt", true);
  model("tensor_model_parallel_size", l.tp);
  model("sequence_parallel", l.sequenceParallel);
  model("pipeline_model_parallel_size", l.pp);
  model("virtual_pipeline_model_parallel_size",
        l.vpp > 1 ? json::Value(l.vpp) : json::Value(nullptr));
  model("context_parallel_size", l.cp);
  // With the expert split that NeMo implies the groups may not fit the ranks.
  bool fits = (int64_t(l.dp) * l.cp) % l.ep == 0;
  model("expert_model_parallel_size", fits ? l.ep : 1);
  if (l.recompute == RecomputeKind::None) {
    model("activations_checkpoint_granularity", nullptr);
  } else {
    model("activations_checkpoint_granularity", nameOf(l.recompute));
    if (l.recompute == RecomputeKind::Full) {
      bool some = l.recomputeLayers > 0; // the first of each (virtual) stage
      model("activations_checkpoint_method", some ? "block" : "uniform");
      model("activations_checkpoint_num_layers", some ? l.recomputeLayers : 1);
    }
  }
  bool fsdp = l.zeroStage >= 2;
  model("fsdp", fsdp);
  if (fsdp)
    model("fsdp_sharding_strategy", l.zeroStage == 3 ? "full" : "grad");
  model("ub_tp_comm_overlap", l.tp > 1 && l.overlapTensorParallel);
  model("overlap_p2p_comm", l.overlapPipeline);
  bool optimizer = l.zeroStage >= 1 && !fsdp;
  model("optim.name", optimizer ? "distributed_fused_adam" : "fused_adam");
  if (optimizer) {
    model("optim.overlap_grad_sync", l.overlapGradients);
    model("optim.overlap_param_sync", l.overlapParameters);
  }
}

static void readRecompute(SettingsReader &r, FrameworkRun &run) {
  static constexpr StringLiteral kGranularities[] = {"selective", "full"};
  static constexpr StringLiteral kMethods[] = {"uniform", "block"};
  auto granularity =
      r.choice("model.activations_checkpoint_granularity", kGranularities);
  auto method = r.choice("model.activations_checkpoint_method", kMethods);
  auto layers = r.integer("model.activations_checkpoint_num_layers", 0);
  if (!granularity) {
    // Before granularities there was only a method, which meant full.
    run.layout.recompute = method ? RecomputeKind::Full : RecomputeKind::None;
  } else {
    run.layout.recompute =
        *granularity == 0 ? RecomputeKind::Selective : RecomputeKind::Full;
  }
  applyMethod(method && *method == 1, layers, run);
}

static void readSharding(SettingsReader &r, FrameworkRun &run) {
  Layout &l = run.layout;
  std::string optimizer = r.text("model.optim.name").value_or("");
  bool fsdp = r.flag("model.fsdp").value_or(false);
  auto strategy = r.choice("model.fsdp_sharding_strategy", kStrategies);
  bool sharded = optimizer == "distributed_fused_adam" ||
                 optimizer == "mcore_distributed_optim";
  l.zeroStage = !fsdp ? (sharded ? 1 : 0) : strategy.value_or(0) == 2 ? 2 : 3;
  auto gradients = r.flag("model.optim.overlap_grad_sync");
  auto parameters = r.flag("model.optim.overlap_param_sync");
  // Defaults of Apex' optimizer: gradients overlap, parameters do not.
  l.overlapGradients = fsdp || gradients.value_or(true);
  l.overlapParameters = fsdp || parameters.value_or(false);
  if (fsdp && strategy.value_or(0) == 1)
    run.notes.push_back("'hybrid' shards within a node; it is read as full "
                        "sharding, state 'shard' to plan with the group");
}

static void read(SettingsReader &r, const FrameworkReadOptions &options,
                 FrameworkRun &run) {
  Layout &l = run.layout;
  auto size = [&](StringRef key) {
    return static_cast<int>(r.integer(("model." + key).str()).value_or(1));
  };
  auto nodes = r.integer("trainer.num_nodes");
  auto devices = r.integer("trainer.devices");
  run.layers = r.integer("model.num_layers").value_or(0);
  l.tp = size("tensor_model_parallel_size");
  l.pp = size("pipeline_model_parallel_size");
  int vpp = size("virtual_pipeline_model_parallel_size");
  if (l.pp > 1)
    l.vpp = vpp;
  l.cp = size("context_parallel_size");
  l.ep = size("expert_model_parallel_size");
  bool sequenceParallel = r.flag("model.sequence_parallel").value_or(false);
  l.sequenceParallel = sequenceParallel && l.tp > 1;
  // Megatron-Core's default: experts are split like the rest.
  bool experts = l.ep > 1 || r.raw("model.num_moe_experts");
  l.etp = experts ? l.tp : 1;
  l.dispatcher = DispatcherKind::AllGather; // Megatron-Core's default
  readRecompute(r, run);
  // It is attention's core, and no other module.
  if (run.layout.recompute == RecomputeKind::Selective &&
      (options.experts || experts)) {
    run.layout.recompute = RecomputeKind::None;
    run.notes.push_back("recomputing attention's core is not modelled beside "
                        "experts: with fused attention it frees next to "
                        "nothing");
  }
  std::string precision;
  if (const Setting *stated = r.raw("trainer.precision"))
    precision = shown(stated->value);
  run.precision = r.flag("model.fp8").value_or(false)        ? "fp8"
                  : StringRef(precision).starts_with("bf16") ? "bf16"
                  : StringRef(precision).starts_with("16")   ? "fp16"
                                                             : "";
  run.hidden = r.integer("model.hidden_size").value_or(0);
  readSharding(r, run);
  l.overlapTensorParallel = r.flag("model.ub_tp_comm_overlap").value_or(false);
  l.overlapPipeline = r.flag("model.overlap_p2p_comm").value_or(false);
  l.microBatch = r.integer("model.micro_batch_size").value_or(1);
  run.workload.globalBatch = r.integer("model.global_batch_size").value_or(0);
  auto sequence = r.integer("model.encoder_seq_length");
  if (!sequence)
    sequence = r.integer("model.data.seq_length");
  run.workload.sequence = sequence.value_or(0);
  settleDataParallel(
      r, options, devices ? product({nodes.value_or(1), *devices}) : 0,
      "'trainer.devices' and 'trainer.num_nodes' would say", run);
  if (l.vpp > 1)
    l.schedule = ScheduleKind::Interleaved;
  r.ignore({"model.data.seq_length"});
  r.checkNearMisses();
}

static bool recognises(ArrayRef<Setting> settings) {
  return hasSection(settings, "trainer") &&
         findSetting(settings, "model.tensor_model_parallel_size");
}

static StringRef whyNot(StringRef field, const Layout &) {
  if (field == "ep" || field == "etp")
    return "NeMo splits experts over the tensor-parallel ranks";
  if (field == "recompute")
    return "NeMo 1.x recomputes attention's core or whole layers";
  return "";
}

const Format exports::kNemo = {"nemo",
                               "NeMo (1.x YAML)",
                               "megatron_gpt.yaml",
                               Syntax::Yaml,
                               write,
                               read,
                               recognises,
                               whyNot,
                               "the model's sizes, its data and tokenizer, the "
                               "optimizer's rates and the checkpoints"};
