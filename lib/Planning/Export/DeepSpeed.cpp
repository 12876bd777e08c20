//===- DeepSpeed.cpp - DeepSpeed's JSON -----------------------------------===//
//
// deepspeedai/DeepSpeed, docs/_pages/config-json.md and
// deepspeed/runtime/zero/config.py (0.17): batch sizes, zero_optimization
// {stage, overlap_comm, mics_shard_size, zero_hpz_partition_size}, bf16,
// tensor_parallel.autotp_size (stages 0 to 2), sequence_parallel_size
// (Ulysses). train_batch_size = train_micro_batch_size_per_gpu *
// gradient_accumulation_steps * data-parallel ranks. overlap_comm is on by
// default in stage 3 alone. mics_shard_size shards all states inside a group
// and replicates across; zero_hpz_partition_size only keeps a second copy of
// the parameters in a group. Pipeline stages, experts and recomputation are
// set in the training code.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static bool canTensorParallel(const Layout &l) { return l.zeroStage <= 2; }

static void write(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  int64_t global = input.workload.globalBatch;
  if (global > 0)
    put(out, "train_batch_size", global);
  put(out, "train_micro_batch_size_per_gpu", l.microBatch);
  if (global > 0)
    put(out, "gradient_accumulation_steps", global / (l.microBatch * l.dp));
  put(out, input.precision == "fp16" ? "fp16.enabled" : "bf16.enabled", true);
  put(out, "zero_optimization.stage", l.zeroStage);
  put(out, "zero_optimization.overlap_comm",
      l.dp * l.cp > 1 && l.overlapGradients);
  if (l.shardGroup > 0)
    put(out, "zero_optimization.mics_shard_size", l.shardGroup * l.cp);
  if (l.tp > 1 && canTensorParallel(l))
    put(out, "tensor_parallel.autotp_size", l.tp);
  if (l.cp > 1)
    put(out, "sequence_parallel_size", l.cp);
}

static void readZero(SettingsReader &r, FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string z = "zero_optimization.";
  int64_t stage = r.integer(z + "stage", 0).value_or(0);
  if (stage > 3)
    return r.fail(z + "stage", "must be from 0 to 3, got " + Twine(stage));
  l.zeroStage = static_cast<int>(stage);
  bool overlap = r.flag(z + "overlap_comm").value_or(stage == 3);
  l.overlapGradients = overlap;
  // Stages 1 and 2 gather the parameters after the step, in the open.
  l.overlapParameters = stage == 3 && overlap;
  auto group = r.integer(z + "mics_shard_size", -1);
  auto second = r.integer(z + "zero_hpz_partition_size");
  if (group && *group > 0) {
    if (*group % l.cp != 0)
      return r.fail(z + "mics_shard_size",
                    "must be a multiple of the sequence parallel size " +
                        Twine(l.cp) + ", got " + Twine(*group));
    l.shardGroup = static_cast<int>(*group / l.cp);
  }
  if (second && *second > 1)
    run.notes.push_back("a second partition of the parameters "
                        "(zero_hpz_partition_size) is read as plain ZeRO-3");
  for (StringRef what : {"offload_optimizer", "offload_param"})
    if (auto device = r.text((z + what + ".device").str()))
      if (*device != "none")
        run.notes.push_back(
            (what + " to " + *device + " is not in the layout").str());
}

static void read(SettingsReader &r, const FrameworkReadOptions &options,
                 FrameworkRun &run) {
  Layout &l = run.layout;
  auto tp = r.integer("tensor_parallel.autotp_size", 0);
  l.tp = static_cast<int>(std::max<int64_t>(1, tp.value_or(1)));
  l.cp = static_cast<int>(r.integer("sequence_parallel_size").value_or(1));
  l.contextKind = ContextKind::Ulysses;
  l.overlapTensorParallel = false;
  readZero(r, run);
  run.precision = r.flag("bf16.enabled").value_or(false)   ? "bf16"
                  : r.flag("fp16.enabled").value_or(false) ? "fp16"
                                                           : "";
  auto global = r.integer("train_batch_size");
  auto micro = r.integer("train_micro_batch_size_per_gpu");
  auto steps = r.integer("gradient_accumulation_steps");
  int64_t stated = 0;
  if (global && micro && steps) {
    if (*global % (*micro * *steps) != 0)
      return r.fail("train_batch_size",
                    "must be a multiple of micro-batch size times accumulation "
                    "steps = " +
                        Twine(*micro * *steps) + ", got " + Twine(*global));
    stated = product({*global / (*micro * *steps), l.tp, l.cp});
  }
  settleDataParallel(r, options, stated,
                     "all three batch sizes together would say", run);
  if (r.failed())
    return;
  if (!micro && global && steps)
    micro = *global / (*steps * l.dp);
  else if (!micro && global)
    micro = *global / l.dp;
  l.microBatch = micro.value_or(1);
  if (l.microBatch < 1)
    return r.fail("train_batch_size", "is smaller than the " + Twine(l.dp) +
                                          " data-parallel ranks");
  if (!global && micro)
    global = product({*micro, steps.value_or(1), l.dp});
  run.workload.globalBatch = global.value_or(0);
  if (!micro)
    run.notes.push_back("the micro-batch size is left to the training code; it "
                        "is read as 1");
  run.notes.push_back("recomputation, pipeline stages and experts are set in "
                      "the training code; they are read as none");
  r.ignore({"zero_optimization.reduce_scatter",
            "zero_optimization.reduce_bucket_size",
            "zero_optimization.allgather_partitions",
            "zero_optimization.allgather_bucket_size",
            "zero_optimization.contiguous_gradients",
            "zero_optimization.round_robin_gradients",
            "zero_optimization.sub_group_size",
            "zero_optimization.stage3_max_live_parameters",
            "zero_optimization.stage3_max_reuse_distance",
            "zero_optimization.stage3_prefetch_bucket_size",
            "zero_optimization.stage3_param_persistence_threshold",
            "zero_optimization.stage3_gather_16bit_weights_on_model_save",
            "zero_optimization.stage3_gather_fp16_weights_on_model_save",
            "zero_optimization.elastic_checkpoint",
            "zero_optimization.ignore_unused_parameters",
            "zero_optimization.use_multi_rank_bucket_allreduce",
            "zero_optimization.mics_hierarchical_params_gather",
            "zero_optimization.memory_efficient_linear",
            "zero_optimization.log_trace_cache_warnings"});
  r.checkNearMisses();
}

static bool recognises(ArrayRef<Setting> settings) {
  return hasSection(settings, "zero_optimization") ||
         findSetting(settings, "train_batch_size") ||
         findSetting(settings, "train_micro_batch_size_per_gpu");
}

static StringRef whyNot(StringRef field, const Layout &l) {
  if (field == "pp" || field == "vpp" || field == "layers" ||
      field == "schedule")
    return "DeepSpeed takes the stages from PipelineModule in the training "
           "code";
  if (field == "tp" && !canTensorParallel(l))
    return "DeepSpeed's own tensor parallelism goes with ZeRO up to stage 2; "
           "beyond that it is the training code's";
  if (field == "ep" || field == "etp" || field == "dispatcher")
    return "DeepSpeed takes experts from its MoE layer in the training code";
  if (field == "recompute")
    return "DeepSpeed takes recomputation from the training code";
  if (field == "param-overlap")
    return "overlap_comm is one switch, and stages 1 and 2 gather parameters "
           "in the open";
  if (field == "sequence length")
    return "DeepSpeed takes it from the data";
  return "";
}

const Format exports::kDeepSpeed = {
    "deepspeed",  "DeepSpeed", "ds_config.json",
    Syntax::Json, write,       read,
    recognises,   whyNot,      "the model, its data and the optimizer"};
