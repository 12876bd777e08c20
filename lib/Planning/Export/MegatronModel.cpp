//===- MegatronModel.cpp - a model's sizes as Megatron-LM's options -------===//
//
// NVIDIA/Megatron-LM, megatron/training/arguments.py (core 0.12 to 0.15):
// _add_network_size_args, _add_moe_args, _add_mla_args. The layers, whose
// number goes with the stages, are the caller's.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include "tessera/Import/ModelConfig.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static void putExperts(const ModelConfig &m, Settings &out) {
  const ExpertsConfig &e = *m.experts;
  put(out, "num_experts", e.experts);
  put(out, "moe_router_topk", e.topK);
  put(out, "moe_ffn_hidden_size", e.intermediate);
  put(out, "moe_grouped_gemm", true);
  if (e.sharedIntermediate > 0)
    put(out, "moe_shared_expert_intermediate_size", e.sharedIntermediate);
  if (e.scoring == "sigmoid")
    put(out, "moe_router_score_function", "sigmoid");
  if (e.routerBias)
    put(out, "moe_router_enable_expert_bias", true);
  if (e.groups > 1) {
    put(out, "moe_router_num_groups", e.groups);
    put(out, "moe_router_group_topk", e.topGroups);
  }
  if (!is_contained(m.expertLayers, false))
    return;
  // "([0]*3+[1]*58)": layers with experts are ones.
  std::string pattern;
  for (int64_t at = 0; at < m.layers;) {
    int64_t end = at;
    while (end < m.layers && m.hasExperts(end) == m.hasExperts(at))
      ++end;
    pattern += (pattern.empty() ? "" : "+") +
               std::string(m.hasExperts(at) ? "[1]*" : "[0]*") +
               std::to_string(end - at);
    at = end;
  }
  put(out, "moe_layer_freq", "(" + pattern + ")");
}

static void putLatent(const LatentConfig &l, Settings &out) {
  put(out, "multi_latent_attention", true);
  if (l.qNorm)
    put(out, "q_lora_rank", l.qNorm->weight.shape.front());
  put(out, "kv_lora_rank", l.kvRank);
  put(out, "qk_head_dim", l.nopeDim);
  put(out, "qk_pos_emb_head_dim", l.ropeDim);
  put(out, "v_head_dim", l.valueDim);
}

Settings exports::megatronModel(const ModelConfig &m,
                                std::vector<std::string> &unsaid) {
  Settings out;
  put(out, "hidden_size", m.hidden);
  put(out, "num_attention_heads", m.heads);
  if (!m.latent) {
    if (m.kvHeads > 0 && m.kvHeads != m.heads) {
      put(out, "group_query_attention", true);
      put(out, "num_query_groups", m.kvHeads);
    }
    if (m.headDim * m.heads != m.hidden)
      put(out, "kv_channels", m.headDim);
  }
  if (m.intermediate > 0)
    put(out, "ffn_hidden_size", m.intermediate);
  if (m.gate || m.experts) {
    if (m.activation == "silu")
      put(out, "swiglu", true);
    else
      unsaid.push_back("a gate of " + m.activation);
  } else if (m.activation == "relu" || m.activation == "silu") {
    unsaid.push_back("the activation " + m.activation);
  }
  if (m.vocab > 0)
    put(out, "vocab_size", m.vocab);
  put(out, "max_position_embeddings", m.maxPositions);
  if (m.rotary) {
    put(out, "position_embedding_type", "rope");
    put(out, "rotary_base", int64_t(m.rotary->theta));
    if (m.rotary->scaling == "llama3")
      put(out, "use_rope_scaling", true);
    else if (m.rotary->scaling != "none" && !m.latent)
      unsaid.push_back("rotary scaling " + m.rotary->scaling);
    if (m.rotary->dim > 0 && m.rotary->dim < m.headDim && !m.latent)
      put(out, "rotary_percent", double(m.rotary->dim) / double(m.headDim));
  }
  if (!m.layerNorm)
    put(out, "normalization", "RMSNorm");
  put(out, "norm_epsilon", m.normEps);
  if (m.head)
    put(out, "untie_embeddings_and_output_weights", true);
  if (!m.o.bias) {
    put(out, "disable_bias_linear", true);
    if (m.q.bias)
      put(out, "add_qkv_bias", true);
  }
  if (m.qNorm)
    put(out, "qk_layernorm", true);
  put(out, "attention_dropout", 0);
  put(out, "hidden_dropout", 0);
  if (m.latent)
    putLatent(*m.latent, out);
  if (m.experts)
    putExperts(m, out);
  int64_t window = 0;
  for (int64_t w : m.windows)
    window = std::max(window, w);
  if (window > 0 && !is_contained(m.windows, 0))
    put(out, "window_size", "(" + std::to_string(window - 1) + ",0)");
  else if (window > 0)
    unsaid.push_back("windows in some of the layers");
  if (m.parallelResidual)
    unsaid.push_back("attention and MLP beside each other");
  if (m.relative)
    unsaid.push_back("attention by distances");
  if (!m.causal)
    unsaid.push_back("attention in both directions (pretrain_bert.py)");
  if (m.postNorm && m.causal)
    unsaid.push_back("norms behind the residual sums");
  return out;
}
