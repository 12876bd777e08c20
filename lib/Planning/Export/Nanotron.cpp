//===- Nanotron.cpp - nanotron's YAML -------------------------------------===//
//
// huggingface/nanotron, src/nanotron/config/parallelism_config.py and
// config.py (commit 19f88fbe): parallelism, optimizer.zero_stage (0 or 1) and
// tokens. tp_mode REDUCE_SCATTER is sequence parallelism; pp_engine is 1f1b or
// afab (all forward, all backward; the default). Experts fold the ranks of
// attention as in Megatron-Core (src/nanotron/parallel/context.py), with an
// expert tensor parallel size of 1. Context parallelism is ring attention.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static void write(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  auto set = [&](StringRef key, json::Value value) {
    put(out, ("parallelism." + key).str(), std::move(value));
  };
  set("dp", l.dp);
  set("pp", l.pp);
  set("tp", l.tp);
  set("context_parallel_size", l.cp);
  set("expert_parallel_size", l.ep);
  set("pp_engine", l.schedule == ScheduleKind::GPipe ? "afab" : "1f1b");
  set("tp_mode", l.sequenceParallel ? "REDUCE_SCATTER" : "ALL_REDUCE");
  set("tp_linear_async_communication", l.tp > 1 && l.overlapTensorParallel);
  set("recompute_layer", l.recompute == RecomputeKind::Full);
  put(out, "model.dtype", input.precision == "fp16" ? "float16" : "bfloat16");
  put(out, "optimizer.zero_stage", l.zeroStage);
  put(out, "tokens.micro_batch_size", l.microBatch);
  if (input.workload.globalBatch > 0)
    put(out, "tokens.batch_accumulation_per_replica",
        input.workload.globalBatch / (l.dp * l.microBatch));
  if (input.workload.sequence > 0)
    put(out, "tokens.sequence_length", input.workload.sequence);
}

static void read(SettingsReader &r, const FrameworkReadOptions &options,
                 FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string p = "parallelism.";
  auto size = [&](StringRef key) {
    return static_cast<int>(r.integer((p + key).str()).value_or(1));
  };
  for (StringRef key : {"dp", "tp", "pp"})
    if (!r.raw((p + key).str()) && !r.failed())
      return r.failWhole("nanotron needs '" + p + key +
                         "', which the file does not state");
  l.dp = size("dp");
  l.tp = size("tp");
  l.pp = size("pp");
  l.cp = size("context_parallel_size");
  l.ep = size("expert_parallel_size");
  run.layers = r.integer("model.model_config.num_hidden_layers").value_or(0);
  static constexpr StringLiteral kEngines[] = {"afab", "1f1b"};
  l.schedule = r.choice(p + "pp_engine", kEngines).value_or(0) == 0
                   ? ScheduleKind::GPipe
                   : ScheduleKind::OneFOneB;
  static constexpr StringLiteral kModes[] = {"ALL_REDUCE", "REDUCE_SCATTER"};
  bool scatter = r.choice(p + "tp_mode", kModes).value_or(0) == 1;
  l.sequenceParallel = scatter && l.tp > 1;
  l.overlapTensorParallel =
      r.flag(p + "tp_linear_async_communication").value_or(false);
  if (r.flag(p + "recompute_layer").value_or(false))
    l.recompute = RecomputeKind::Full;
  bool experts = r.flag(p + "moe_layer_recompute").value_or(false);
  if (experts && l.recompute == RecomputeKind::None && l.ep > 1)
    run.notes.push_back("recomputing only the expert layers is read as no "
                        "recomputation");
  int64_t stage = r.integer("optimizer.zero_stage", 0).value_or(0);
  if (stage > 1)
    return r.fail("optimizer.zero_stage",
                  "must be 0 or 1, got " + Twine(stage));
  l.zeroStage = static_cast<int>(stage);
  std::string type = r.text("model.dtype").value_or("");
  run.precision = type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : "";
  run.hidden = r.integer("model.model_config.hidden_size").value_or(0);
  l.microBatch = r.integer("tokens.micro_batch_size").value_or(1);
  int64_t steps =
      r.integer("tokens.batch_accumulation_per_replica").value_or(0);
  run.workload.sequence = r.integer("tokens.sequence_length").value_or(0);
  int64_t stated = product({l.dp, l.tp, l.pp, l.cp});
  settleDataParallel(r, options, stated, "", run);
  run.workload.globalBatch = product({l.microBatch, steps, l.dp});
  r.ignore({"parallelism.tp_recompute_allgather"});
  r.checkSection(p);
}

static bool recognises(ArrayRef<Setting> settings) {
  return findSetting(settings, "parallelism.dp") &&
         findSetting(settings, "parallelism.tp");
}

static StringRef whyNot(StringRef, const Layout &) { return ""; }

const Format exports::kNanotron = {"nanotron",
                                   "nanotron",
                                   "config.yaml",
                                   Syntax::Yaml,
                                   write,
                                   read,
                                   recognises,
                                   whyNot,
                                   "the model's sizes (model.model_config), "
                                   "its data and tokenizer, the optimizer"};
