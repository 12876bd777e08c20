//===- Accelerate.cpp - Hugging Face Accelerate's FSDP YAML ---------------===//
//
// huggingface/accelerate (1.10), src/accelerate/parallelism_config.py and
// examples/torch_native_parallelism/configs: parallelism_config_{dp_replicate,
// dp_shard, tp, cp}_size with FSDP version 2, fsdp_reshard_after_forward true
// (ZeRO-3) or false (ZeRO-2); version 1 says the same by
// fsdp_sharding_strategy. FSDP shards over dp_shard times cp.
// parallelism_config_cp_comm_strategy is allgather or alltoall (the ring).
// Batch sizes and the sequence length belong to the training code. Tensor or
// context parallelism does not go with pure replication.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static constexpr StringLiteral kStrategies[] = {"FULL_SHARD", "SHARD_GRAD_OP",
                                                "NO_SHARD", "HYBRID_SHARD",
                                                "HYBRID_SHARD_ZERO2"};
static const char kParallel[] = "parallelism_config.parallelism_config_";

static void write(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  int gpus = l.dp * l.cp * l.tp;
  int perNode = std::min(std::max(1, input.gpusPerNode), gpus);
  while (gpus % perNode != 0)
    --perNode;
  bool fsdp = l.zeroStage > 0 || l.tp > 1 || l.cp > 1;
  put(out, "compute_environment", "LOCAL_MACHINE");
  put(out, "distributed_type", fsdp ? "FSDP" : gpus > 1 ? "MULTI_GPU" : "NO");
  put(out, "mixed_precision",
      input.precision.empty() ? "bf16" : input.precision);
  put(out, "num_machines", gpus / perNode);
  put(out, "num_processes", gpus);
  if (!fsdp)
    return;
  auto set = [&](StringRef key, json::Value value) {
    put(out, ("fsdp_config." + key).str(), std::move(value));
  };
  set("fsdp_version", 2);
  set("fsdp_reshard_after_forward", l.zeroStage == 3);
  set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  set("fsdp_activation_checkpointing", l.recompute == RecomputeKind::Full);
  set("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  int shard = l.shardGroup > 0 ? l.shardGroup : l.dp;
  auto size = [&](StringRef key, json::Value value) {
    put(out, (kParallel + key).str(), std::move(value));
  };
  size("dp_replicate_size", l.dp / shard);
  size("dp_shard_size", shard);
  size("tp_size", l.tp);
  size("cp_size", l.cp);
  if (l.cp > 1)
    size("cp_comm_strategy",
         l.contextKind == ContextKind::AllGather ? "allgather" : "alltoall");
}

static void readFsdp(SettingsReader &r, FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string f = "fsdp_config.";
  int64_t version = r.integer(f + "fsdp_version").value_or(1);
  auto reshard = r.flag(f + "fsdp_reshard_after_forward");
  const Setting *named = r.raw(f + "fsdp_sharding_strategy");
  std::optional<size_t> strategy;
  // Older versions numbered the strategies from 1.
  if (named && named->value.getAsInteger()) {
    auto number = r.integer(f + "fsdp_sharding_strategy");
    if (number && *number > 5)
      return r.fail(f + "fsdp_sharding_strategy",
                    "must be from 1 to 5, got " + Twine(*number));
    if (number)
      strategy = static_cast<size_t>(*number - 1);
  } else {
    strategy = r.choice(f + "fsdp_sharding_strategy", kStrategies);
  }
  if (version >= 2) {
    l.zeroStage = reshard.value_or(true) ? 3 : 2;
  } else {
    static constexpr int kStages[] = {3, 2, 0, 3, 2};
    l.zeroStage = kStages[strategy.value_or(0)];
    if (strategy.value_or(0) >= 3)
      run.notes.push_back("hybrid sharding within a node is read as full "
                          "sharding; state 'shard' to plan with the group");
  }
  if (r.flag(f + "fsdp_activation_checkpointing").value_or(false))
    l.recompute = RecomputeKind::Full;
  if (r.flag(f + "fsdp_offload_params").value_or(false))
    run.notes.push_back("offloading to the host is not in the layout");
}

static void read(SettingsReader &r, const FrameworkReadOptions &options,
                 FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string p = kParallel;
  auto size = [&](StringRef key) { return r.integer((p + key).str()); };
  auto replicas = size("dp_replicate_size"), shard = size("dp_shard_size");
  l.tp = static_cast<int>(size("tp_size").value_or(1));
  l.cp = static_cast<int>(size("cp_size").value_or(1));
  static constexpr StringLiteral kRotations[] = {"allgather", "alltoall"};
  l.contextKind = r.choice(p + "cp_comm_strategy", kRotations).value_or(0) == 0
                      ? ContextKind::AllGather
                      : ContextKind::Ring;
  // Accelerate's tensor parallelism is the model's own plan: all-reduces.
  l.sequenceParallel = false;
  l.overlapTensorParallel = false;
  static constexpr StringLiteral kTypes[] = {"NO", "MULTI_GPU", "FSDP"};
  static constexpr StringLiteral kFormats[] = {"no", "bf16", "fp16", "fp8"};
  size_t format = r.choice("mixed_precision", kFormats).value_or(0);
  if (format > 0)
    run.precision = kFormats[format].str();
  size_t type = r.choice("distributed_type", kTypes).value_or(0);
  if (type == 2)
    readFsdp(r, run);
  int64_t stated = r.integer("num_processes").value_or(type == 0 ? 1 : 0);
  settleDataParallel(r, options, stated, "'num_processes' would say", run);
  if (r.failed())
    return;
  if (shard || replicas) {
    int64_t ranks = product({replicas.value_or(1), shard.value_or(1)});
    if (ranks != l.dp && options.gpus == 0)
      return r.fail("num_processes",
                    "must be the product of the parallel sizes " +
                        Twine(product({ranks, l.tp, l.cp})) + ", got " +
                        Twine(stated));
    if (replicas && l.dp % *replicas != 0)
      return r.fail(p + "dp_replicate_size",
                    "must divide the data parallel ranks " + Twine(l.dp) +
                        ", got " + Twine(*replicas));
    if (replicas && *replicas > 1 && l.zeroStage > 0)
      l.shardGroup = static_cast<int>(l.dp / *replicas);
  }
  run.notes.push_back("batch sizes and the sequence length are set in the "
                      "training code");
  r.checkSection("parallelism_config.");
  r.checkNearMisses();
}

static bool recognises(ArrayRef<Setting> settings) {
  return findSetting(settings, "distributed_type") ||
         hasSection(settings, "fsdp_config");
}

static StringRef whyNot(StringRef field, const Layout &l) {
  if (field == "recompute" && l.recompute == RecomputeKind::Full)
    return "only FSDP's settings say it";
  if (field == "mb" || field == "global batch" || field == "sequence length")
    return "it is set in the training code";
  if (field == "grad-overlap" || field == "param-overlap")
    return "FSDP always overlaps";
  return "";
}

const Format exports::kAccelerate = {
    "accelerate",
    "Accelerate (FSDP)",
    "fsdp.yaml",
    Syntax::Yaml,
    write,
    read,
    recognises,
    whyNot,
    "the training code with the model, its data, batch sizes and the "
    "optimizer"};
