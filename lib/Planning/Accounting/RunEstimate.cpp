//===- RunEstimate.cpp - tessera estimate ---------------------------------===//
#include "Accounting.h"
#include "RankMemory.h"
#include "lib/Planning/Search/Problem.h"
#include "tessera/Hardware/Cluster.h"
#include "tessera/Planning/Plan.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

namespace {
/// What is estimated, before it is printed.
struct Estimate {
  std::string name;
  std::optional<ModelConfig> config; ///< absent for a bare parameter count
  double total = 0, active = 0;
  int64_t sequence = 0;
  /// FLOPs of training on one token: 6 N; counted with attention over all
  /// positions, as most reports do; and three times the products of the graph's
  /// forward pass, attention over the positions that its masks show.
  double sixN = 0;
  std::optional<double> full, graph;
  ModelState state;
  std::optional<double> cache; ///< bytes of one sequence
  int64_t cacheBatch = 1;
  /// What is served: formats, and whether the weights' is the checkpoint's.
  ServingFormat weights{"bf16", 2}, cacheFormat{"bf16", 2};
  bool stored = false;
  double servedWeights = 0;
  std::optional<Cluster> cluster;
  std::optional<TrainingCost> training;
  double tokens = 0;
  std::optional<RankMemory> ranks;
  std::optional<ServingGroup> group;

  double inferenceBytes() const {
    return servedWeights + cache.value_or(0) * double(cacheBatch);
  }
};
} // namespace

/// Training FLOPs of one token by the model's graph.
static Expected<double> graphFlops(const EstimateOptions &o,
                                   const ModelConfig &config,
                                   int64_t sequence) {
  Expected<FeatureSourcePtr> source = o.features(config);
  if (!source)
    return source.takeError();
  Expected<StackTraits> traits = stackTraits("nemo");
  if (!traits)
    return traits.takeError();
  ModelFeatures features =
      (*source)->features(Layout(), {sequence, *traits, Precision()});
  double forward = 0;
  for (const BlockCall &call : features.calls)
    for (const OpFeature &op : features.blocks[call.block].ops)
      forward += call.count * double(op.forward.matmulFlops);
  return 3 * forward / double(sequence);
}

static Error readSizes(const EstimateOptions &o, Estimate &e) {
  // Of a path its last name.
  StringRef path = StringRef(o.model).rtrim('/');
  path.consume_back("/config.json");
  e.name = printableName(path.substr(path.rfind('/') + 1));
  // A bare size, "6.7B", where there is no file or shipped model of that name.
  // Released weights lie in folders that are named so, too.
  Expected<double> count = parseCount(o.model);
  if (count && *count > 0 && !sys::fs::exists(o.model)) {
    if (*count > kMostParameters)
      return makeError("'" + o.model + "' is more than the " +
                       formatCount(kMostParameters) +
                       " parameters that are supported");
    e.total = e.active = *count;
    return Error::success();
  }
  consumeError(count.takeError());
  Expected<ModelConfig> config = readModelConfig(o.model);
  if (!config)
    return config.takeError();
  e.config = std::move(*config);
  e.total = double(e.config->numParameters());
  e.active = double(e.config->numActiveParameters());
  int64_t positions = e.config->maxPositions;
  e.sequence = o.sequence;
  if (e.sequence == 0)
    e.sequence = positions > 0 ? std::min<int64_t>(positions, 4096) : 4096;
  if (e.sequence < 1 || e.sequence > kLongestSequence)
    return makeError("--sequence: expected a whole number from 1 to " +
                     Twine(kLongestSequence) + ", got " + Twine(o.sequence));
  if (e.config->positions && e.sequence > positions)
    return makeError("a sequence of " + Twine(e.sequence) +
                     " is longer than the " + Twine(positions) +
                     " positions that the model has learned");
  ModelShape shape = shapeOf(*e.config, e.sequence);
  FlopConvention convention;
  e.full = conventionalFlops(shape, 1, convention) / double(e.sequence);
  Expected<double> graph = graphFlops(o, *e.config, e.sequence);
  if (!graph)
    return graph.takeError();
  e.graph = *graph;
  return Error::success();
}

/// The formats to serve in, and what they make of weights and cache.
static Error readServing(const EstimateOptions &o, Estimate &e) {
  std::string stored = e.config ? e.config->quantizedFormat : "";
  e.stored = o.weights.empty() && !stored.empty();
  Expected<ServingFormat> weights =
      weightFormat("--weights", !o.weights.empty() ? o.weights
                                : e.stored         ? stored
                                                   : "bf16");
  if (!weights)
    return weights.takeError();
  Expected<ServingFormat> cache =
      cacheFormat("--kv-cache", o.cache.empty() ? "bf16" : o.cache);
  if (!cache)
    return cache.takeError();
  e.weights = *weights;
  e.cacheFormat = *cache;
  e.servedWeights = e.config ? servedWeightBytes(*e.config, e.weights)
                             : e.weights.bytes * e.total;
  if (e.config)
    e.cache = cacheBytes(*e.config, e.sequence, e.cacheFormat.bytes);
  return Error::success();
}

static ServingQuestion questionOf(const Estimate &e) {
  return {e.cacheBatch, e.config ? layerBytes(*e.config, e.weights) : 2,
          e.cacheFormat.bytes};
}

/// More than the name of a chip.
static bool isWholeCluster(StringRef cluster) {
  return cluster.contains(':') || cluster.ends_with(".json") ||
         cluster.starts_with("{");
}

static Error chipOf(const EstimateOptions &o, Estimate &e) {
  if (o.cluster.empty())
    return Error::success();
  Expected<Cluster> cluster =
      parseCluster(isWholeCluster(o.cluster) ? o.cluster : o.cluster + ":1");
  if (!cluster)
    return cluster.takeError();
  e.cluster = *cluster;
  return Error::success();
}

static Error readTraining(const EstimateOptions &o, Estimate &e) {
  bool asked = o.mfu != 0 || o.gpuHours != 0 || o.tokensPerSecondPerGpu != 0;
  if (!asked && o.tokens == 0)
    return Error::success();
  if (!e.cluster)
    return makeError(
        "time and utilisation depend on the chip: give --chip or --cluster");
  if (!(o.tokens > 0))
    return makeError("give the training tokens: --tokens 1.4T");
  TrainingRun run;
  run.parameters = e.active;
  run.tokens = e.tokens = o.tokens;
  run.peak = e.cluster->chip.peak(DataType::BF16);
  run.powerWatts = e.cluster->chip.powerWatts;
  run.gpus = isWholeCluster(o.cluster) ? e.cluster->numGPUs() : 0;
  run.mfu = o.mfu;
  run.gpuHours = o.gpuHours;
  run.tokensPerSecondPerGPU = o.tokensPerSecondPerGpu;
  if (!asked)
    run.mfu = 0.4; // a usual value; printed
  Expected<TrainingCost> cost = trainingCost(run);
  if (!cost)
    return cost.takeError();
  e.training = *cost;
  return Error::success();
}

/// "423.3 GFLOP"
static std::string formatFlops(double flops) {
  std::string text = formatCount(flops);
  // Counts end in K, M, B and T, multiples of FLOP in other letters.
  StringRef number = text;
  StringRef prefix = number.consume_back("T")   ? "T"
                     : number.consume_back("B") ? "G"
                     : number.consume_back("M") ? "M"
                     : number.consume_back("K") ? "K"
                                                : "";
  return (number + " " + prefix + "FLOP").str();
}

static void printEstimate(const Estimate &e, raw_ostream &out) {
  TextTable t;
  t.column(e.name, TextTable::Align::Left, false)
      .column("")
      .column("")
      .column("", TextTable::Align::Left);
  auto row = [&](std::string what, std::string value, std::string note = "") {
    t.row({std::move(what), std::move(value), "", std::move(note)});
  };
  // Memory in the 10^9 bytes that papers count in, and beside it in the GiB of
  // plan and of drivers.
  std::vector<double> sizes = {e.state.total(), e.state.weights,
                               e.state.gradients, e.state.optimizer};
  bool serves = e.cache && *e.cache > 0;
  if (serves)
    sizes.insert(sizes.end(), {e.servedWeights, *e.cache, e.inferenceBytes()});
  std::vector<std::string> binary = formatSizes(sizes),
                           decimal = formatDecimalSizes(sizes);
  size_t at = 0;
  auto memoryRow = [&](std::string what, std::string note) {
    t.row({std::move(what), decimal[at], binary[at], std::move(note)});
    ++at;
  };
  row("parameters", formatCount(e.total));
  if (e.active != e.total)
    row("active parameters", formatCount(e.active), "of each token");
  row("training of one token", formatFlops(e.sixN), "6 N");
  if (e.full)
    row("", formatFlops(*e.full),
        "attention over all " + std::to_string(e.sequence) + " positions");
  if (e.graph)
    row("", formatFlops(*e.graph), "on the graph, with its masks");
  t.rule();
  memoryRow("training state", "16 bytes a parameter (plan: 18)");
  memoryRow("  weights", "16 bits");
  memoryRow("  gradients", "16 bits");
  memoryRow("  optimizer", "32-bit master weights and moments");
  if (serves) {
    memoryRow("served weights",
              e.weights.name.str() + (e.stored ? " (the checkpoint's)"
                                      : e.weights.bytes == 2
                                          ? " (--weights)"
                                          : ", embedding and head bf16"));
    memoryRow("key-value cache", "of one sequence of " +
                                     std::to_string(e.sequence) + ", " +
                                     e.cacheFormat.name.str());
    memoryRow("inference",
              "weights and the cache of " + std::to_string(e.cacheBatch) +
                  (e.cacheBatch == 1 ? " sequence" : " sequences"));
  }
  if (e.cluster) {
    double memory = e.cluster->chip.memoryBytes;
    t.rule();
    t.row({"memory of one " + e.cluster->chip.name,
           formatDecimalSizes(memory).front(), formatSizes(memory).front(),
           ""});
    row("GPUs that hold the training state",
        std::to_string(minimumGPUs(e.state.total(), memory)));
    if (e.group)
      row("GPUs that hold it for inference", std::to_string(e.group->gpus()),
          "tp=" + std::to_string(e.group->tp) +
              (e.group->pp > 1 ? " pp=" + std::to_string(e.group->pp) : "") +
              ": " + formatBytes(e.group->bytes) + " on each, 5 % kept free");
    else if (e.config)
      row("GPUs that hold it for inference", "-", "no legal split holds it");
    else
      row("GPUs that hold it for inference",
          std::to_string(minimumGPUs(e.inferenceBytes(), memory)));
  }
  if (e.training) {
    const TrainingCost &c = *e.training;
    t.rule();
    row("training FLOPs", formatv("{0:e3}", c.flops).str(),
        "6 N D, " + formatCount(e.tokens) + " tokens");
    row("utilisation (MFU)", formatPercent(c.mfu),
        "of " + formatNumber(e.cluster->chip.peak(DataType::BF16) / 1e12, 0) +
            " TFLOP/s");
    row("tokens per second and GPU", formatNumber(c.tokensPerSecondPerGPU, 0));
    row("GPU-hours", formatNumber(c.gpuHours, 0));
    if (c.days > 0)
      row("days", formatNumber(c.days, 1),
          "on " + std::to_string(e.cluster->numGPUs()) + " GPUs");
    row("energy", formatNumber(c.energyWattHours / 1e6, 0) + " MWh",
        "" + formatNumber(e.cluster->chip.powerWatts, 0) + " W a GPU, PUE 1.1");
  }
  t.print(out);
}

static json::Value estimateJson(const Estimate &e) {
  json::Object o{{"model", e.name},
                 {"parameters", e.total},
                 {"active_parameters", e.active},
                 {"flops_per_token_6n", e.sixN},
                 {"training_state_bytes", e.state.total()},
                 {"weight_bytes", e.state.weights},
                 {"gradient_bytes", e.state.gradients},
                 {"optimizer_bytes", e.state.optimizer}};
  if (e.config) {
    o["sequence"] = e.sequence;
    o["flops_per_token_counted"] = *e.full;
    o["flops_per_token_counted_causal"] = *e.graph;
    o["cache_bytes_per_sequence"] = *e.cache;
    o["inference_bytes"] = e.inferenceBytes();
    o["weight_format"] = e.weights.name;
    o["cache_format"] = e.cacheFormat.name;
    o["inference_weight_bytes"] = e.servedWeights;
  }
  if (e.cluster) {
    double memory = e.cluster->chip.memoryBytes;
    o["chip"] = e.cluster->chip.name;
    o["min_gpus_training"] = minimumGPUs(e.state.total(), memory);
    if (e.group) {
      o["min_gpus_inference"] = e.group->gpus();
      o["inference_tp"] = e.group->tp;
      o["inference_pp"] = e.group->pp;
      o["inference_bytes_per_gpu"] = e.group->bytes;
      o["inference_kept_free_bytes"] = 0.05 * e.group->room;
    } else if (!e.config) {
      o["min_gpus_inference"] = minimumGPUs(e.inferenceBytes(), memory);
    }
  }
  if (e.training) {
    const TrainingCost &c = *e.training;
    o["training_flops"] = c.flops;
    o["mfu"] = c.mfu;
    o["gpu_hours"] = c.gpuHours;
    o["tokens_per_second_per_gpu"] = c.tokensPerSecondPerGPU;
    if (c.days > 0)
      o["days"] = c.days;
    o["energy_mwh"] = c.energyWattHours / 1e6;
  }
  if (e.config && !e.config->notes.empty())
    o["notes"] = json::Array(e.config->notes);
  if (e.ranks)
    o["ranks"] = toJson(*e.ranks);
  return json::Value(std::move(o));
}

static PlanInput planInput(const EstimateOptions &o, const Estimate &e) {
  PlanInput input;
  input.model = o.model;
  input.cluster = isWholeCluster(o.cluster) ? o.cluster : o.cluster + ":1";
  input.sequence = e.sequence;
  input.globalBatch = o.globalBatch;
  input.stack = o.stack;
  input.features = o.features;
  return input;
}

static Error readRanks(const EstimateOptions &o, Estimate &e) {
  if (o.layout.empty())
    return Error::success();
  if (!e.config)
    return makeError("--layout needs a model, not a number of parameters");
  if (!e.cluster || !isWholeCluster(o.cluster))
    return makeError("--layout needs a cluster: --cluster h100-sxm:16x8");
  Expected<RankMemory> ranks =
      rankMemory(planInput(o, e), o.layout, questionOf(e));
  if (!ranks)
    return ranks.takeError();
  e.ranks = std::move(*ranks);
  return Error::success();
}

static Error readGroup(const EstimateOptions &o, Estimate &e) {
  if (!e.cluster || !e.config)
    return Error::success();
  Expected<std::optional<ServingGroup>> group =
      smallestServingGroup(planInput(o, e), questionOf(e));
  if (!group)
    return group.takeError();
  e.group = *group;
  return Error::success();
}

int tessera::runEstimate(const EstimateOptions &o, raw_ostream &out,
                         raw_ostream &err) {
  Estimate e;
  auto fail = [&](const Twine &message) {
    printError(err, message);
    return 1;
  };
  if (o.cacheBatch < 1 || o.cacheBatch > kLargestBatch)
    return fail("--cache-batch: expected a whole number from 1 to " +
                Twine(kLargestBatch) + ", got " + Twine(o.cacheBatch));
  e.cacheBatch = o.cacheBatch;
  if (Error error = readSizes(o, e))
    return fail(toString(std::move(error)));
  if (Error error = readServing(o, e))
    return fail(toString(std::move(error)));
  e.sixN = 6 * e.active;
  e.state = modelState(e.total);
  if (Error error = chipOf(o, e))
    return fail(toString(std::move(error)));
  if (Error error = readTraining(o, e))
    return fail(toString(std::move(error)));
  if (Error error = readRanks(o, e))
    return fail(toString(std::move(error)));
  if (Error error = readGroup(o, e))
    return fail(toString(std::move(error)));
  if (e.config)
    for (const std::string &note : e.config->notes)
      err << "warning: " << printableMessage(note) << "\n";
  if (o.json) {
    out << formatv("{0:2}\n", estimateJson(e));
    return 0;
  }
  printEstimate(e, out);
  if (e.ranks)
    printRankMemory(*e.ranks, out);
  return 0;
}
