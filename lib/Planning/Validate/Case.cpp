//===- Case.cpp - a run made ready to predict -----------------------------===//
#include "Case.h"
#include "ConfigOf.h"
#include "Words.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Units.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

static bool isOneNodeVTrain(const Point &p) {
  return StringRef(p.source).contains("data/ground_truth_single.csv");
}

/// DeepSeek's latent attention and what else a column cannot say; by the
/// published configs of the models (arXiv 2405.04434 section 3.1.2, 2412.19437
/// section 4.2; Kimi K2, arXiv 2507.20534 table 2).
static void applyFamily(const Point &p, ModelShape &s) {
  int64_t tp = std::max<int64_t>(1, p.tp);
  std::string name = StringRef(p.model).lower();
  StringRef n(name);
  if (n.contains("deepseek") || n.contains("kimi")) {
    bool v2 = s.experts == 160 || n.contains("v2");
    bool lite = n.contains("lite");
    s.queryRank = lite ? 0 : 1536;
    s.keyRank = 512;
    s.nopeDim = 128;
    s.ropeDim = 64;
    s.valueDim = 128;
    s.denseLayers = n.contains("kimi") || v2 ? 1 : 3;
    if (!s.expertFfn)
      s.expertFfn = lite ? 1408 : v2 ? 1536 : 2048;
    s.sharedFfn = (v2 ? 2 : 1) * s.expertFfn;
    // Trimmed proxies keep the first layers out of proportion; the dense ones
    // are at most one of the few.
    if (n.contains("trimmed"))
      s.denseLayers = std::min<int64_t>(s.denseLayers, 1);
    if (!s.vocab)
      s.vocab = n.contains("kimi") ? 163840 : 129280;
  } else if (n.contains("qwen3")) {
    s.headDim = 128;
    if (!s.vocab)
      s.vocab = 151936;
  }
  if (n.contains("grok"))
    s.headDim = 128;
  // Where every layer has experts the model's own width is theirs.
  if (s.experts && !s.expertFfn && (n.contains("mixtral") || p.ffn))
    s.expertFfn = s.ffn;
  auto any = [&](std::initializer_list<StringRef> names) {
    return llvm::any_of(names, [&](StringRef m) { return n.contains(m); });
  };
  if (!s.vocab) {
    // Some sources say it in words: "vocab ~250k".
    StringRef said = StringRef(p.notes).split("vocab ~").second;
    unsigned thousands = 0;
    // Padded as Megatron does, to 128 rows for each of eight ranks.
    if (!said.consumeInteger(10, thousands) && said.starts_with("k"))
      s.vocab = (1000 * int64_t(thousands) + 1023) / 1024 * 1024;
  }
  // vTrain's one-node set is built from its own model (src/model,
  // src/config.py): GPT-2's vocabulary, of which each rank holds 50257 / tp
  // rows, never padded; their odd widths are why the head takes a quarter of a
  // step of 12 layers at tp 1 and a tenth at tp 2.
  if (!s.vocab && isOneNodeVTrain(p))
    s.vocab = 50257 / tp * tp;
  // The models' published configs; GPT-2's 50257 padded is the usual one.
  if (!s.vocab)
    s.vocab = any({"llama3", "llama-3", "llama 3"})  ? 128256
              : any({"nemotron", "gemma"})           ? 256000
              : n.contains("grok")                   ? 131072
              : n.contains("bloom")                  ? 250880
              : n.contains("qwen")                   ? 151936
              : n.contains("falcon")                 ? 65024
              : any({"llama", "mistral", "mixtral"}) ? 32000
              : any({"yi-", "internlm"})             ? 64000
                                                     : 51200;
  // Nemotron's activation is a squared ReLU, Falcon's a GELU.
  s.gated = any({"llama",     "qwen",  "mixtral",  "mistral",  "deepseek",
                 "kimi",      "grok",  "gemma",    "internlm", "yi-",
                 "smollm",    "olmo",  "baichuan", "chatglm",  "glm-4",
                 "glm3",      "glm4",  "aquila",   "phi-3",    "phi3",
                 "minicpm",   "dbrx",  "palm",     "skywork",  "vicuna",
                 "codellama", "orion", "stablelm"});
  // Of a family that is not known: a gate's third product is why an MLP is
  // narrower or wider than four times the model.
  if (!s.gated && !s.experts && p.ffn > 0 && p.ffn != 4 * p.hidden &&
      !any({"nemotron", "falcon", "gpt", "mpt", "bloom", "opt", "megatron",
            "bert", "t5", "gopher", "chinchilla"}))
    s.gated = true;
  bool gpt = any({"gpt", "mpt", "bloom", "opt-", "megatron", "bert"}) &&
             !any({"neox", "gpt-j"});
  s.tied = gpt || any({"gemma", "falcon"});
  s.learnedPositions = gpt && !any({"mpt", "bloom"});
}

static Expected<ModelShape> shapeOf(const Point &p) {
  ModelShape s;
  s.layers = p.layers;
  s.hidden = p.hidden;
  s.sequence = p.sequence;
  // A missing head count: heads of 128, the usual width, or the next wider
  // that the run's tensor parallelism can split.
  s.heads = p.heads ? p.heads : std::max<int64_t>(1, p.hidden / 128);
  int64_t tp = std::max<int64_t>(1, p.tp);
  while (!p.heads && s.heads > tp && (s.heads % tp || p.hidden % s.heads))
    --s.heads;
  s.kvHeads = p.kvHeads ? p.kvHeads : s.heads;
  s.headDim = p.hidden / s.heads;
  s.ffn = p.ffn ? p.ffn : 4 * p.hidden;
  s.vocab = p.vocab;
  s.experts = p.experts > 1 ? p.experts : 0;
  s.topk = s.experts ? std::max<int64_t>(1, p.topk) : 0;
  s.expertFfn = s.experts ? noteNumber(p.notes, "moe_ffn") : 0;
  if (s.layers < 1 || s.hidden < 1 || s.sequence < 1)
    return makeError(p.run + ": layers, hidden and seq are needed");
  applyFamily(p, s);
  if (s.experts && !s.expertFfn)
    return makeError(p.run + ": the experts' width is not stated");
  if (s.expertFfn > 10000000)
    return makeError(p.run + ": moe_ffn is " + Twine(s.expertFfn) +
                     ", more than 10000000");
  if (s.topk > s.experts)
    return makeError(p.run + ": topk is " + Twine(s.topk) + ", more than the " +
                     Twine(s.experts) + " experts");
  return s;
}

static int64_t product(std::initializer_list<int64_t> counts) {
  double n = 1;
  for (int64_t c : counts)
    n *= double(std::max<int64_t>(1, c));
  return n > 1e15 ? int64_t(1e15) : int64_t(n);
}

/// The row's dp. Where a source counts its expert-parallel ranks apart from it,
/// both together.
static int64_t dataParallel(const Point &p) {
  if (p.dp > 0 && p.ep > 1 && p.gpus > 0 &&
      product({p.dp, p.tp, p.pp, p.cp, p.ep}) == p.gpus)
    return p.dp * p.ep;
  return p.dp;
}

static Layout layoutOf(const Point &p, const StackTraits &traits) {
  Layout l;
  auto atLeastOne = [](int64_t v) { return int(std::max<int64_t>(1, v)); };
  l.tp = atLeastOne(p.tp);
  l.pp = atLeastOne(p.pp);
  l.cp = atLeastOne(p.cp);
  l.ep = atLeastOne(p.ep);
  l.dp = atLeastOne(p.dp ? dataParallel(p) : p.gpus / (l.tp * l.pp * l.cp));
  // Megatron's experts are split over the tensor-parallel ranks unless
  // --expert-tensor-parallel-size says otherwise (its MoE README); recipes that
  // spread experts over ranks keep them whole.
  l.etp = int(noteNumber(StringRef(p.notes).lower(), "etp"));
  if (l.etp == 0)
    l.etp =
        p.experts > 1 && l.ep == 1 && stackOf(p) == "megatron-core" ? l.tp : 1;
  l.vpp = l.pp > 1 ? atLeastOne(p.vpp) : 1;
  l.schedule = l.vpp > 1 ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB;
  l.zeroStage = p.zeroStage >= 0 ? int(p.zeroStage) : traits.zeroStage;
  // One rank has nothing to shard its state over.
  if (p.zeroStage < 0 && l.dp * l.cp == 1)
    l.zeroStage = 0;
  l.microBatch = std::max<int64_t>(1, p.microBatch);
  l.sequenceParallel =
      l.tp > 1 && (p.sequenceParallel == "yes" ||
                   (p.sequenceParallel.empty() && traits.sequenceParallel));
  l.dispatcher = traits.dispatcher;
  l.overlapGradients = l.overlapParameters =
      traits.overlapGradients || traits.fsdp;
  l.overlapTensorParallel = traits.overlapTensorParallel;
  StringRef notes = p.notes;
  if (notes.contains_insensitive("comm overlap off"))
    l.overlapGradients = l.overlapParameters = l.overlapTensorParallel = false;
  if (notes.contains_insensitive("parameter gathering not overlapped"))
    l.overlapParameters = false;
  if (notes.contains_insensitive("tensor-parallel overlap off"))
    l.overlapTensorParallel = false;
  return l;
}

/// Where a tuned recipe does not say how its stages are interleaved, and can
/// be, it is: as finely as leaves two layers to a chunk. So is a run whose
/// source says that it is, but not how finely; embedding and head may count as
/// a layer each there. (Megatron asks for a multiple of pp microbatches.)
static void inferInterleaving(const Point &p, Case &c) {
  Layout &l = c.layout;
  bool whole = c.shape.layers % l.pp == 0;
  if (!(c.traits.tunedRecipes || p.interleaved) || p.vpp > 0 || l.pp <= 1 ||
      !(whole || (p.interleaved && (c.shape.layers + 2) % l.pp == 0)))
    return;
  int64_t microBatches = p.globalBatch / (int64_t(l.dp) * l.microBatch);
  int perStage = int((c.shape.layers + l.pp - 1) / l.pp);
  if (microBatches % l.pp != 0)
    return;
  int chunk = 2;
  while (chunk < perStage && perStage % chunk != 0)
    ++chunk;
  if (chunk < perStage) {
    l.vpp = perStage / chunk;
    l.schedule = ScheduleKind::Interleaved;
  }
}

/// What the row's framework runs of what the columns say, or leave open.
static void applyLimits(Case &c) {
  if (!c.framework)
    return;
  FrameworkModel model{c.shape.layers, c.shape.experts > 0};
  // No column has the schedule; where there is no 1F1B it is another.
  if (c.layout.vpp == 1)
    c.layout.schedule =
        nearestRunning(*c.framework, c.layout, model, LayoutPart::Schedule)
            .schedule;
  // What a row calls its ZeRO stage may be another where its stages are
  // pipelined: TorchTitan's parameters stay gathered there (by default of
  // fsdp_reshard_after_forward) and its gradients are reduced after the last
  // microbatch, which is in communication and in what is held ZeRO 1.
  Layout runs =
      nearestRunning(*c.framework, c.layout, model, LayoutPart::Sharding);
  if (runs.zeroStage == c.layout.zeroStage)
    return;
  c.remarks.push_back(
      "ZeRO " + std::to_string(c.layout.zeroStage) + " is what " +
      c.framework->title + " runs as ZeRO " + std::to_string(runs.zeroStage) +
      " (" + reasonAgainst(*c.framework, c.layout, model, "zero") + ")");
  c.layout.zeroStage = runs.zeroStage;
}

/// What the column says of recomputation, once the chunks are known.
static void applyRecomputation(const Point &p, Case &c) {
  // vTrain's simulator recomputes nothing on the last stage ("Last rank worker
  // doesn't perform recomputation", src/predictor.py), and every time of its
  // one-node set is that of the last stage: layers of a stage with p stages
  // cost what as many cost alone, to 1 %. Recomputing, a layer of width 2048
  // would reach 204 TFLOP/s where one of 3072 reaches 165 in the larger set.
  if (isOneNodeVTrain(p)) {
    c.layout.recompute = RecomputeKind::None;
    return;
  }
  Recomputation r = recomputationOf(p.recompute);
  Layout &l = c.layout;
  l.recompute = r.kind;
  if (!r.understood)
    c.remarks.push_back("recompute '" + p.recompute +
                        "' is taken as not stated");
  c.recomputeInferred = !r.stated;
  if (r.kind != RecomputeKind::Full || r.share >= 1)
    return;
  double chunk = double(c.shape.layers) / (l.pp * l.vpp);
  l.recomputeLayers = std::max(1, int(std::lround(chunk * r.share)));
}

/// Sizes that no run has and that products of would overflow.
static Error checkRanges(const Point &p) {
  const std::tuple<const char *, int64_t, int64_t> limits[] = {
      {"layers", p.layers, 10000},
      {"hidden", p.hidden, 1000000},
      {"heads", p.heads, 10000},
      {"kv_heads", p.kvHeads, 10000},
      {"ffn_hidden", p.ffn, 10000000},
      {"vocab", p.vocab, 10000000},
      {"seq", p.sequence, 100000000},
      {"experts", p.experts, 100000},
      {"topk", p.topk, 1000},
      {"n_gpus", p.gpus, 1000000},
      {"gpus_per_node", p.gpusPerNode, 1000000},
      {"zero_stage", p.zeroStage, 3},
      {"dp", p.dp, 1000000},
      {"tp", p.tp, 10000},
      {"pp", p.pp, 10000},
      {"cp", p.cp, 10000},
      {"ep", p.ep, 100000},
      {"micro_batch", p.microBatch, 100000},
      {"vpp_or_interleave", p.vpp, 1000},
      {"global_batch", p.globalBatch, 100000000}};
  for (auto [name, value, limit] : limits)
    if (value > limit)
      return makeError(p.run + ": " + name + " is " + Twine(value) +
                       ", more than " + Twine(limit));
  int64_t ranks = product({dataParallel(p), p.tp, p.pp, p.cp});
  if (ranks > 1000000)
    return makeError(p.run + ": dp, tp, pp and cp make more than 1000000 GPUs");
  if (p.heads > p.hidden && p.hidden > 0)
    return makeError(p.run + ": " + Twine(p.heads) +
                     " heads cannot share a hidden size of " + Twine(p.hidden));
  if (p.tp > 1 && p.heads > 0 && p.heads < p.tp)
    return makeError(p.run + ": " + Twine(p.heads) +
                     " heads cannot be split over tp = " + Twine(p.tp));
  if (p.dp > 0 && p.tp > 0 && p.pp > 0 && p.gpus > 0 && ranks != p.gpus)
    return makeError(p.run + ": dp, tp, pp and cp make " + Twine(ranks) +
                     " GPUs, not the " + Twine(p.gpus) + " of the row");
  if (int64_t split = product({p.tp, p.pp, p.cp});
      p.dp == 0 && p.gpus % split != 0)
    return makeError(
        p.run + ": " + Twine(p.gpus) +
        " GPUs cannot be split over tp, pp and cp = " + Twine(split));
  if (int64_t etp = noteNumber(StringRef(p.notes).lower(), "etp");
      etp > 0 && product({p.tp, p.dp, p.cp}) % (product({p.ep}) * etp) != 0)
    return makeError(p.run + ": ep and etp = " + Twine(product({p.ep}) * etp) +
                     " do not divide the ranks of a stage");
  if (p.pp > p.layers + 2)
    return makeError(p.run + ": " + Twine(p.layers) +
                     " layers cannot fill pp = " + Twine(p.pp) + " stages");
  return Error::success();
}

/// Everything that the config depends on.
static std::string keyOf(const ModelShape &s) {
  std::string key;
  for (int64_t n :
       {s.layers,         s.hidden,        s.heads,
        s.kvHeads,        s.headDim,       s.ffn,
        s.vocab,          s.sequence,      s.experts,
        s.topk,           s.expertFfn,     s.sharedFfn,
        s.denseLayers,    s.queryRank,     s.keyRank,
        s.nopeDim,        s.ropeDim,       s.valueDim,
        int64_t(s.gated), int64_t(s.tied), int64_t(s.learnedPositions)})
    key += std::to_string(n) + " ";
  return key;
}

Expected<FeatureSourcePtr> RowSources::of(const ModelShape &shape) {
  FeatureSourcePtr &source = known[keyOf(shape)];
  if (source)
    return source;
  Expected<ModelConfig> config = configOf(shape);
  if (!config)
    return config.takeError();
  Expected<FeatureSourcePtr> made = make(*config);
  if (!made)
    return made.takeError();
  return source = std::move(*made);
}

Expected<Case> tessera::makeCase(std::vector<const Point *> points,
                                 RowSources &sources) {
  const Point &p = *points.front();
  if (Error e = checkRanges(p))
    return e;
  Case c;
  c.points = std::move(points);
  bool guessed = false;
  c.stack = stackOf(p, &guessed);
  if (guessed)
    c.remarks.push_back("no software is named (column 'stack'): taken for " +
                        c.stack);
  if (isOwnStack(p, c.stack))
    c.framework = frameworkOfStack(c.stack);
  Expected<StackTraits> traits = stackTraits(c.stack);
  if (!traits)
    return traits.takeError();
  c.traits = *traits;
  if (std::string what = notModelled(p); !what.empty())
    return makeError(p.run + ": " + what);
  applyPractice(p, c.traits);
  Expected<Chip> chip = chipOf(p.chip);
  if (!chip)
    return chip.takeError();
  Expected<Precision> precision = precisionOf(p);
  if (!precision)
    return precision.takeError();
  Expected<ModelShape> shape = shapeOf(p);
  if (!shape)
    return shape.takeError();
  c.shape = *shape;
  if (c.shape.gated)
    c.traits.dropout = false; // Llama's kin have none
  else
    c.traits.composed = false; // GPT's kin have PyTorch's layer norm
  c.precision = *precision;
  c.layout = layoutOf(p, c.traits);
  applyRecipe(p, c.traits, c.layout);
  applyLimits(c);
  c.cluster = clusterOf(p, *chip, int(p.gpus ? p.gpus : c.layout.numGPUs()));
  // The fused kernels that are known need Ampere (FlashAttention's and cuDNN's
  // documentation); PyTorch has another for older parts.
  if (chip->architecture == Architecture::Volta &&
      c.traits.attention != AttentionKernel::Sdpa)
    c.traits.attention = AttentionKernel::Unfused;
  int group = shardGroupOf(p, c.cluster.gpusPerNode);
  if (c.layout.zeroStage > 0 && group > 0 && group < c.layout.dp) {
    if (c.layout.dp % group != 0)
      return makeError(p.run + ": shards over " + Twine(group) +
                       " ranks do not divide dp = " + Twine(c.layout.dp));
    c.layout.shardGroup = group;
  }

  Workload &w = c.workload = workloadOf(c.traits);
  w.globalBatch = p.globalBatch;
  w.sequence = p.sequence;
  if (p.globalBatch < 1)
    return makeError(p.run + ": global_batch is needed");
  StringRef notes = p.notes;
  if (c.traits.masterShards) {
    // FSDP keeps 32-bit shards of weights and gradients and moves 16-bit
    // copies. Gradients travel in 32 bits unless the run says otherwise:
    // Composer's mode "PURE", or reduce_dtype=torch.bfloat16.
    bool narrow = notes.contains("MP mode PURE") ||
                  notes.contains("gradients reduced in bf16");
    w.gradientCommBytes = narrow ? 2 : 4;
  } else if (c.traits.fsdp) {
    // DeepSpeed's stage 3 holds and reduces gradients in 16 bits.
    w.gradientBytes = w.gradientCommBytes = 2;
  } else if (c.traits.tunedRecipes) {
    tunedPrecision(c);
  } else if (StringRef(c.stack).starts_with("megatron-2") ||
             c.stack == "megatron-deepspeed" || c.stack == "bigscience-2022") {
    // DDP sums 16- or 32-bit buffers; 32 where they accumulate in 32 bits.
    // vTrain counts two bytes an element (src/predictor.py, ParamInfo), and its
    // one-node steps reduce 100 MB of a layer's weights in 0.4 ms: with twice
    // as much the links of the chip would not do.
    w.gradientCommBytes = StringRef(p.source).contains("vTrain") ? 2 : 4;
  }
  if (c.stack == "bigscience-2022" || c.stack == "megatron-deepspeed") {
    // DeepSpeed's "type:transformer" fills stages up one after another ("78/12
    // = 6.5, so the last stage has 1 block, while the rest have 7":
    // BigScience's chronicles), unless embedding and head were given a layer's
    // room each.
    int64_t layers = c.shape.layers, stages = c.layout.pp;
    int64_t fullest = (layers + stages - 1) / stages;
    if (stages > 1 && layers % stages != 0 && (layers + 2) % stages != 0 &&
        fullest * (stages - 1) < layers) {
      c.layout.chunkLayers.assign(stages, int(fullest));
      c.layout.chunkLayers.back() = int(layers - fullest * (stages - 1));
    }
    // DeepSpeed's ZeRO-1 keeps 16-bit gradients whole and a 32-bit copy of its
    // partition beside master weights and moments; without ZeRO the copy exists
    // while the optimizer steps (runtime/fp16/fused_optimizer.py).
    w.gradientBytes = 2;
    (c.layout.zeroStage > 0 ? w.optimizerBytes : w.stepBytes) += 4;
    // BigScience gave embeddings a layer's room when it also began to sum
    // gradients in 32 bits beside the 16-bit ones ("Rebalancing layers").
    if (c.stack == "bigscience-2022" && stages > 1 && layers % stages != 0 &&
        (layers + 2) % stages == 0)
      w.gradientBytes = 6;
    w.pipelineBufferBytes =
        2.0 * double(c.layout.microBatch * p.sequence) * p.hidden;
  }
  if (c.precision.frozen) {
    w.trainedFraction = 0.003; // rank-8 to rank-16 adapters
    // What is not trained has no 32-bit copy that could stand in for it.
    if (c.traits.masterShards)
      w.shardedWeightBytes = 2;
  }
  inferInterleaving(p, c);
  applyRecomputation(p, c);
  Expected<FeatureSourcePtr> source = sources.of(c.shape);
  if (!source)
    return makeError(p.run + ": " + toString(source.takeError()));
  c.source = *source;
  std::string why;
  if (!c.source->supports(c.layout, c.shape.sequence, &why))
    return makeError(p.run + ": " + why);
  c.features =
      c.source->features(c.layout, {c.shape.sequence, c.traits, c.precision});
  if (p.microBatch < 1)
    inferMicroBatch(c);
  if (c.recomputeInferred)
    inferRecomputation(p, c);
  return c;
}

/// How the source counts FLOPs (see the traps in the data's README).
static FlopConvention conventionOf(const Point &p) {
  FlopConvention f;
  std::string text = StringRef(p.source + " " + p.notes).lower();
  StringRef t(text);
  f.hardware = t.contains("hardware tfl") || t.contains("hardware flop");
  f.causalHalved = t.contains("megatron-bridge") ||
                   (t.contains("maxtext") && !t.contains("full attention"));
  return f;
}

/// Peak in FLOP/s that the source divides by.
static double peakOf(const Point &p, const Case &c) {
  StringRef notes = p.notes;
  if (notes.contains("989 (BF16)/1979 (FP8)")) {
    bool fp8 = c.precision.linear != DataType::BF16;
    if (c.cluster.chip.architecture == Architecture::Blackwell)
      return (fp8 ? 4900 : 2450) * 1e12;
    return (fp8 ? 1979 : 989) * 1e12;
  }
  // "peak 1979", "peak=989 TFLOP/s"; of memory ("peak 70 GB") says nothing.
  StringRef said = notes.split("peak").second.ltrim(" =:of");
  unsigned tflops = 0;
  if (!said.consumeInteger(10, tflops) && tflops > 10 && tflops < 100000 &&
      !said.ltrim(". 0123456789").starts_with_insensitive("g"))
    return tflops * 1e12;
  // Who trains in 8 bits divides by that rate.
  return c.cluster.chip.peak(c.precision.linear);
}

Expected<double> tessera::measuredStepTime(const Point &p, const Case &c) {
  double gpus = double(c.layout.numGPUs());
  double batch = double(p.globalBatch);
  switch (p.metric) {
  case Metric::StepTime:
    return p.value;
  case Metric::TokensPerSecond:
    return batch * p.sequence / (p.value * gpus);
  case Metric::Tflops:
    return conventionalFlops(c.shape, p.globalBatch, conventionOf(p)) /
           (p.value * 1e12 * gpus);
  case Metric::Mfu:
    return conventionalFlops(c.shape, p.globalBatch, conventionOf(p)) /
           (p.value / 100 * peakOf(p, c) * gpus);
  default:
    return makeError(p.id + ": " + nameOf(p.metric) +
                     " says nothing about one step");
  }
}

double tessera::measuredMemory(const Point &p, bool &allocated) {
  std::string notes = StringRef(p.notes).lower();
  StringRef n(notes);
  allocated = n.contains("allocated");
  bool gib = n.contains("gib") || allocated ||
             StringRef(p.source).contains("bigscience");
  return p.value * (gib ? kGiB : 1e9);
}

Prediction tessera::predict(const Case &c, const CostConstants &constants) {
  StepModel model{c.cluster, constants.chip(c.cluster.chip),
                  constants.stack(c.stack), c.traits};
  return {stepTime(c.features, c.layout, c.workload, model),
          memoryUse(c.features, c.layout, c.workload, c.cluster)};
}
