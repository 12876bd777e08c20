//===- Session.cpp - from a user's texts to a checked problem -------------===//
#include "Session.h"
#include "Bounds.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

static Error readPrecision(StringRef text, Precision &out) {
  static const StringRef names[] = {"bf16", "fp16", "fp8"};
  if (text == "bf16")
    out.linear = DataType::BF16;
  else if (text == "fp16")
    out.linear = DataType::FP16;
  else if (text == "fp8")
    out.linear = DataType::FP8;
  else
    return makeError("--precision: expected bf16, fp16 or fp8, got '" + text +
                     "'" + didYouMean(text, names));
  return Error::success();
}

/// Sequence and batch, with what is assumed of them.
static void fillWorkload(const PlanInput &in, PlanSession &s) {
  PlanProblem &p = s.problem;
  int64_t sequence = in.sequence;
  if (sequence == 0) {
    sequence = p.positions > 0 ? std::min<int64_t>(p.positions, 4096) : 4096;
    s.assumptions.push_back("sequence of " + std::to_string(sequence) +
                            " tokens (--sequence)");
  } else {
    s.given.push_back("sequence of " + std::to_string(sequence) + " tokens (" +
                      in.sequenceFrom + ")");
  }
  if (in.sequence && p.positions > 0 && sequence > p.positions) {
    s.assumptions.push_back("the sequence is longer than the model's " +
                            std::to_string(p.positions) +
                            " positions: its rotary tables must be extended");
  }
  int64_t batch = in.globalBatch;
  bool usual = batch == 0 && sequence > 0;
  if (usual)
    batch = defaultGlobalBatch(p.gpus(), sequence);
  (usual ? s.assumptions : s.given)
      .push_back("global batch of " + std::to_string(batch) + " sequences, " +
                 formatCount(double(batch) * double(sequence)) + " tokens (" +
                 (usual ? "--global-batch" : in.batchFrom) + ")");
  p.workload = defaultWorkload(sequence, batch, p.model.traits);
}

/// The folder's name, or the architecture of a config.json without one.
static std::string nameOfModel(StringRef path, const ModelConfig &config) {
  path = path.rtrim('/');
  if (path == "config.json" || path == "./config.json")
    return config.architecture;
  path.consume_back("/config.json");
  return path.substr(path.rfind('/') + 1).str();
}

Expected<PlanSession> tessera::makeSession(const PlanInput &in) {
  PlanSession s;
  Expected<ModelConfig> config = readModelConfig(in.model);
  if (!config)
    return config.takeError();
  s.config = std::move(*config);
  s.modelText = json::fixUTF8(in.model);
  s.clusterText = json::fixUTF8(in.cluster);
  PlanProblem &p = s.problem;
  p.name = printableName(nameOfModel(in.model, s.config));
  if (in.cluster.empty())
    return makeError("give a cluster: --cluster CHIP:NODESxGPUS, like "
                     "h100-sxm:16x8 ('tessera clusters' lists chips)");
  Expected<Cluster> cluster = parseCluster(in.cluster);
  if (!cluster)
    return cluster.takeError();
  Expected<StepModel> model = makeStepModel(*cluster, in.stack);
  if (!model)
    return model.takeError();
  p.setStack(in.stack);
  p.model = std::move(*model);
  p.positions = s.config.maxPositions;
  if (Error e = readPrecision(in.precision, p.precision))
    return e;
  const Chip &chip = p.model.cluster.chip;
  if (p.precision.linear == DataType::FP8 && chip.fp8 <= 0)
    return makeError("--precision fp8: " + chip.name +
                     " has no fp8 products; take bf16 or fp16");
  if (p.precision.linear == DataType::FP8 && p.framework && !p.framework->fp8)
    return makeError("--precision fp8: " + p.framework->title + " (--stack " +
                     p.stack + ") has no fp8 products; take bf16 or fp16");
  // Chips from before bf16 compute in fp16.
  if (p.precision.linear == DataType::BF16 && chip.bf16 <= 0)
    p.precision.linear = DataType::FP16;
  if (in.sequence < 0 || in.globalBatch < 0)
    return makeError("--sequence and --global-batch must be at least 1, got " +
                     Twine(std::min(in.sequence, in.globalBatch)));
  fillWorkload(in, s);
  p.shape = shapeOf(s.config, p.workload.sequence);
  if (Error e = p.checkSizes())
    return e;
  Expected<FeatureSourcePtr> source = in.features(s.config);
  if (!source)
    return source.takeError();
  p.source = std::move(*source);
  p.expertSkew = in.expertSkew;
  p.memoryLimit = plannedMemory(p.model.cluster.chip);
  p.memoryRoom = p.model.cluster.chip.memoryBytes;
  p.memoryMargin = p.memoryRoom - p.memoryLimit;
  if (!in.memory.empty()) {
    Expected<double> limit = parseMemory(in.memory);
    if (!limit)
      return makeError("--memory: " + toString(limit.takeError()));
    p.memoryLimit = p.memoryRoom = *limit;
    p.memoryMargin = 0;
  }
  Expected<FixedChoices> fixed = parseChoices(in.fixed);
  if (!fixed)
    return atFlag("--fix", fixed.takeError());
  p.fixed = *fixed;

  llvm::append_range(s.assumptions, s.config.notes);
  s.assumptions.push_back(nameOf(p.precision.linear).str() +
                          " layers, 32-bit gradients, Adam with 32-bit master "
                          "weights and moments (18 bytes a parameter)");
  // "nemo" is NeMo 2; the format "nemo" is the YAML of NeMo 1.x.
  std::string software = in.stack == "nemo" ? "nemo, NeMo 2" : in.stack;
  s.assumptions.push_back("software: " + software +
                          (in.stackWhy.empty()
                               ? " (--stack)"
                               : ", as " + in.stackWhy + " (--stack)"));
  const CostConstants &constants = defaultConstants();
  std::string own;
  for (const auto &[name, value] : cluster->efficiencies)
    own += (own.empty() ? "" : ", ") + name + " " + formatNumber(value, 3);
  s.assumptions.push_back(
      "constants: " + cluster->chip.name +
      (own.empty() ? " "
                   : " with your " + own + " (efficiencies), the others ") +
      constants.originOf(cluster->chip) + "; " + in.stack + " " +
      constants.originOf(in.stack));
  if (in.memory.empty())
    s.assumptions.push_back("a plan keeps the allocator's reserve and 5 % of a "
                            "GPU's memory free (--memory)");
  if (p.shape.experts && p.expertSkew == 1.0)
    s.assumptions.push_back("experts evenly loaded (--expert-skew)");
  if (Error e = p.check())
    return e;
  return s;
}

static bool holds(const PlanProblem &problem, const Cluster &cluster) {
  PlanProblem p = problem;
  p.model.cluster = cluster;
  p.fixed = {};
  p.workload.globalBatch = defaultGlobalBatch(p.gpus(), p.workload.sequence);
  return fitsAtAll(p, ModelProvider(p));
}

std::optional<Cluster> tessera::smallestCluster(const PlanProblem &problem,
                                                int limit) {
  const Cluster &asked = problem.model.cluster;
  // A part of a usual server grows to the whole before there are two.
  Cluster server = makeCluster(asked.chip, 1, 8);
  int whole = std::max(server.gpusPerNode, asked.gpusPerNode);
  for (int gpus = std::max(2 * asked.gpusPerNode, 1); gpus <= whole;
       gpus *= 2) {
    Cluster part = makeCluster(asked.chip, 1, gpus);
    if (holds(problem, part))
      return part;
  }
  Cluster node = asked.gpusPerNode < whole ? server : asked;
  // 1, 2, 3, 4, 6, 8, 12, ... nodes.
  for (int base = 1; base <= limit; base *= 2)
    for (int nodes : {base, base + base / 2}) {
      if (nodes > limit)
        continue;
      Cluster cluster = withNodes(node, nodes);
      if (holds(problem, cluster))
        return cluster;
      if (base == 1)
        break;
    }
  return std::nullopt;
}

/// What no layout of the problem can do with less of.
static double leastState(const PlanProblem &p) {
  double least = 1e300;
  forEachMesh(p, p.fixed, [&](const Layout &mesh) {
    for (InnerChoices::Sharding s : innerChoices(p, p.fixed, mesh).shardings) {
      Layout l = mesh;
      l.zeroStage = s.zero;
      l.shardGroup = s.group;
      least = std::min(least, stateBound(p, l));
    }
    return true;
  });
  return least;
}

std::string tessera::explainNoFit(const PlanProblem &p,
                                  const PlanResult &result) {
  std::string text = p.name + " does not fit " + p.model.cluster.str();
  bool constrained = llvm::any_of(
      p.fixed.values, [](const auto &value) { return value.has_value(); });
  if (constrained)
    text += " under the fixed choices";
  std::string room =
      formatBytes(p.memoryRoom > 0 ? p.memoryRoom : p.memoryLimit);
  if (result.nearest) {
    const MemoryUse &least = result.nearest->second;
    text += ": of the " + room + " of its fullest GPU the leanest layout (" +
            result.nearest->first.str() + ") needs " +
            formatBytes(least.needed()) + ", a plan keeps " +
            formatBytes(least.reserve + p.memoryMargin) + " free";
  } else {
    text +=
        ": weights, gradients, optimizer and one microbatch need at least " +
        formatBytes(leastState(p)) + " on the fullest GPU, there are " + room;
  }
  PlanProblem open = p;
  open.fixed = {};
  if (constrained) {
    // Which of them alone stand in the way?
    std::string alone;
    for (int i = 0; i < kNumChoices; ++i) {
      if (!p.fixed.values[i])
        continue;
      PlanProblem q = p;
      q.fixed.values[i].reset();
      if (fitsAtAll(q, ModelProvider(q)))
        alone += (alone.empty() ? "" : " or ") +
                 formatChoice(static_cast<Choice>(i), *p.fixed.values[i]);
    }
    if (!alone.empty())
      return text + "; it fits without " + alone;
    if (fitsAtAll(open, ModelProvider(open)))
      return text + "; without the fixed choices it fits";
  }
  const Chip &own = p.model.cluster.chip;
  bool limited = false; // by the user alone
  if (p.memoryLimit < own.memoryBytes) {
    open.memoryLimit = own.memoryBytes;
    if (fitsAtAll(open, ModelProvider(open))) {
      limited = p.memoryLimit < plannedMemory(own);
      text += "; it fits with --memory " +
              formatNumber(std::floor(open.memoryLimit / kGiB * 10) / 10, 1) +
              "GiB";
    }
    open.memoryLimit = p.memoryLimit;
  }
  // The next larger numbers of nodes, then other chips, then shorter sequences.
  constexpr int kMostNodes = 4096;
  if (std::optional<Cluster> larger = smallestCluster(p, kMostNodes))
    text += "; the smallest " + own.name + " cluster that holds it is " +
            larger->str();
  else
    text += "; no " + own.name + " cluster of up to " +
            std::to_string(kMostNodes) + " nodes holds it";
  const Chip *other = nullptr;
  for (const Chip &chip : builtinChips()) {
    if (limited || chip.memoryBytes <= own.memoryBytes || chip.bf16 <= 0 ||
        (other && other->memoryBytes <= chip.memoryBytes))
      continue;
    PlanProblem q = open;
    q.model.cluster =
        makeCluster(chip, p.model.cluster.nodes, p.model.cluster.gpusPerNode);
    q.model.chip = defaultConstants().chip(chip);
    q.memoryLimit = plannedMemory(chip);
    if (fitsAtAll(q, ModelProvider(q)))
      other = &chip;
  }
  if (other)
    text += "; " + other->name + " (" + formatBytes(other->memoryBytes) +
            ") would hold it with as many GPUs";
  for (int64_t sequence = p.workload.sequence / 2; sequence >= 512;
       sequence /= 2) {
    PlanProblem q = open;
    q.workload.globalBatch *= p.workload.sequence / sequence;
    q.workload.sequence = q.shape.sequence = sequence;
    if (fitsAtAll(q, ModelProvider(q))) {
      text += "; so would sequences of " + std::to_string(sequence);
      break;
    }
  }
  return text;
}
