//===- Megatron.cpp - Megatron-LM arguments, Megatron-Bridge overrides ----===//
//
// Both set the same options of Megatron-Core, so one mapping serves both. Names
// and meanings:
// - NVIDIA/Megatron-LM, megatron/training/arguments.py (core 0.12 to 0.15):
//   sizes and schedule in _add_distributed_args, recomputation and batch in
//   _add_training_args, dispatcher in _add_moe_args, rules in validate_args.
//   --tp-comm-overlap needs --sequence-parallel; --overlap-param-gather needs
//   the distributed optimizer and --overlap-grad-reduce; the expert tensor
//   parallel size is the tensor parallel size where it is not given.
// - Megatron-FSDP: --use-megatron-fsdp with --data-parallel-sharding-strategy
//   no_shard, optim, optim_grads, optim_grads_params (ZeRO 0 to 3) and
//   --num-distributed-optimizer-instances for hybrid sharding
//   (docs/user-guide/features/megatron_fsdp of Megatron-Core 0.14).
// - NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/training/config.py and
//   comm_overlap.py (0.2): the same names under model, train, ddp, dist and
//   comm_overlap, as in scripts/performance/dryrun_configs.
// - Context parallel kinds p2p, all_gather and a2a: TransformerConfig.
//   cp_comm_type (arguments.py also writes "allgather").
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include "tessera/Planning/Framework.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

namespace {
/// Where the options of Megatron-Core stand in one of its two files.
class Place {
public:
  explicit Place(bool bridge) : bridge(bridge) {}
  const bool bridge;

  std::string key(StringRef option) const {
    std::string name = option.str();
    if (!bridge) {
      std::replace(name.begin(), name.end(), '_', '-');
      return name;
    }
    static constexpr StringLiteral kTrain[] = {"micro_batch_size",
                                               "global_batch_size"};
    static constexpr StringLiteral kDdp[] = {
        "use_distributed_optimizer", "overlap_grad_reduce",
        "overlap_param_gather", "data_parallel_sharding_strategy",
        "num_distributed_optimizer_instances"};
    static constexpr StringLiteral kOverlap[] = {
        "tp_comm_overlap", "overlap_p2p_comm",
        "overlap_moe_expert_parallel_comm"};
    StringRef section = is_contained(kTrain, option)     ? "train."
                        : is_contained(kDdp, option)     ? "ddp."
                        : is_contained(kOverlap, option) ? "comm_overlap."
                        : option == "use_megatron_fsdp"  ? "dist."
                                                         : "model.";
    return (section + name).str();
  }
};

/// Writes options; a Megatron-LM switch is there or not, a Bridge field says
/// true or false because it overrides a recipe.
class Writer {
public:
  Writer(const Place &place, Settings &out) : place(place), out(out) {}
  void value(StringRef option, json::Value v) {
    put(out, place.key(option), std::move(v));
  }
  void at(StringRef key, json::Value v) { put(out, key, std::move(v)); }
  void flag(StringRef option, bool on) {
    if (on || place.bridge)
      value(option, on);
  }

private:
  const Place &place;
  Settings &out;
};
} // namespace

static constexpr StringLiteral kStrategies[] = {
    "no_shard", "optim", "optim_grads", "optim_grads_params"};

static void writeSharding(const Layout &l, const Place &place, Writer &w) {
  bool fsdp = l.zeroStage >= 2;
  w.flag("use_distributed_optimizer", l.zeroStage >= 1);
  w.flag("use_megatron_fsdp", fsdp);
  if (place.bridge && fsdp) // switched on in two places
    w.at("ddp.use_megatron_fsdp", true);
  if (fsdp)
    w.value("data_parallel_sharding_strategy", kStrategies[l.zeroStage]);
  if (l.shardGroup > 0)
    w.value("num_distributed_optimizer_instances", l.dp / l.shardGroup);
  bool replicated = l.dp * l.cp > 1;
  bool gradients = replicated && l.overlapGradients;
  w.flag("overlap_grad_reduce", gradients);
  w.flag("overlap_param_gather",
         gradients && l.zeroStage >= 1 && l.overlapParameters);
}

/// Megatron-Bridge names a recipe of mixed precision
/// (training/mixed_precision.py).
static void writePrecision(StringRef precision, const Place &place, Writer &w) {
  if (precision.empty())
    return;
  bool fp8 = precision == "fp8";
  if (place.bridge)
    return w.at("mixed_precision", fp8 ? "bf16_with_fp8_delayed_scaling_mixed"
                                   : precision == "fp16" ? "fp16_mixed"
                                                         : "bf16_mixed");
  w.flag(precision == "fp16" ? "fp16" : "bf16", true);
  if (fp8)
    w.value("fp8_format", "hybrid");
}

static void readPrecision(SettingsReader &r, const Place &place,
                          FrameworkRun &run) {
  if (place.bridge) {
    StringRef recipe = "mixed_precision";
    std::string text = r.text(recipe).value_or("");
    std::string format = r.text("mixed_precision.fp8").value_or("");
    StringRef t = text;
    run.precision = !format.empty() || t.contains("fp8") ? "fp8"
                    : t.starts_with("fp16")              ? "fp16"
                    : t.starts_with("bf16")              ? "bf16"
                                                         : "";
    return;
  }
  bool fp16 = r.flag("fp16").value_or(false);
  bool bf16 = r.flag("bf16").value_or(false);
  run.precision = r.text("fp8-format") ? "fp8"
                  : bf16               ? "bf16"
                  : fp16               ? "fp16"
                                       : "";
}

static void writeMegatronCore(const ExportInput &input, const Place &place,
                              Settings &out) {
  const Layout &l = input.layout;
  // validate_args wants stages to divide the layers or a layout.
  SmallVector<int, 8> chunks = unevenChunks(input);
  Writer w(place, out);
  w.value("tensor_model_parallel_size", l.tp);
  w.flag("sequence_parallel", l.sequenceParallel);
  w.value("pipeline_model_parallel_size", l.pp);
  if (place.bridge)
    w.value("virtual_pipeline_model_parallel_size",
            l.vpp > 1 ? json::Value(l.vpp) : json::Value(nullptr));
  else if (l.vpp > 1 && chunks.empty())
    w.value("num_virtual_stages_per_pipeline_rank", l.vpp);
  if (!chunks.empty())
    w.value("pipeline_model_parallel_layout", pipelineLayoutText(chunks));
  w.value("context_parallel_size", l.cp);
  if (l.cp > 1)
    w.value("cp_comm_type", l.contextKind == ContextKind::Ring ? "p2p"
                            : l.contextKind == ContextKind::AllGather
                                ? "all_gather"
                                : "a2a");
  if (input.experts || l.ep > 1 || l.etp > 1) {
    w.value("expert_model_parallel_size", l.ep);
    w.value("expert_tensor_parallel_size", l.etp);
    w.value("moe_token_dispatcher_type",
            l.dispatcher == DispatcherKind::Fused       ? "flex"
            : l.dispatcher == DispatcherKind::AllGather ? "allgather"
                                                        : "alltoall");
    if (l.dispatcher == DispatcherKind::Fused) {
      if (place.bridge)
        w.value("moe_flex_dispatcher_backend", "deepep");
      else
        w.flag("moe_enable_deepep", true);
    }
  }
  writeSharding(l, place, w);
  if (l.recompute != RecomputeKind::None)
    w.value("recompute_granularity", nameOf(l.recompute));
  else if (place.bridge)
    w.value("recompute_granularity", nullptr);
  if (l.recompute == RecomputeKind::Selective) {
    json::Array modules;
    for (StringRef module : selectiveModules(input.experts, input.latent))
      modules.push_back(module);
    w.value("recompute_modules", std::move(modules));
  }
  if (l.recompute == RecomputeKind::Full) {
    bool some = l.recomputeLayers > 0; // the first of each (virtual) stage
    w.value("recompute_method", some ? "block" : "uniform");
    w.value("recompute_num_layers", some ? l.recomputeLayers : 1);
  }
  if (place.bridge) // optional fields name their class
    w.at("comm_overlap._target_",
         "megatron.bridge.training.comm_overlap.CommOverlapConfig");
  w.flag("tp_comm_overlap", l.tp > 1 && l.overlapTensorParallel);
  w.flag("overlap_moe_expert_parallel_comm", l.ep > 1 && l.overlapExperts);
  if (place.bridge)
    w.value("overlap_p2p_comm", l.overlapPipeline);
  else
    w.flag("no_overlap_p2p_communication", !l.overlapPipeline);
  w.value("micro_batch_size", l.microBatch);
  if (input.workload.globalBatch > 0)
    w.value("global_batch_size", input.workload.globalBatch);
  if (input.workload.sequence > 0)
    w.value("seq_length", input.workload.sequence);
  writePrecision(input.precision, place, w);
}

/// Stages: virtual stages and how many layers each has.
static void readStages(SettingsReader &r, const Place &place, int64_t layers,
                       FrameworkRun &run) {
  Layout &l = run.layout;
  auto key = [&](StringRef option) { return place.key(option); };
  std::string perStage = key("num_layers_per_virtual_pipeline_stage");
  std::string virtualKey =
      key(place.bridge ? "virtual_pipeline_model_parallel_size"
                       : "num_virtual_stages_per_pipeline_rank");
  std::optional<int64_t> vpp = r.integer(virtualKey);
  if (auto n = place.bridge ? std::nullopt : r.integer(perStage)) {
    if (layers == 0)
      return r.fail(perStage, "needs '" + key("num_layers") +
                                  "', which the file does not state");
    if (layers % (*n * l.pp) != 0)
      return r.fail(perStage, "times the " + Twine(l.pp) +
                                  " stages must divide the " + Twine(layers) +
                                  " layers, got " + Twine(*n));
    vpp = layers / (*n * l.pp);
  }
  if (l.pp > 1 && vpp)
    l.vpp = static_cast<int>(*vpp);
  if (!checkChunks(r, l))
    return;
  std::string layoutKey = key("pipeline_model_parallel_layout");
  if (std::optional<std::string> text = r.text(layoutKey)) {
    Expected<SmallVector<int, 8>> chunks = parsePipelineLayout(*text);
    if (!chunks)
      return r.fail(layoutKey,
                    "is no layout of stages: " + toString(chunks.takeError()));
    if (chunks->size() % l.pp != 0 ||
        (vpp && int64_t(chunks->size()) != *vpp * l.pp))
      return r.fail(layoutKey,
                    "has " + Twine(chunks->size()) +
                        " stages, which do not go round " + Twine(l.pp) +
                        " ranks" +
                        (vpp ? " " + Twine(*vpp) + " times" : Twine()));
    if (StringRef(*text).contains('m'))
      run.notes.push_back("layers of multi-token prediction are not in the "
                          "layout; they are left out of the stages");
    l.vpp = static_cast<int>(chunks->size()) / l.pp;
    l.chunkLayers = *chunks;
    return;
  }
  // One layer fewer where the embedding or the loss counts as a layer.
  bool embedding =
      r.flag(key("account_for_embedding_in_pipeline_split")).value_or(false);
  bool loss = r.flag(key("account_for_loss_in_pipeline_split")).value_or(false);
  std::string firstKey =
      key(place.bridge ? "num_layers_in_first_pipeline_stage"
                       : "decoder_first_pipeline_num_layers");
  std::string lastKey = key(place.bridge ? "num_layers_in_last_pipeline_stage"
                                         : "decoder_last_pipeline_num_layers");
  std::optional<int64_t> first = r.integer(firstKey, 0);
  std::optional<int64_t> last = r.integer(lastKey, 0);
  bool uneven = embedding || loss || first || last;
  if (int64_t chunks = int64_t(l.pp) * l.vpp; !uneven && layers % chunks != 0)
    run.notes.push_back("Megatron-Core runs " + std::to_string(chunks) +
                        " stages only where they divide the layers, here " +
                        std::to_string(layers) + "; they are taken as even");
  if (r.failed() || l.pp == 1 || !uneven)
    return;
  std::string cause = first  ? firstKey
                      : last ? lastKey
                      : embedding
                          ? key("account_for_embedding_in_pipeline_split")
                          : key("account_for_loss_in_pipeline_split");
  if (layers == 0)
    return r.fail(cause, "needs '" + key("num_layers") +
                             "', which the file does not state");
  int chunksCount = l.pp * l.vpp;
  SmallVector<int, 8> chunks;
  if (embedding || loss) {
    int64_t counted = layers + embedding + loss;
    if (counted % chunksCount != 0)
      return r.fail(cause, "with embedding and loss counted makes " +
                               Twine(counted) + " layers, which " +
                               Twine(chunksCount) + " stages do not divide");
    chunks.assign(chunksCount, static_cast<int>(counted / chunksCount));
    chunks.front() -= embedding;
    chunks.back() -= loss;
  } else {
    // The rest is even over the other ranks; each rank splits evenly over its
    // virtual stages.
    int others = l.pp - (first ? 1 : 0) - (last ? 1 : 0);
    int64_t left = layers - first.value_or(0) - last.value_or(0);
    auto splits = [&](int64_t n) { return n % l.vpp == 0; };
    if (left < 0 || (others == 0 ? left != 0 : left % others != 0) ||
        !splits(first.value_or(0)) || !splits(last.value_or(0)) ||
        (others > 0 && !splits(left / others)))
      return r.fail(cause, "leaves " + Twine(left) + " of " + Twine(layers) +
                               " layers, which do not split over the other " +
                               Twine(others) + " stages");
    int middle = others ? static_cast<int>(left / others) : 0;
    for (int v = 0; v < l.vpp; ++v)
      for (int p = 0; p < l.pp; ++p)
        chunks.push_back(static_cast<int>(p == 0 && first         ? *first
                                          : p == l.pp - 1 && last ? *last
                                                                  : middle) /
                         l.vpp);
  }
  l.chunkLayers = chunks;
}

static void readSharding(SettingsReader &r, const Place &place, Layout &l) {
  auto key = [&](StringRef option) { return place.key(option); };
  bool optimizer = r.flag(key("use_distributed_optimizer")).value_or(false);
  bool fsdp = r.flag(key("use_megatron_fsdp")).value_or(false) ||
              r.flag(place.bridge ? "ddp.use_megatron_fsdp" : "use-custom-fsdp")
                  .value_or(false);
  bool torchFsdp =
      r.flag(place.bridge ? "dist.use_torch_fsdp2" : "use-torch-fsdp2")
          .value_or(false);
  std::optional<size_t> strategy =
      r.choice(key("data_parallel_sharding_strategy"), kStrategies);
  l.zeroStage = torchFsdp ? 3
                : fsdp    ? static_cast<int>(strategy.value_or(0))
                          : static_cast<int>(optimizer);
  // Megatron-Bridge says it in two places.
  auto overlap = [&](StringRef option) {
    auto also =
        place.bridge ? r.flag(("comm_overlap." + option).str()) : std::nullopt;
    return r.flag(key(option)).value_or(also.value_or(torchFsdp));
  };
  l.overlapGradients = overlap("overlap_grad_reduce");
  l.overlapParameters = overlap("overlap_param_gather");
}

/// "selective" recomputes modules, core_attn where none are named. It is read
/// as those that the model's are (selectiveModules); what differs is said.
static void readModules(SettingsReader &r, const Place &place,
                        const FrameworkReadOptions &options,
                        FrameworkRun &run) {
  std::string key = place.key("recompute_modules");
  std::vector<std::string> asked = r.texts(key);
  if (run.layout.recompute != RecomputeKind::Selective || r.failed())
    return;
  if (asked.empty())
    asked = {"core_attn"};
  static constexpr StringLiteral kModules[] = {
      "core_attn", "mlp",         "moe",           "layernorm",
      "moe_act",   "mla_up_proj", "shared_experts"};
  for (const std::string &name : asked)
    if (!is_contained(kModules, StringRef(name)))
      return r.fail(key, "has '" + name +
                             "', which is no module that is recomputed; they "
                             "are core_attn, layernorm, moe_act, "
                             "mla_up_proj, mlp, moe and "
                             "shared_experts");
  bool latent = options.latent || is_contained(asked, "mla_up_proj") ||
                r.flag(place.key("multi_latent_attention")).value_or(false);
  bool experts =
      options.experts || run.layout.ep > 1 || is_contained(asked, "moe_act") ||
      r.integer(place.key(place.bridge ? "num_moe_experts" : "num_experts"))
          .has_value();
  std::vector<StringRef> meant = selectiveModules(experts, latent);
  bool some = any_of(
      asked, [&](const std::string &m) { return is_contained(meant, m); });
  auto reason = [&](StringRef m) -> StringRef {
    if (m == "core_attn")
      return "with fused attention it frees next to nothing";
    if (!experts && m == "layernorm")
      return "in dense layers the norms are parts of the products, and it "
             "frees nothing";
    return "what it frees is planned as kept, and its time is left out";
  };
  for (const std::string &m : asked)
    if (!is_contained(meant, m))
      run.notes.push_back("the recompute module " + m +
                          " is not modelled: " + reason(m).str());
  for (StringRef m : meant)
    if (some && !is_contained(asked, m.str()))
      run.notes.push_back(("the recompute module " + m +
                           " is not in the file and planned as if it were: "
                           "selective recomputation is one choice")
                              .str());
  if (!some)
    run.layout.recompute = RecomputeKind::None;
}

static void readRecompute(SettingsReader &r, const Place &place,
                          const FrameworkReadOptions &options,
                          FrameworkRun &run) {
  static constexpr StringLiteral kGranularities[] = {"selective", "full"};
  static constexpr StringLiteral kMethods[] = {"uniform", "block"};
  auto granularity =
      r.choice(place.key("recompute_granularity"), kGranularities);
  auto method = r.choice(place.key("recompute_method"), kMethods);
  auto layers = r.integer(place.key("recompute_num_layers"), 0);
  bool short_form =
      !place.bridge && r.flag("recompute-activations").value_or(false);
  if (granularity)
    run.layout.recompute =
        *granularity == 0 ? RecomputeKind::Selective : RecomputeKind::Full;
  else if (short_form)
    run.layout.recompute = RecomputeKind::Selective;
  applyMethod(method && kMethods[*method] == "block", layers, run);
  readModules(r, place, options, run);
}

static void readContextKind(SettingsReader &r, const Place &place,
                            FrameworkRun &run) {
  std::string key = place.key("cp_comm_type");
  const Setting *setting = r.raw(key);
  if (!setting)
    return;
  std::string kind;
  if (auto text = setting->value.getAsString()) {
    kind = text->str();
  } else if (const json::Array *list = setting->value.getAsArray()) {
    if (!list->empty() && list->front().getAsString())
      kind = list->front().getAsString()->str();
    if (!all_of(*list,
                [&](const json::Value &v) { return v == list->front(); }))
      run.notes.push_back("the kind of context parallelism differs by layer; "
                          "that of the first, " +
                          kind + ", is read for all");
  }
  if (kind == "p2p")
    run.layout.contextKind = ContextKind::Ring;
  else if (kind == "all_gather" || kind == "allgather")
    run.layout.contextKind = ContextKind::AllGather;
  else if (kind == "a2a")
    run.layout.contextKind = ContextKind::Ulysses;
  else if (kind == "a2a+p2p")
    run.notes.push_back("context parallelism in two levels (a2a+p2p) is read "
                        "as a ring");
  else
    r.fail(key,
           "must be one of p2p, all_gather, a2a, a2a+p2p, got '" + kind + "'");
}

static void readMegatronCore(SettingsReader &r, const Place &place,
                             const FrameworkReadOptions &options,
                             int64_t statedGpus, FrameworkRun &run) {
  Layout &l = run.layout;
  auto key = [&](StringRef option) { return place.key(option); };
  auto size = [&](StringRef option) {
    return static_cast<int>(r.integer(key(option)).value_or(1));
  };
  run.layers = r.integer(key("num_layers")).value_or(0);
  int64_t layers = run.layers ? run.layers : options.layers;
  l.tp = size("tensor_model_parallel_size");
  l.pp = size("pipeline_model_parallel_size");
  l.cp = size("context_parallel_size");
  l.ep = size("expert_model_parallel_size");
  bool sequenceParallel = r.flag(key("sequence_parallel")).value_or(false);
  l.sequenceParallel = sequenceParallel && l.tp > 1;
  std::string expertsKey =
      key(place.bridge ? "num_moe_experts" : "num_experts");
  bool experts = r.integer(expertsKey).has_value() || l.ep > 1;
  std::optional<int64_t> etp = r.integer(key("expert_tensor_parallel_size"));
  l.etp = etp ? static_cast<int>(*etp) : experts ? l.tp : 1;
  readStages(r, place, layers, run);
  readContextKind(r, place, run);
  static constexpr StringLiteral kDispatchers[] = {"allgather", "alltoall",
                                                   "alltoall_seq", "flex"};
  auto dispatcher = r.choice(key("moe_token_dispatcher_type"), kDispatchers);
  r.raw(key("moe_enable_deepep"));
  r.raw(key("moe_flex_dispatcher_backend"));
  l.dispatcher = !dispatcher || *dispatcher == 0 ? DispatcherKind::AllGather
                 : *dispatcher == 3              ? DispatcherKind::Fused
                                                 : DispatcherKind::AllToAll;
  readSharding(r, place, l);
  readRecompute(r, place, options, run);
  readPrecision(r, place, run);
  run.hidden = r.integer(key("hidden_size")).value_or(0);
  l.overlapTensorParallel = r.flag(key("tp_comm_overlap")).value_or(false);
  l.overlapExperts =
      r.flag(key("overlap_moe_expert_parallel_comm")).value_or(false);
  l.overlapPipeline =
      place.bridge ? r.flag(key("overlap_p2p_comm")).value_or(true)
                   : !r.flag("no-overlap-p2p-communication").value_or(false);
  l.microBatch = r.integer(key("micro_batch_size")).value_or(1);
  run.workload.globalBatch = r.integer(key("global_batch_size")).value_or(0);
  run.workload.sequence = r.integer(key("seq_length")).value_or(0);
  settleDataParallel(r, options, statedGpus,
                     place.bridge ? "Megatron-Bridge takes it from the launcher"
                                  : "torchrun's --nnodes and --nproc-per-node "
                                    "would say",
                     run);
  std::string instances = key("num_distributed_optimizer_instances");
  std::optional<int64_t> n = r.integer(instances);
  if (n && *n > 1 && !r.failed()) {
    if (l.dp % *n != 0)
      r.fail(instances, "must divide the data parallel size " + Twine(l.dp) +
                            ", got " + Twine(*n));
    else
      l.shardGroup = static_cast<int>(l.dp / *n);
  }
  if (l.schedule == ScheduleKind::OneFOneB && l.vpp > 1)
    l.schedule = ScheduleKind::Interleaved;
}

static StringRef whyNot(StringRef, const Layout &) { return ""; }

//===----------------------------------------------------------------------===//
// Megatron-LM
//===----------------------------------------------------------------------===//

static void writeMegatron(const ExportInput &input, Settings &out) {
  int gpus = input.layout.numGPUs(), perNode = std::max(1, input.gpusPerNode);
  perNode = std::min(perNode, gpus);
  while (gpus % perNode != 0)
    --perNode;
  put(out, "nnodes", gpus / perNode);
  put(out, "nproc-per-node", perNode);
  Place place(false);
  writeMegatronCore(input, place, out);
  if (input.layers > 0)
    put(out, "num-layers", input.layers);
  if (!input.model)
    return;
  std::vector<std::string> unsaid;
  for (Setting &s : megatronModel(*input.model, unsaid))
    put(out, place.key(s.key), std::move(s.value));
}

static void readMegatron(SettingsReader &r, const FrameworkReadOptions &options,
                         FrameworkRun &run) {
  // Asked for without a failure: a caller's number of GPUs settles them.
  int64_t gpus = 0;
  if (options.gpus == 0) {
    auto nodes = r.integer("nnodes"), perNode = r.integer("nproc-per-node");
    gpus = perNode ? product({nodes.value_or(1), *perNode}) : 0;
  }
  r.ignore({"nnodes", "nproc-per-node"});
  readMegatronCore(r, Place(false), options, gpus, run);
  r.checkNearMisses();
}

static bool isMegatron(ArrayRef<Setting> settings) {
  return any_of(settings, [](const Setting &s) {
    StringRef key = s.key;
    return key.contains("model-parallel-size") || key == "micro-batch-size";
  });
}

const Format exports::kMegatron = {
    "megatron",
    "Megatron-LM",
    "train.sh",
    Syntax::Arguments,
    writeMegatron,
    readMegatron,
    isMegatron,
    whyNot,
    "data and tokenizer, learning rate, checkpoints, and the model's sizes "
    "where they do not stand below"};

//===----------------------------------------------------------------------===//
// Megatron-Bridge
//===----------------------------------------------------------------------===//

static void writeBridge(const ExportInput &input, Settings &out) {
  writeMegatronCore(input, Place(true), out);
}

static void readBridge(SettingsReader &r, const FrameworkReadOptions &options,
                       FrameworkRun &run) {
  readMegatronCore(r, Place(true), options, 0, run);
  r.checkNearMisses();
}

static bool isBridge(ArrayRef<Setting> settings) {
  if (const Setting *target = findSetting(settings, "_target_"))
    if (auto text = target->value.getAsString())
      return text->contains("megatron.bridge");
  return hasSection(settings, "train") && hasSection(settings, "model") &&
         !hasSection(settings, "trainer");
}

const Format exports::kMegatronBridge = {
    "megatron-bridge",
    "Megatron-Bridge",
    "overrides.yaml",
    Syntax::Yaml,
    writeBridge,
    readBridge,
    isBridge,
    whyNot,
    "the recipe that these override: it has the model, its data and the "
    "optimizer"};
