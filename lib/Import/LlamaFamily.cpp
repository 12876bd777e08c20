//===- LlamaFamily.cpp - Llama, Mistral, Qwen2, Qwen3, Phi-3 --------------===//
//
// One block: RMS norms, rotary embedding, grouped-query attention, gated MLP.
// The architectures differ in biases, in norms of queries and keys, and in
// which layers attend to a sliding window. Names and defaults are those of
// `transformers` (its configuration_*.py and modeling_*.py).
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// What the architectures take where config.json does not say. Sizes it must
/// say: `save_pretrained` always writes them.
struct Defaults {
  int64_t maxPositions;
  int64_t kvHeads; ///< 0: as many as heads
  int64_t headDim; ///< 0: hidden / heads
};
} // namespace

static Defaults defaultsOf(StringRef architecture) {
  if (architecture == "MistralForCausalLM")
    return {131072, 8, 0};
  if (architecture == "MixtralForCausalLM")
    return {131072, 8, 0};
  if (architecture == "Phi3ForCausalLM" || architecture == "OlmoeForCausalLM")
    return {4096, 0, 0};
  if (architecture == "Qwen3MoeForCausalLM")
    return {32768, 4, 0};
  if (architecture == "Qwen2ForCausalLM")
    return {32768, 32, 0};
  if (architecture == "Qwen3ForCausalLM")
    return {32768, 32, 128};
  return {2048, 0, 0};
}

/// Qwen: with `use_sliding_window` the layers that `layer_types` lists, or
/// those from `max_window_layers` on.
static void readQwenWindows(const ConfigReader &reader, ModelConfig &config) {
  config.windows.assign(config.layers, 0);
  (void)reader.has("max_window_layers"); // unread where 'layer_types' is there
  bool use = reader.boolean("use_sliding_window", false);
  int64_t window = reader.integer({"sliding_window"}, 4096);
  const llvm::json::Array *types = reader.array("layer_types");
  if (!types) {
    int64_t full = reader.integer({"max_window_layers"}, 28, 0);
    for (int64_t i = full; use && i < config.layers; ++i)
      config.windows[i] = window;
    return;
  }
  if (static_cast<int64_t>(types->size()) != config.layers)
    return reader.failField("layer_types",
                            "lists " + Twine(types->size()) +
                                " layers, but 'num_hidden_layers' is " +
                                Twine(config.layers));
  for (int64_t i = 0; i < config.layers; ++i) {
    StringRef type = (*types)[i].getAsString().value_or("");
    if (type == "full_attention")
      continue;
    if (type != "sliding_attention")
      return reader.failField("layer_types",
                              "has " + describeJson((*types)[i]) +
                                  " for layer " + Twine(i) +
                                  ", expected \"full_attention\" or "
                                  "\"sliding_attention\"");
    if (!use)
      return reader.failField(
          "layer_types", "has \"sliding_attention\" for layer " + Twine(i) +
                             ", but 'use_sliding_window' is not true");
    config.windows[i] = window;
  }
}

/// Phi-3 stores queries, keys and values as one matrix, gate and up as another.
/// With fewer key-value heads the parts of the first have different sizes.
static void fusePhi3(ModelConfig &config) {
  int64_t hidden = config.hidden, width = config.heads * config.headDim;
  int64_t kvWidth = config.kvHeads * config.headDim;
  auto fuse = [&](ParameterRef &part, StringRef name, int64_t rows,
                  std::vector<int64_t> reshape, int64_t index) {
    part.checkpoint = ("model.layers.{layer}." + name + ".weight").str();
    part.storedShape = {rows, hidden};
    part.reshape = std::move(reshape);
    part.index = index;
  };
  std::vector<int64_t> thirds;
  if (kvWidth == width)
    thirds = {3, width, hidden};
  else
    config.planOnly = "its fused qkv_proj with fewer key-value heads than "
                      "queries cannot be read";
  int64_t index = 0;
  for (LinearRef *ref : {&config.q, &config.k, &config.v})
    fuse(ref->weight, "self_attn.qkv_proj", width + 2 * kvWidth, thirds,
         thirds.empty() ? 0 : index++);
  index = 0;
  for (LinearRef *ref : {&*config.gate, &config.up})
    fuse(ref->weight, "mlp.gate_up_proj", 2 * config.intermediate,
         {2, config.intermediate, hidden}, index++);
}

/// The rotary table of Phi-3's long models, whose frequencies are stretched one
/// by one. It costs what any table costs.
static RotaryConfig readPhi3Rotary(const ConfigReader &reader,
                                   ModelConfig &config) {
  for (StringRef field : {"rope_scaling", "rope_parameters"}) {
    const llvm::json::Object *object = reader.child(field);
    StringRef type;
    for (StringRef name : {"rope_type", "type"})
      if (object && type.empty())
        type = object->getString(name).value_or("");
    if (type != "longrope" && type != "su")
      continue;
    config.planOnly = "its '" + type.str() + "' rotary table cannot be made";
    double partial = reader.number({"partial_rotary_factor"}, 1.0);
    RotaryConfig rotary;
    rotary.theta = reader.number({"rope_theta"}, 10000.0);
    rotary.dim = static_cast<int64_t>(config.headDim * partial) / 2 * 2;
    if (rotary.dim < 2 || rotary.dim > config.headDim)
      reader.failField("partial_rotary_factor",
                       "must be above 0 and at most 1");
    return rotary;
  }
  return readRotary(reader, config, 10000.0, 1.0);
}

void tessera::readLlamaFamily(const ConfigReader &reader, ModelConfig &config) {
  StringRef name = config.architecture;
  bool isQwen2 = name == "Qwen2ForCausalLM";
  bool isQwen3 = name == "Qwen3ForCausalLM" || name == "Qwen3MoeForCausalLM";
  bool isLlama = name == "LlamaForCausalLM";
  bool isPhi3 = name == "Phi3ForCausalLM";
  bool isOlmoe = name == "OlmoeForCausalLM";
  Defaults defaults = defaultsOf(name);

  readSizes(reader, config);
  config.intermediate = reader.integer({"intermediate_size"});
  config.maxPositions =
      reader.integer({"max_position_embeddings"}, defaults.maxPositions);
  config.kvHeads =
      reader.integer({"num_key_value_heads"},
                     defaults.kvHeads && !reader.isNull("num_key_value_heads")
                         ? defaults.kvHeads
                         : config.heads);
  if (!reader.has("head_dim") && !defaults.headDim &&
      config.hidden % config.heads != 0)
    reader.failField("hidden_size", "(" + Twine(config.hidden) +
                                        ") must be a multiple of "
                                        "'num_attention_heads' (" +
                                        Twine(config.heads) +
                                        ") where there is no 'head_dim'");
  config.headDim = reader.integer(
      {"head_dim"}, defaults.headDim && !reader.isNull("head_dim")
                        ? defaults.headDim
                        : std::max<int64_t>(config.hidden / config.heads, 1));
  checkHeads(reader, config, "num_attention_heads", "num_key_value_heads");

  config.normEps =
      reader.number({"rms_norm_eps"}, isPhi3 || isOlmoe ? 1e-5 : 1e-6, 0.0);
  config.activation = readActivation(reader, "hidden_act", "silu");
  config.attentionScale = 1.0 / std::sqrt(static_cast<double>(config.headDim));
  config.rotary = isPhi3 ? readPhi3Rotary(reader, config)
                         : readRotary(reader, config, 10000.0, 1.0);
  if (config.rotary->dim != config.headDim && !isPhi3)
    reader.failField(
        "partial_rotary_factor",
        "is not supported by " + name + ": all " + Twine(config.headDim) +
            " elements of a head rotate, got " + Twine(config.rotary->dim));
  config.windows.assign(config.layers, 0);
  // One window for all layers; an absent field is 4096, null none.
  if (name == "MistralForCausalLM")
    config.windows.assign(config.layers,
                          reader.isNull("sliding_window")
                              ? 0
                              : reader.integer({"sliding_window"}, 4096));
  else if ((isPhi3 || name == "MixtralForCausalLM") &&
           reader.has("sliding_window"))
    config.windows.assign(config.layers, reader.integer({"sliding_window"}));
  else if (isQwen2 || isQwen3)
    readQwenWindows(reader, config);

  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  bool attentionBias = (isLlama || isQwen3 || isOlmoe) &&
                       reader.boolean("attention_bias", false);
  bool mlpBias = isLlama && reader.boolean("mlp_bias", false);

  config.prefix = "model.";
  config.ignoredTensors = {".rotary_emb.inv_freq"};
  const std::string layer = "model.layers.{layer}.";
  auto linear = [&](StringRef symbol, StringRef path, int64_t out, int64_t in,
                    bool bias) {
    return makeLinear(symbol, (layer + path).str(), out, in, std, bias);
  };
  int64_t width = config.heads * config.headDim;
  int64_t kvWidth = config.kvHeads * config.headDim;
  bool qkvBias = attentionBias || isQwen2;
  config.embedding = makeMatrix("embed", "model.embed_tokens.weight",
                                config.vocab, config.hidden, std);
  config.embedding.padded = true;
  config.attentionNorm = makeNorm("attention_norm", layer + "input_layernorm",
                                  config.hidden, false);
  config.q = linear("q", "self_attn.q_proj", width, config.hidden, qkvBias);
  config.k = linear("k", "self_attn.k_proj", kvWidth, config.hidden, qkvBias);
  config.v = linear("v", "self_attn.v_proj", kvWidth, config.hidden, qkvBias);
  config.o =
      linear("o", "self_attn.o_proj", config.hidden, width, attentionBias);
  if (isQwen3) {
    config.qNorm =
        makeNorm("q_norm", layer + "self_attn.q_norm", config.headDim, false);
    config.kNorm =
        makeNorm("k_norm", layer + "self_attn.k_norm", config.headDim, false);
  }
  if (isOlmoe) {
    // Over all heads together, unlike Qwen3's.
    config.qNorm = makeNorm("q_norm", layer + "self_attn.q_norm", width, false);
    config.kNorm =
        makeNorm("k_norm", layer + "self_attn.k_norm", kvWidth, false);
    if (reader.has("clip_qkv"))
      reader.failField("clip_qkv", "is not supported: queries, keys and values "
                                   "are not clipped");
  }
  config.mlpNorm = makeNorm("mlp_norm", layer + "post_attention_layernorm",
                            config.hidden, false);
  config.gate = linear("gate", "mlp.gate_proj", config.intermediate,
                       config.hidden, mlpBias);
  config.up =
      linear("up", "mlp.up_proj", config.intermediate, config.hidden, mlpBias);
  config.down = linear("down", "mlp.down_proj", config.hidden,
                       config.intermediate, mlpBias);
  config.finalNorm = makeNorm("final_norm", "model.norm", config.hidden, false);
  readHead(reader, config, "lm_head.weight", /*tied=*/false, std);
  if (isPhi3)
    fusePhi3(config);
}
