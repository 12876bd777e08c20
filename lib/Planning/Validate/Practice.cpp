//===- Practice.cpp - frameworks and their settings as sources name them --===//
#include "Case.h"
#include "Words.h"
#include "tessera/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

/// What a row says in words, in lower case.
static std::string wordsOf(const Point &p) {
  return StringRef(p.source + " " + p.table + " " + p.notes).lower();
}

static bool any(StringRef text, std::initializer_list<StringRef> words) {
  return llvm::any_of(words, [&](StringRef w) { return text.contains(w); });
}

/// Whether `word` stands in `text` with no letter beside it.
static bool hasWord(StringRef text, StringRef word) {
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !isAlpha(text[at - 1])) &&
        (end == text.size() || !isAlpha(text[end])))
      return true;
  }
  return false;
}

/// PyTorch's own data parallelism, sharded or not, without a framework that is
/// known for more.
static bool plainPyTorch(StringRef text) {
  return any(text, {"fsdp", "lightning", "lit-gpt", "litgpt", "pytorch ddp",
                    "nanogpt"}) &&
         !any(text, {"fsdp2", "torchtitan", "automodel", "llm-foundry",
                     "composer", "maxtext", "megatron", "nemo"});
}

/// Trainers of Hugging Face's models, which all run transformers' own modules.
/// A repository may be theirs and the run another framework's: the source
/// counts by the names of trainers only.
static bool huggingFace(const Point &p) {
  std::string all = wordsOf(p),
              said = StringRef(p.table + " " + p.notes).lower();
  return any(all, {"xtuner", "llama-factory", "llama factory", "axolotl",
                   "ms-swift"}) ||
         any(said, {"hugging face", "huggingface"}) ||
         hasWord(said, "transformers") || hasWord(said, "accelerate") ||
         hasWord(said, "trl");
}

/// The year that a row gives with Megatron-LM ("Megatron-LM@8aa4619 (2021)"),
/// or 0: before Megatron-Core its releases are told by their age.
static int yearOfMegatron(StringRef text) {
  for (StringRef part = text; !part.empty();) {
    auto [head, rest] = part.split(';');
    part = rest;
    StringRef after = head.split("megatron-lm").second;
    while (!after.empty()) {
      StringRef word = after.take_while(isAlnum); // "8aa4619", "2021"
      int year = 0;
      if (!word.getAsInteger(10, year) && year >= 2019 && year <= 2022)
        return year;
      after = after.drop_front(std::max<size_t>(1, word.size()));
    }
  }
  return 0;
}

static bool saysEager(StringRef text) {
  return any(text, {"eager", "no-compile", "without compile"});
}

std::string tessera::stackOf(const Point &p, bool *guessed) {
  if (!p.stack.empty())
    return p.stack;
  std::string text = wordsOf(p);
  auto has = [&](StringRef s) { return StringRef(text).contains(s); };
  bool split = p.tp > 1 || p.pp > 1; // tensors or layers, not only data
  if (has("torchtitan") || has("automodel") || has("torchtune"))
    return "torchtitan"; // AutoModel: FSDP2 with Transformer Engine's kernels
  if (has("llm-foundry") || has("composer") || has("mosaic"))
    return "llm-foundry";
  if (has("paxml") || has("maxtext") || hasWord(text, "jax") ||
      hasWord(text, "alpa") || has("levanter") || has("easylm") ||
      hasWord(text, "xla"))
    return "jax";
  if (has("megatron-bridge")) {
    // Its expert path was rewritten for the container of June 2026, in MXFP8:
    // repeated rows jump by a third to a half there, but not on Hopper.
    StringRef release = StringRef(p.table);
    bool later =
        (release.starts_with("26.06") || release.starts_with("26.08")) &&
        !StringRef(p.chip).starts_with("H");
    return later ? "megatron-bridge-26.06" : "megatron-bridge";
  }
  if (has("2205.05198"))
    return "megatron-2022";
  if (has("2104.04473"))
    return p.zeroStage == 3 ? "deepspeed" : "megatron-2021";
  if (has("bigscience"))
    return "bigscience-2022"; // its fork on DeepSpeed's pipeline engine
  // What a row names comes before the repository that it stands in.
  if (huggingFace(p) && !split && !has("megatron"))
    return has("deepspeed") ? "deepspeed" : "accelerate";
  // Eager frameworks of that age with hybrid parallelism and nothing fused.
  // DeepSpeed has no tensor parallelism in training: who splits more than data
  // with it runs Megatron's layers on its engine.
  if (has("megatron-deepspeed") || has("vtrain") || has("paddle") ||
      has("gpt-neox") || (has("deepspeed") && (split || has("megatron"))))
    return "megatron-deepspeed";
  if (has("dgxc") || hasWord(text, "nemo"))
    return "nemo";
  if (int year = yearOfMegatron(text))
    return year < 2022 ? "megatron-2021" : "megatron-2022";
  // OneFlow-GPT and LiBai follow Megatron-LM of that age fusion by fusion
  // (OneFlow-Benchmark, LanguageModeling/GPT/oneflow_gpt/config.py).
  if (has("oneflow") || hasWord(text, "libai"))
    return "megatron-2021";
  if (has("simumax") || has("megatron"))
    return "megatron-core";
  if (has("deepspeed") || has("colossal"))
    return "deepspeed";
  // What was compiled, or is said not to have been, is told by its traits; of
  // the rest llm-foundry is what was measured most.
  if (has("fsdp2") || (plainPyTorch(text) &&
                       (has("torch.compile") || split || saysEager(text))))
    return "torchtitan";
  if (plainPyTorch(text))
    return "llm-foundry";
  // Nothing of the row says it.
  if (guessed)
    *guessed = true;
  return p.zeroStage == 3 ? "torchtitan" : "megatron-core";
}

bool tessera::isOwnStack(const Point &p, StringRef stack) {
  if (!p.stack.empty())
    return true;
  // By what the row must name; stacks that are not here stand for themselves.
  // TorchTitan stands for FSDP and the pipelines of PyTorch.
  static const std::pair<StringRef, std::vector<StringRef>> names[] = {
      {"torchtitan", {"torchtitan", "automodel", "torchtune", "fsdp"}},
      {"llm-foundry", {"llm-foundry", "composer", "mosaic"}},
      {"jax", {"maxtext"}},
      {"accelerate", {"accelerate"}},
      {"deepspeed", {"deepspeed", "2104.04473"}},
      {"megatron-deepspeed", {"deepspeed", "gpt-neox", "vtrain"}},
      {"megatron-2021", {"megatron", "2104.04473"}},
      {"megatron-2022", {"megatron", "2205.05198"}},
      {"megatron-core", {"megatron", "simumax"}}};
  std::string text = wordsOf(p);
  for (const auto &[name, words] : names)
    if (name == stack)
      return llvm::any_of(
          words, [&](StringRef w) { return StringRef(text).contains(w); });
  return true;
}

Expected<Precision> tessera::precisionOf(const Point &p) {
  Precision r;
  std::string lower = StringRef(p.precision).lower();
  StringRef s = lower;
  auto refuse = [&](const Twine &what) -> Expected<Precision> {
    return makeError("precision '" + p.precision + "': " + what +
                     " (bf16, fp16, fp8 and fp4 are)");
  };
  bool sixteen = any(s, {"16", "half", "amp", "mixed", "bfloat"});
  if (any(s, {"fp4", "float4", "e2m1"}) && !s.contains("qlora"))
    r.linear = DataType::FP4;
  else if (any(s, {"fp8", "float8", "e4m3", "e5m2"}))
    r.linear = DataType::FP8;
  else if (any(s, {"nf4", "int4", "int8", "4-bit", "4bit", "8-bit", "8bit",
                   "qlora"}))
    return refuse("quantised weights are not modelled");
  else if (!sixteen && any(s, {"32", "single", "full", "64", "double"}))
    return refuse("training in 32 bits is not modelled");
  else if (!sixteen && !s.empty() && s != "-" && s != "na" && s != "n/a" &&
           s != "none" && s != "unknown")
    return refuse("it is not known");
  std::string text = StringRef(p.notes + " " + p.table).lower();
  r.frozen = hasWord(text, "lora") || hasWord(text, "qlora") ||
             hasWord(text, "adapters");
  return r;
}

/// "1/2", "50%", "every 2nd", "every other", "10 of 80 layers": a share of the
/// layers; 0: none.
static double shareIn(StringRef s) {
  if (s.contains("other") || s.contains("half") || s.contains("alternate"))
    return 0.5;
  StringRef digits = s.drop_until([](char c) { return isDigit(c); });
  unsigned first = 0, second = 0;
  if (digits.consumeInteger(10, first) || first == 0)
    return 0;
  if (digits.consume_front("/") && !digits.consumeInteger(10, second) &&
      second > 0)
    return std::min(1.0, double(first) / second);
  StringRef rest = digits.ltrim();
  if (rest.consume_front("of ") && !rest.ltrim().consumeInteger(10, second) &&
      second > 0)
    return std::min(1.0, double(first) / second);
  if (digits.ltrim().starts_with("%"))
    return std::min(1.0, first / 100.0);
  if (s.contains("every"))
    return 1.0 / first;
  return 0;
}

Recomputation tessera::recomputationOf(StringRef written) {
  Recomputation r;
  std::string lower = written.trim().lower();
  StringRef s = lower;
  if (s.empty() || s == "-" || s == "na" || s == "n/a" || s == "unknown" ||
      s == "?")
    return r;
  r.stated = true;
  auto is = [&](std::initializer_list<StringRef> words) {
    return llvm::is_contained(words, s);
  };
  if (is({"none", "no", "off", "false", "0", "disabled", "without", "never"}))
    return r;
  // Policies that keep the products' results: XLA's "minimal".
  if (s.starts_with("minimal") || is({"save_dot_except_mlp"})) {
    r.kind = RecomputeKind::Selective;
    return r;
  }
  bool selective = any(s, {"selective", "sac", "partial"});
  bool perOp = selective && hasWord(s, "op");
  bool perLayer = any(s, {"layer", "block", "every", "%", "/"});
  double share = shareIn(s);
  // TorchTitan's two: "op" is its selective recomputation, "layer" recomputes
  // every second layer (torchtitan/distributed/activation_checkpoint.py).
  if (selective && !perOp && perLayer && share == 0)
    share = 0.5;
  if (share > 0) {
    r.kind = RecomputeKind::Full;
    r.share = share;
    return r;
  }
  if (selective || any(s, {"attention", "attn", "core"})) {
    r.kind = RecomputeKind::Selective;
    return r;
  }
  // Only some of the projections are kept: nearly all is done again.
  if (any(s, {"full", "yes", "true", "all", "checkpoint", "uniform", "block",
              "save_qkv_proj", "gradient", "rematerial", "re-material"}) ||
      hasWord(s, "remat") ||
      is({"1", "on", "ac", "enabled", "y", "recompute"})) {
    r.kind = RecomputeKind::Full;
    return r;
  }
  r.stated = r.understood = false;
  return r;
}

void tessera::applyPractice(const Point &p, StackTraits &traits) {
  std::string text = wordsOf(p);
  StringRef t = text;
  bool flash = any(t, {"flash attention", "flashattention", "flash-attention",
                       "flash_attention", "flash attn", "flash-attn", "sdpa",
                       "xformers", "fused attention"}) ||
               hasWord(t, "fa2");
  // Transformer Engine is where JAX's frameworks and Megatron have their fused
  // attention and norms from.
  bool noEngine = any(t, {"without transformer engine", "no transformer engine",
                          "transformer engine off"});
  if (any(t, {"no flash", "without flash", "flash attention off",
              "unfused attention", "no fused attention"}) ||
      (noEngine && !flash))
    traits.attention = AttentionKernel::Unfused;
  else if (any(t,
               {"flashattention-3", "flashattention 3", "cudnn attention"}) ||
           hasWord(t, "fa3"))
    traits.attention = AttentionKernel::Native;
  else if (any(t,
               {"flashattention-1", "flashattention 1", "flash attention 1"}) ||
           (flash && hasWord(t, "torch 1.12")))
    traits.attention = AttentionKernel::Flash1; // the second is of July 2023
  else if (flash && (traits.attention == AttentionKernel::Unfused ||
                     huggingFace(p))) // attn_implementation
    traits.attention = AttentionKernel::Flash2;
  bool fusedNorms = any(t, {"fused norm", "fused rms", "fused_rms",
                            "fused rotary", "fused rope", "fused_rope"});
  bool compiled = t.contains("torch.compile");
  if (saysEager(t)) {
    traits.fusedElementwise = false;
    traits.composed = !fusedNorms;
  } else if (compiled || (t.contains("transformer engine") && !noEngine)) {
    traits.fusedElementwise = true;
    traits.composed = false;
  } else if (fusedNorms) {
    traits.composed = false;
  } else if (t.contains("paddle") || (huggingFace(p) && !t.contains("liger"))) {
    traits.composed = true;
  }
  // transformers: q_proj, k_proj, v_proj and gate_proj, up_proj.
  if (huggingFace(p))
    traits.jointHeads = traits.jointGate = false;
  if (compiled && !saysEager(t))
    traits.recomputesAll = false;
  // TorchTitan compiles its loss with the model since pytorch/torchtitan#1033
  // of April 2025, torchtune where it compiles at all (its recipes'
  // training.compile_loss); others of their kind do not say.
  if (traits.selectsOperations)
    traits.fusedLoss =
        !saysEager(t) && ((t.contains("torchtitan") && !t.contains("2024")) ||
                          (t.contains("torchtune") && compiled));
  if (any(t, {"deepep", "hybridep"}))
    traits.dispatcher = DispatcherKind::Fused;
}

int tessera::shardGroupOf(const Point &p, int gpusPerNode) {
  int64_t group = noteNumber(p.notes, "shard_group");
  std::string text = wordsOf(p);
  if (!group &&
      (hasWord(text, "hsdp") || StringRef(text).contains("hybrid shard") ||
       StringRef(text).contains("hybrid_shard")))
    group = gpusPerNode;
  return group > 0 && group <= 1000000 ? int(group) : 0;
}

std::string tessera::notModelled(const Point &p) {
  std::string text = wordsOf(p);
  StringRef t = text;
  bool none = any(t, {"offload=false", "no offload", "offload off",
                      "offloading off", "without offload"});
  if (!none && any(t, {"zero-offload", "zero-infinity", "cpu offload",
                       "cpu_offload", "offload=true", "optimizer offload",
                       "offloaded to", "nvme offload"}))
    return "state offloaded to the host is not modelled";
  return "";
}
