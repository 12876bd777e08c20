//===- DeepSeek.cpp - DeepSeek-V2 and DeepSeek-V3 -------------------------===//
//
// Latent attention, a few dense layers first, then experts beside a shared MLP.
// Names and defaults are those of `transformers` (configuration_deepseek_v3.py,
// modeling_deepseek_v3.py). The multi-token-prediction layers of the released
// checkpoint are not part of the model that `transformers` runs, nor of ours.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

static const std::string kLayer = "model.layers.{layer}.";

static LinearRef linear(StringRef symbol, StringRef path, int64_t out,
                        int64_t in, double std, bool bias = false) {
  return makeLinear(symbol, (kLayer + path).str(), out, in, std, bias);
}

static LatentConfig readLatent(const ConfigReader &reader,
                               const ModelConfig &config, double std) {
  LatentConfig latent;
  latent.kvRank = reader.integer({"kv_lora_rank"});
  latent.nopeDim = reader.integer({"qk_nope_head_dim"});
  latent.ropeDim = reader.integer({"qk_rope_head_dim"});
  latent.valueDim = reader.integer({"v_head_dim"});
  bool bias = reader.boolean("attention_bias", false);
  int64_t width = config.heads * (latent.nopeDim + latent.ropeDim);
  // Null: queries are projected at once (DeepSeek-V2-Lite).
  if (reader.isNull("q_lora_rank")) {
    latent.q = linear("q", "self_attn.q_proj", width, config.hidden, std);
  } else {
    int64_t rank = reader.integer({"q_lora_rank"});
    latent.qDown =
        linear("q_down", "self_attn.q_a_proj", rank, config.hidden, std, bias);
    latent.qNorm =
        makeNorm("q_norm", kLayer + "self_attn.q_a_layernorm", rank, false);
    latent.q = linear("q", "self_attn.q_b_proj", width, rank, std);
  }
  latent.kvDown =
      linear("kv_down", "self_attn.kv_a_proj_with_mqa",
             latent.kvRank + latent.ropeDim, config.hidden, std, bias);
  latent.kvNorm = makeNorm("kv_norm", kLayer + "self_attn.kv_a_layernorm",
                           latent.kvRank, false);
  latent.kvUp = linear("kv_up", "self_attn.kv_b_proj",
                       config.heads * (latent.nopeDim + latent.valueDim),
                       latent.kvRank, std);
  return latent;
}

static ExpertsConfig readExperts(const ConfigReader &reader,
                                 const ModelConfig &config, bool isV3,
                                 double std) {
  ExpertsConfig experts;
  experts.experts = reader.integer({"n_routed_experts"});
  experts.topK = reader.integer({"num_experts_per_tok"});
  experts.intermediate = reader.integer({"moe_intermediate_size"});
  experts.scoring = isV3 ? "sigmoid" : "softmax";
  std::string scoring = reader.text({"scoring_func"}, experts.scoring);
  if (scoring != experts.scoring)
    reader.failField("scoring_func", "is '" + scoring + "', expected '" +
                                         experts.scoring + "'");
  experts.normalize = reader.boolean("norm_topk_prob", isV3);
  experts.scale = reader.number({"routed_scaling_factor"}, isV3 ? 2.5 : 1.0);
  // V2-Lite chooses among all experts, whatever n_group says.
  std::string method =
      reader.text({"topk_method"}, isV3 ? "noaux_tc" : "greedy");
  if (isV3 ? method != "noaux_tc"
           : method != "greedy" && method != "group_limited_greedy")
    reader.failField(
        "topk_method",
        "is '" + method + "', expected " +
            (isV3 ? "'noaux_tc'" : "'greedy' or 'group_limited_greedy'"));
  if (isV3 || method != "greedy") {
    experts.groups = reader.integer({"n_group"}, isV3 ? 8 : 1);
    experts.topGroups = reader.integer({"topk_group"}, isV3 ? 4 : 1);
  }
  if (experts.experts % experts.groups != 0)
    reader.failField("n_group", "(" + Twine(experts.groups) +
                                    ") must divide 'n_routed_experts' (" +
                                    Twine(experts.experts) + ")");
  else if (experts.topGroups > experts.groups ||
           experts.topK > experts.experts / experts.groups * experts.topGroups)
    reader.failField("num_experts_per_tok",
                     "(" + Twine(experts.topK) +
                         ") exceeds the experts of 'topk_group' groups");
  const std::string expert = kLayer + "mlp.experts.{expert}.";
  int64_t hidden = config.hidden, width = experts.intermediate;
  experts.router = makeMatrix("router", kLayer + "mlp.gate.weight",
                              experts.experts, hidden, std);
  if (isV3) {
    experts.routerBias =
        makeVector("router_bias", kLayer + "mlp.gate.e_score_correction_bias",
                   experts.experts, 0.0);
    experts.routerBias->f32 = true;
  }
  experts.gate = makeExperts("expert_gate", expert + "gate_proj.weight",
                             experts.experts, width, hidden, std);
  experts.up = makeExperts("expert_up", expert + "up_proj.weight",
                           experts.experts, width, hidden, std);
  experts.down = makeExperts("expert_down", expert + "down_proj.weight",
                             experts.experts, hidden, width, std);
  int64_t shared = reader.has("n_shared_experts")
                       ? reader.integer({"n_shared_experts"}, 1, 0)
                       : (isV3 ? 1 : 2);
  if (shared > 0) {
    const StringRef path = "mlp.shared_experts.";
    experts.sharedIntermediate = shared * width;
    auto part = [&](StringRef symbol, StringRef name, int64_t out, int64_t in) {
      return linear(symbol, (path + name).str(), out, in, std);
    };
    experts.sharedGate =
        part("shared_gate", "gate_proj", experts.sharedIntermediate, hidden);
    experts.sharedUp =
        part("shared_up", "up_proj", experts.sharedIntermediate, hidden);
    experts.sharedDown =
        part("shared_down", "down_proj", hidden, experts.sharedIntermediate);
  }
  return experts;
}

void tessera::readDeepSeek(const ConfigReader &reader, ModelConfig &config) {
  bool isV3 = config.architecture == "DeepseekV3ForCausalLM";
  readSizes(reader, config);
  config.kvHeads = config.heads;
  // Sizes that follow from others, as `transformers` writes them.
  for (StringRef implied : {"head_dim", "num_key_value_heads", "qk_head_dim",
                            "rope_interleave", "n_group", "topk_group"})
    (void)reader.has(implied);
  config.intermediate = reader.integer({"intermediate_size"});
  config.maxPositions =
      reader.integer({"max_position_embeddings"}, isV3 ? 4096 : 2048);
  config.normEps = reader.number({"rms_norm_eps"}, 1e-6, 0.0);
  config.activation = readActivation(reader, "hidden_act", "silu");
  config.windows.assign(config.layers, 0);
  double std = reader.number({"initializer_range"}, 0.02, 0.0);

  LatentConfig latent = readLatent(reader, config, std);
  config.headDim = latent.ropeDim; // What rotates.
  config.rotary = readRotary(reader, config, 10000.0, 1.0);
  config.headDim = latent.nopeDim + latent.ropeDim;
  config.attentionScale = 1.0 / std::sqrt(static_cast<double>(config.headDim));
  if (const RotaryConfig &rotary = *config.rotary;
      rotary.mscaleAllDim && *rotary.mscaleAllDim != 0 && rotary.factor &&
      *rotary.factor > 1) {
    double mscale = 0.1 * *rotary.mscaleAllDim * std::log(*rotary.factor) + 1;
    config.attentionScale *= mscale * mscale;
  }

  config.prefix = "model.";
  config.ignoredTensors = {".rotary_emb.inv_freq"};
  config.embedding = makeMatrix("embed", "model.embed_tokens.weight",
                                config.vocab, config.hidden, std);
  config.embedding.padded = true;
  config.attentionNorm = makeNorm("attention_norm", kLayer + "input_layernorm",
                                  config.hidden, false);
  config.mlpNorm = makeNorm("mlp_norm", kLayer + "post_attention_layernorm",
                            config.hidden, false);
  config.o = linear("o", "self_attn.o_proj", config.hidden,
                    config.heads * latent.valueDim, std,
                    reader.boolean("attention_bias", false));
  config.latent = std::move(latent);

  if (int64_t more = reader.integer({"num_nextn_predict_layers"}, 0, 0))
    config.notes.push_back((reader.location() + ": the " + Twine(more) +
                            (more == 1 ? " layer" : " layers") +
                            " of multi-token prediction "
                            "('num_nextn_predict_layers') is left out")
                               .str());
  int64_t dense =
      std::min(config.layers,
               reader.integer({"first_k_dense_replace"}, isV3 ? 3 : 0, 0));
  if (reader.integer({"moe_layer_freq"}, 1) != 1)
    reader.failField("moe_layer_freq",
                     "must be 1: experts in every layer after the dense ones");
  config.expertLayers.assign(config.layers, true);
  for (int64_t i = 0; i < dense; ++i)
    config.expertLayers[i] = false;
  config.gate =
      linear("gate", "mlp.gate_proj", config.intermediate, config.hidden, std);
  config.up =
      linear("up", "mlp.up_proj", config.intermediate, config.hidden, std);
  config.down =
      linear("down", "mlp.down_proj", config.hidden, config.intermediate, std);
  for (ParameterRef *parameter :
       {&config.gate->weight, &config.up.weight, &config.down.weight})
    parameter->layerCount = dense;

  ExpertsConfig experts = readExperts(reader, config, isV3, std);
  std::vector<ParameterRef *> parts{&experts.router, &experts.gate, &experts.up,
                                    &experts.down};
  if (experts.routerBias)
    parts.push_back(&*experts.routerBias);
  if (experts.sharedUp)
    parts.insert(parts.end(),
                 {&experts.sharedGate->weight, &experts.sharedUp->weight,
                  &experts.sharedDown->weight});
  for (ParameterRef *parameter : parts) {
    parameter->firstLayer = dense;
    parameter->layerCount = config.layers - dense;
  }
  config.experts = std::move(experts);

  config.finalNorm = makeNorm("final_norm", "model.norm", config.hidden, false);
  readHead(reader, config, "lm_head.weight", /*tied=*/false, std);
}
