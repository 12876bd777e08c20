//===- ConfigOf.cpp - a model config for a row's sizes --------------------===//
//
// Published rows give sizes, no config. They become one of the families that
// the importer knows, so that the graph of a row is built like any other.
//
//===----------------------------------------------------------------------===//
#include "ConfigOf.h"

using namespace llvm;
using namespace tessera;

static json::Object familyConfig(const ModelShape &s) {
  json::Object o{{"hidden_size", s.hidden},
                 {"intermediate_size", s.ffn},
                 {"num_hidden_layers", s.layers},
                 {"num_attention_heads", s.heads},
                 {"num_key_value_heads", s.kvHeads},
                 {"vocab_size", s.vocab},
                 {"max_position_embeddings", s.sequence},
                 {"tie_word_embeddings", s.tied}};
  const char *family = "LlamaForCausalLM";
  if (s.latent()) {
    family = "DeepseekV3ForCausalLM";
    o["num_key_value_heads"] = s.heads;
    o["q_lora_rank"] =
        s.queryRank ? json::Value(s.queryRank) : json::Value(nullptr);
    o["kv_lora_rank"] = s.keyRank;
    o["qk_nope_head_dim"] = s.nopeDim;
    o["qk_rope_head_dim"] = s.ropeDim;
    o["v_head_dim"] = s.valueDim;
    o["n_routed_experts"] = s.experts;
    o["num_experts_per_tok"] = s.topk;
    o["moe_intermediate_size"] = s.expertFfn;
    o["n_shared_experts"] =
        s.expertFfn ? std::max<int64_t>(0, s.sharedFfn / s.expertFfn) : 0;
    o["first_k_dense_replace"] = s.denseLayers;
    o["n_group"] = o["topk_group"] = 1;
  } else {
    o["head_dim"] = s.headDim;
    if (s.experts) {
      family = "MixtralForCausalLM";
      o["intermediate_size"] = s.expertFfn;
      o["num_local_experts"] = s.experts;
      o["num_experts_per_tok"] = s.topk;
    }
  }
  o["architectures"] = json::Array{family};
  return o;
}

Expected<ModelConfig> tessera::configOf(const ModelShape &s) {
  Expected<ModelConfig> config =
      parseModelConfig(json::Value(familyConfig(s)), "the row's model");
  if (!config || s.latent() || s.experts)
    return config;
  if (!s.gated) {
    config->gate.reset();
    config->activation = "gelu";
  }
  if (s.learnedPositions) {
    config->rotary.reset();
    config->positions = config->embedding;
    config->positions->symbol = config->positions->checkpoint = "positions";
    config->positions->shape = {s.sequence, s.hidden};
    config->positions->padded = false;
  }
  return config;
}
