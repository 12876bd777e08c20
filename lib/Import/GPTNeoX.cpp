//===- GPTNeoX.cpp - GPTNeoXForCausalLM -----------------------------------===//
//
// Layer norms, rotary embedding of the first part of each head, attention and
// MLP in parallel or one after the other. Queries, keys and values are fused
// and interleaved by head: [heads, 3, head_dim, hidden]. Names and defaults are
// those of `transformers` (configuration_gpt_neox.py, modeling_gpt_neox.py).
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;

void tessera::readGPTNeoX(const ConfigReader &reader, ModelConfig &config) {
  readSizes(reader, config);
  config.intermediate = reader.integer({"intermediate_size"});
  config.maxPositions = reader.integer({"max_position_embeddings"}, 2048);
  config.kvHeads = config.heads;
  config.headDim =
      readHeadDim(reader, config, "hidden_size", "num_attention_heads");

  config.layerNorm = true;
  config.normEps = reader.number({"layer_norm_eps"}, 1e-5, 0.0);
  config.activation = readActivation(reader, "hidden_act", "gelu");
  config.attentionScale = 1.0 / std::sqrt(static_cast<double>(config.headDim));
  config.parallelResidual = reader.boolean("use_parallel_residual", true);
  config.rotary =
      readRotary(reader, config, reader.number({"rotary_emb_base"}, 10000.0),
                 reader.number({"rotary_pct"}, 0.25));
  config.windows.assign(config.layers, 0);

  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  bool attentionBias = reader.boolean("attention_bias", true);
  config.prefix = "gpt_neox.";
  config.ignoredTensors = {".attention.bias", ".attention.masked_bias",
                           ".rotary_emb.inv_freq"};
  const std::string layer = "gpt_neox.layers.{layer}.";
  int64_t hidden = config.hidden, heads = config.heads, dim = config.headDim;

  auto linear = [&](StringRef symbol, StringRef path, int64_t out, int64_t in,
                    bool bias) {
    return makeLinear(symbol, (layer + path).str(), out, in, std, bias);
  };
  auto part = [&](StringRef symbol, int64_t index) {
    LinearRef ref = linear(symbol, "attention.query_key_value", hidden, hidden,
                           attentionBias);
    ref.weight.storedShape = {3 * hidden, hidden};
    ref.weight.reshape = {heads, 3, dim, hidden};
    ref.weight.dim = 1;
    ref.weight.index = index;
    if (ref.bias) {
      ref.bias->storedShape = {3 * hidden};
      ref.bias->reshape = {heads, 3, dim};
      ref.bias->dim = 1;
      ref.bias->index = index;
    }
    return ref;
  };
  config.embedding = makeMatrix("embed", "gpt_neox.embed_in.weight",
                                config.vocab, hidden, std);
  config.embedding.padded = true;
  config.attentionNorm =
      makeNorm("attention_norm", layer + "input_layernorm", hidden, true);
  config.q = part("q", 0);
  config.k = part("k", 1);
  config.v = part("v", 2);
  config.o = linear("o", "attention.dense", hidden, hidden, attentionBias);
  config.mlpNorm =
      makeNorm("mlp_norm", layer + "post_attention_layernorm", hidden, true);
  config.up =
      linear("up", "mlp.dense_h_to_4h", config.intermediate, hidden, true);
  config.down =
      linear("down", "mlp.dense_4h_to_h", hidden, config.intermediate, true);
  config.finalNorm =
      makeNorm("final_norm", "gpt_neox.final_layer_norm", hidden, true);
  readHead(reader, config, "embed_out.weight", /*tied=*/false, std);
}
