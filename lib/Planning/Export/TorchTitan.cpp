//===- TorchTitan.cpp - TorchTitan's TOML ---------------------------------===//
//
// pytorch/torchtitan, torchtitan/config/job_config.py (0.1 and 0.2, commit
// 6404b932): [parallelism], [training], [activation_checkpoint], [compile]
// (enable, components), [model] (name, flavor, converters). FSDP shards
// over data_parallel_shard_degree times the context parallel ranks;
// fsdp_reshard_after_forward "never" keeps gathered parameters (ZeRO-2),
// "always" drops them (ZeRO-3), "default" drops them without a pipeline. With a
// pipeline gradients are summed whole over the microbatches and reduced once
// (pytorch/pytorch, torch/distributed/pipelining/stage.py,
// backward_maybe_with_nosync), so that what keeps its parameters is ZeRO-1.
// Tensor parallelism is always with sequence parallelism. Looped schedules
// have two stages on a rank unless the layers of a stage are given; the first
// and the last stage have one layer fewer by default
// (torchtitan/distributed/pipeline.py). The context parallel rotation
// "alltoall" passes key and value shards on, which is the ring.
//
//===----------------------------------------------------------------------===//
#include "Format.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/Framework.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

namespace {
struct Schedule {
  StringLiteral name;
  ScheduleKind kind;
  int stagesPerRank; ///< usual
};
} // namespace

// torch/distributed/pipelining/schedules.py (2.8), get_schedule_class.
static constexpr Schedule kSchedules[] = {
    {"1F1B", ScheduleKind::OneFOneB, 1},
    {"GPipe", ScheduleKind::GPipe, 1},
    {"Interleaved1F1B", ScheduleKind::Interleaved, 2},
    {"InterleavedZeroBubble", ScheduleKind::ZeroBubble, 2},
    {"LoopedBFS", ScheduleKind::GPipe, 2},
    {"ZBVZeroBubble", ScheduleKind::ZeroBubble, 2}};

static const Schedule &scheduleFor(const Layout &l) {
  for (const Schedule &s : kSchedules)
    if (s.kind == l.schedule && (s.stagesPerRank > 1) == (l.vpp > 1))
      return s;
  return kSchedules[0];
}

/// The names of the modules of each chunk.
static json::Array modulesOf(ArrayRef<int> chunks) {
  json::Array parts;
  int layer = 0;
  for (auto [i, count] : enumerate(chunks)) {
    json::Array names;
    if (i == 0)
      names.push_back("tok_embeddings");
    for (int c = 0; c < count; ++c)
      names.push_back("layers." + std::to_string(layer++));
    if (i + 1 == chunks.size()) {
      names.push_back("norm");
      names.push_back("output");
    }
    parts.push_back(std::move(names));
  }
  return parts;
}

static void writePipeline(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  auto set = [&](StringRef key, json::Value value) {
    put(out, ("parallelism." + key).str(), std::move(value));
  };
  set("pipeline_parallel_degree", l.pp);
  if (l.pp == 1)
    return;
  const Schedule &schedule = scheduleFor(l);
  set("pipeline_parallel_schedule", schedule.name);
  set("pipeline_parallel_microbatch_size", l.microBatch);
  SmallVector<int, 8> chunks = unevenChunks(input);
  if (chunks.empty() && l.vpp != schedule.stagesPerRank && input.layers > 0)
    chunks = frontLoadedChunks(input.layers, l.pp * l.vpp);
  if (!chunks.empty()) {
    set("module_fqns_per_model_part", modulesOf(chunks));
    return;
  }
  set("pipeline_parallel_first_stage_less_layers", 0);
  set("pipeline_parallel_last_stage_less_layers", 0);
}

/// The n for which each n-th layer of a chunk are the layout's
/// recompute-layers; 0 where all are, or the number of layers is not known.
static int everyNthOf(const Layout &l, int64_t layers) {
  SmallVector<int, 8> chunks = l.chunkLayers;
  if (chunks.empty() && layers > 0)
    chunks = {int(layers / (l.pp * l.vpp)),
              int((layers + l.pp * l.vpp - 1) / (l.pp * l.vpp))};
  return chunks.empty() ? 0
                        : everyNth(l.recomputeLayers, *min_element(chunks),
                                   *max_element(chunks));
}

static void readRecompute(SettingsReader &r, int64_t layers,
                          FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string key = "activation_checkpoint.selective_ac_option";
  static constexpr StringLiteral kModes[] = {"none", "selective", "full"};
  size_t mode = r.choice("activation_checkpoint.mode", kModes).value_or(1);
  std::string option = r.text(key).value_or("2");
  l.recompute = static_cast<RecomputeKind>(mode);
  if (r.failed() || l.recompute != RecomputeKind::Selective || option == "op")
    return;
  int n = 0;
  if (StringRef(option).getAsInteger(10, n) || n < 1)
    return r.fail(key,
                  "must be 'op' or a number of layers, got '" + option + "'");
  if (layers == 0 && l.chunkLayers.empty()) {
    run.notes.push_back("recomputing every layer number divisible by " +
                        option +
                        " is read as selective recomputation; the "
                        "number of layers would say how many");
    return;
  }
  int64_t chunks = int64_t(l.pp) * l.vpp;
  int64_t most = l.chunkLayers.empty() ? (layers + chunks - 1) / chunks
                                       : *max_element(l.chunkLayers);
  int64_t least =
      l.chunkLayers.empty() ? layers / chunks : *min_element(l.chunkLayers);
  l.recompute = most < n ? RecomputeKind::None : RecomputeKind::Full;
  l.recomputeLayers = n == 1 ? 0 : int(most / n);
  if (least / n != most / n)
    run.notes.push_back("recomputing every layer number divisible by " +
                        option + " is read as " + std::to_string(most / n) +
                        " layers of each chunk, the shorter ones have fewer");
}

namespace {
/// What TorchTitan calls a model (torchtitan/models/*/__init__.py).
struct Flavor {
  StringLiteral name, flavor;
  int64_t hidden, layers, heads, vocab;
};
} // namespace
static constexpr Flavor kFlavors[] = {
    {"llama3", "8B", 4096, 32, 32, 128256},
    {"llama3", "70B", 8192, 80, 64, 128256},
    {"llama3", "405B", 16384, 126, 128, 128256},
    {"deepseek_v3", "671B", 7168, 61, 128, 129280},
    {"qwen3", "8B", 4096, 36, 32, 151936},
    {"qwen3", "14B", 5120, 40, 40, 151936},
    {"qwen3", "32B", 5120, 64, 64, 151936}};

static void writeModel(const ModelConfig &m, bool fp8, Settings &out) {
  for (const Flavor &f : kFlavors)
    if (f.hidden == m.hidden && f.layers == m.layers && f.heads == m.heads &&
        f.vocab == m.vocab) {
      put(out, "model.name", f.name);
      put(out, "model.flavor", f.flavor);
    }
  if (fp8)
    put(out, "model.converters", json::Array{"float8"});
}

static void write(const ExportInput &input, Settings &out) {
  const Layout &l = input.layout;
  auto set = [&](StringRef key, json::Value value) {
    put(out, ("parallelism." + key).str(), std::move(value));
  };
  bool asyncTp = l.tp > 1 && l.overlapTensorParallel;
  if (l.pp == 1)
    put(out, "training.local_batch_size", l.microBatch);
  else if (input.workload.globalBatch > 0)
    put(out, "training.local_batch_size", input.workload.globalBatch / l.dp);
  if (input.workload.globalBatch > 0)
    put(out, "training.global_batch_size", input.workload.globalBatch);
  if (input.workload.sequence > 0)
    put(out, "training.seq_len", input.workload.sequence);
  // The stack is timed as compiled.
  put(out, "compile.enable", true);
  put(out, "compile.components", json::Array{"model", "loss"});
  if (input.model)
    writeModel(*input.model, input.precision == "fp8", out);
  else if (input.precision == "fp8")
    put(out, "model.converters", json::Array{"float8"});
  int shard = l.zeroStage == 0 ? 1 : l.shardGroup > 0 ? l.shardGroup : l.dp;
  set("data_parallel_replicate_degree", l.dp / shard);
  set("data_parallel_shard_degree", shard);
  if (l.zeroStage > 0)
    set("fsdp_reshard_after_forward", l.zeroStage == 3 ? "always" : "never");
  set("tensor_parallel_degree", l.tp);
  set("enable_async_tensor_parallel", asyncTp);
  writePipeline(input, out);
  set("context_parallel_degree", l.cp);
  if (l.cp > 1)
    set("context_parallel_rotate_method",
        l.contextKind == ContextKind::AllGather ? "allgather" : "alltoall");
  set("expert_parallel_degree", l.ep);
  if (l.ep > 1) {
    bool whole = l.etp == l.tp;
    set("expert_tensor_parallel_degree", whole ? l.tp : 1);
    set("expert_parallel_comm_backend",
        l.dispatcher == DispatcherKind::Fused ? "deepep" : "standard");
  }
  // Each n-th layer of a model part is a selective mode, too.
  int nth =
      l.recompute == RecomputeKind::Full ? everyNthOf(l, input.layers) : 0;
  bool selective = l.recompute == RecomputeKind::Selective || nth > 0;
  put(out, "activation_checkpoint.mode",
      selective ? "selective" : nameOf(l.recompute));
  if (selective)
    put(out, "activation_checkpoint.selective_ac_option",
        nth > 0 ? std::to_string(nth) : "op");
}

/// Layers of each stage as the modules' names say.
static void readModules(SettingsReader &r, StringRef key,
                        const Setting &setting, FrameworkRun &run) {
  const json::Array *parts = setting.value.getAsArray();
  SmallVector<int, 8> chunks;
  for (const json::Value &part : parts ? *parts : json::Array()) {
    const json::Array *names = part.getAsArray();
    if (!names)
      return r.fail(key, "must be a list of lists of module names");
    chunks.push_back(0);
    for (const json::Value &name : *names)
      chunks.back() += name.getAsString().value_or("").starts_with("layers.");
  }
  int pp = run.layout.pp;
  if (chunks.empty() || chunks.size() % pp != 0)
    return r.fail(key, "has " + Twine(chunks.size()) +
                           " parts, which do not go round " + Twine(pp) +
                           " ranks");
  run.layout.vpp = static_cast<int>(chunks.size()) / pp;
  run.layout.chunkLayers = chunks;
}

static void readPipeline(SettingsReader &r, int64_t layers, FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string p = "parallelism.";
  l.pp =
      static_cast<int>(r.integer(p + "pipeline_parallel_degree").value_or(1));
  static constexpr StringLiteral kNames[] = {
      "1F1B",      "GPipe",        "Interleaved1F1B", "InterleavedZeroBubble",
      "LoopedBFS", "ZBVZeroBubble"};
  size_t which = r.choice(p + "pipeline_parallel_schedule", kNames).value_or(0);
  int64_t less =
      r.integer(p + "pipeline_parallel_first_stage_less_layers", 0).value_or(1);
  int64_t lastLess =
      r.integer(p + "pipeline_parallel_last_stage_less_layers", 0).value_or(1);
  std::string perStageKey = p + "pipeline_parallel_layers_per_stage";
  std::optional<int64_t> perStage = r.integer(perStageKey);
  std::string modulesKey = p + "module_fqns_per_model_part";
  const Setting *modules = r.raw(modulesKey);
  const Setting *splits = r.raw(p + "pipeline_parallel_split_points");
  if (l.pp == 1 || r.failed())
    return;
  l.schedule = kSchedules[which].kind;
  l.vpp = kSchedules[which].stagesPerRank;
  if (StringRef(kSchedules[which].name) == "ZBVZeroBubble")
    run.notes.push_back("the V-shaped placement of stages is read as the "
                        "looped one");
  if (modules)
    return readModules(r, modulesKey, *modules, run);
  const json::Array *points = splits ? splits->value.getAsArray() : nullptr;
  if (points && !points->empty()) {
    if ((points->size() + 1) % l.pp != 0)
      return r.fail(splits->key, "makes " + Twine(points->size() + 1) +
                                     " stages, which do not go round " +
                                     Twine(l.pp) + " ranks");
    l.vpp = static_cast<int>(points->size() + 1) / l.pp;
    run.notes.push_back("split points: the number of stages is read, their "
                        "layers are taken as even");
    return;
  }
  if (layers > 0)
    for (auto [what, n] : {std::pair("first", less), {"last", lastLess}})
      if (n > layers)
        return r.fail(p + "pipeline_parallel_" + what + "_stage_less_layers",
                      "must be at most the " + Twine(layers) + " layers, got " +
                          Twine(n));
  if (perStage) {
    if (layers == 0)
      return r.fail(perStageKey, "needs the number of layers, which the file "
                                 "does not state");
    int64_t stages = (layers + less + lastLess + *perStage - 1) / *perStage;
    if (stages % l.pp != 0)
      return r.fail(perStageKey, "makes " + Twine(stages) +
                                     " stages, which do not go round " +
                                     Twine(l.pp) + " ranks");
    l.vpp = static_cast<int>(stages) / l.pp;
  }
  if (!checkChunks(r, l))
    return;
  if (less == 0 && lastLess == 0 && layers % (int64_t(l.pp) * l.vpp) == 0)
    return;
  if (layers == 0) {
    run.notes.push_back("the first and last stage have " +
                        std::to_string(less) + " and " +
                        std::to_string(lastLess) +
                        " layers fewer; without the number of layers the "
                        "stages are taken as even");
    return;
  }
  l.chunkLayers = frontLoadedChunks(layers + less + lastLess, l.pp * l.vpp);
  if (l.chunkLayers.front() < less || l.chunkLayers.back() < lastLess)
    return r.fail(p + "pipeline_parallel_degree",
                  "has too many stages for " + Twine(layers) + " layers");
  l.chunkLayers.front() -= static_cast<int>(less);
  l.chunkLayers.back() -= static_cast<int>(lastLess);
}

static void readDataParallel(SettingsReader &r,
                             const FrameworkReadOptions &options,
                             FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string key = "parallelism.data_parallel_shard_degree";
  int64_t replicas =
      r.integer("parallelism.data_parallel_replicate_degree").value_or(1);
  int64_t shard = r.integer(key, -1).value_or(-1);
  if (r.failed())
    return;
  if (shard == 0)
    return r.fail(key, "must be -1 or at least 1, got '0'");
  int64_t stated = shard > 0 ? product({l.tp, l.cp, l.pp, replicas, shard}) : 0;
  settleDataParallel(r, options, stated,
                     "'" + key + "' = -1 takes what is left", run);
  if (r.failed())
    return;
  if (l.dp % replicas != 0)
    return r.fail("parallelism.data_parallel_replicate_degree",
                  "must divide the data parallel ranks " + Twine(l.dp) +
                      ", got " + Twine(replicas));
  shard = l.dp / replicas;
  static constexpr StringLiteral kPolicies[] = {"default", "always", "never"};
  size_t policy =
      r.choice("parallelism.fsdp_reshard_after_forward", kPolicies).value_or(0);
  bool keeps = policy == 2 || (policy == 0 && l.pp > 1);
  bool once = l.pp > 1; // gradients are reduced
  if (shard * l.cp > 1)
    l.zeroStage = !keeps ? 3 : once ? 1 : 2;
  if (l.zeroStage == 3 && once)
    run.notes.push_back(
        "with a pipeline the gradients are reduced once a step; "
        "zero=3 plans with a reduction for each microbatch");
  if (replicas > 1 && l.zeroStage > 0)
    l.shardGroup = static_cast<int>(shard);
}

static void readBatch(SettingsReader &r, FrameworkRun &run) {
  Layout &l = run.layout;
  auto local = r.integer("training.local_batch_size");
  if (!local)
    local = r.integer("training.batch_size"); // before 0.1
  int64_t global = r.integer("training.global_batch_size", -1).value_or(-1);
  auto micro = r.integer("parallelism.pipeline_parallel_microbatch_size");
  run.workload.sequence = r.integer("training.seq_len").value_or(0);
  run.workload.globalBatch =
      global > 0 ? global : local.value_or(8) * l.dp; // its default is 8
  l.microBatch = l.pp > 1 ? micro.value_or(1) : local.value_or(8);
}

static void read(SettingsReader &r, const FrameworkReadOptions &options,
                 FrameworkRun &run) {
  Layout &l = run.layout;
  const std::string p = "parallelism.";
  auto size = [&](StringRef key) {
    return static_cast<int>(r.integer((p + key).str()).value_or(1));
  };
  l.tp = size("tensor_parallel_degree");
  l.sequenceParallel = l.tp > 1;
  l.cp = size("context_parallel_degree");
  static constexpr StringLiteral kRotations[] = {"allgather", "alltoall"};
  size_t rotation =
      r.choice(p + "context_parallel_rotate_method", kRotations).value_or(0);
  l.contextKind = rotation == 0 ? ContextKind::AllGather : ContextKind::Ring;
  l.ep = size("expert_parallel_degree");
  int etp = size("expert_tensor_parallel_degree");
  l.etp = l.ep > 1 ? etp : 1;
  if (l.etp != 1 && l.etp != l.tp)
    return r.fail(p + "expert_tensor_parallel_degree",
                  "must be 1 or the tensor parallel degree " + Twine(l.tp) +
                      ", got " + Twine(l.etp));
  static constexpr StringLiteral kBackends[] = {"standard", "deepep"};
  l.dispatcher =
      r.choice(p + "expert_parallel_comm_backend", kBackends).value_or(0) == 1
          ? DispatcherKind::Fused
          : DispatcherKind::AllToAll;
  l.overlapTensorParallel =
      r.flag(p + "enable_async_tensor_parallel").value_or(false);
  readPipeline(r, options.layers, run);
  readDataParallel(r, options, run);
  readBatch(r, run);
  readRecompute(r, options.layers, run);
  run.precision =
      is_contained(r.texts("model.converters"), "float8") ? "fp8" : "bf16";
  r.raw("model.name");
  r.raw("model.flavor");
  bool compiled = r.flag("compile.enable").value_or(false) ||
                  r.flag("training.compile").value_or(false); // before 0.2
  r.texts("compile.components");
  if (!compiled)
    run.notes.push_back("the model is not compiled ([compile] enable); it is "
                        "timed as if it were");
  r.ignore({"parallelism.enable_compiled_autograd",
            "parallelism.disable_loss_parallel",
            "parallelism.pipeline_parallel_schedule_csv",
            "parallelism.pipeline_parallel_expert_parallel_overlap",
            "parallelism.context_parallel_load_balancer"});
  r.checkSection("parallelism.");
}

static bool recognises(ArrayRef<Setting> settings) {
  return hasSection(settings, "parallelism") &&
         hasSection(settings, "training");
}

static StringRef whyNot(StringRef field, const Layout &) {
  if (field == "recompute-layers")
    return "each n-th layer of a stage needs the number of layers (--model)";
  if (field == "vpp" || field == "layers")
    return "stages other than the schedule's usual ones need the number of "
           "layers (--model)";
  if (field == "grad-overlap" || field == "param-overlap")
    return "FSDP always overlaps";
  return "";
}

const Format exports::kTorchTitan = {
    "torchtitan",
    "TorchTitan",
    "train.toml",
    Syntax::Toml,
    write,
    read,
    recognises,
    whyNot,
    "the model ([model] name and flavor) where "
    "it does not stand below, its data and "
    "tokenizer, the optimizer"};
