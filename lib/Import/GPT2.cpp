//===- GPT2.cpp - GPT2LMHeadModel -----------------------------------------===//
//
// Layer norms, learned positions, GELU in its tanh form, all linears with bias
// and with weights stored [in, out] (`Conv1D`); queries, keys and values in
// one fused tensor [hidden, 3 * hidden]. Names and defaults are those of
// `transformers` (configuration_gpt2.py, modeling_gpt2.py). The released
// checkpoints are of the bare model: their names lack "transformer.".
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;

void tessera::readGPT2(const ConfigReader &reader, ModelConfig &config) {
  config.hidden = reader.integer({"n_embd", "hidden_size"});
  config.layers = reader.integer({"n_layer", "num_hidden_layers"}, std::nullopt,
                                 1, kMaxLayers);
  config.heads = reader.integer({"n_head", "num_attention_heads"});
  config.vocab = reader.integer({"vocab_size"});
  config.maxPositions =
      reader.integer({"n_positions", "max_position_embeddings"});
  config.intermediate = reader.integer({"n_inner"}, 4 * config.hidden);
  config.kvHeads = config.heads;
  config.headDim = readHeadDim(reader, config, "n_embd", "n_head");
  reader.onlySupported("scale_attn_by_inverse_layer_idx", false);
  reader.onlySupported("add_cross_attention", false);

  config.layerNorm = true;
  config.normEps = reader.number({"layer_norm_epsilon"}, 1e-5, 0.0);
  config.activation = readActivation(reader, "activation_function", "gelu_new");
  if (reader.boolean("scale_attn_weights", true))
    config.attentionScale =
        1.0 / std::sqrt(static_cast<double>(config.headDim));
  config.windows.assign(config.layers, 0);

  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  // Projections into the residual stream start smaller (Radford et al. 2019).
  double residualStd =
      std / std::sqrt(2.0 * static_cast<double>(config.layers));
  config.prefix = "transformer.";
  config.ignoredTensors = {".attn.bias", ".attn.masked_bias"};
  const std::string layer = "transformer.h.{layer}.";
  int64_t hidden = config.hidden;

  auto linear = [&](StringRef symbol, StringRef path, int64_t in, int64_t out,
                    double std) {
    LinearRef ref = makeLinear(symbol, (layer + path).str(), out, in, std,
                               /*bias=*/true);
    ref.inOut = true;
    ref.weight.shape = {in, out};
    return ref;
  };
  auto part = [&](StringRef symbol, int64_t index) {
    LinearRef ref = linear(symbol, "attn.c_attn", hidden, hidden, std);
    ref.weight.storedShape = {hidden, 3 * hidden};
    ref.weight.reshape = {hidden, 3, hidden};
    ref.weight.dim = 1;
    ref.weight.index = index;
    ref.bias->storedShape = {3 * hidden};
    ref.bias->reshape = {3, hidden};
    ref.bias->dim = 0;
    ref.bias->index = index;
    return ref;
  };
  config.embedding =
      makeMatrix("embed", "transformer.wte.weight", config.vocab, hidden, std);
  config.embedding.padded = true;
  config.positions = makeMatrix("positions", "transformer.wpe.weight",
                                config.maxPositions, hidden, std);
  config.attentionNorm =
      makeNorm("attention_norm", layer + "ln_1", hidden, true);
  config.q = part("q", 0);
  config.k = part("k", 1);
  config.v = part("v", 2);
  config.o = linear("o", "attn.c_proj", hidden, hidden, residualStd);
  config.mlpNorm = makeNorm("mlp_norm", layer + "ln_2", hidden, true);
  config.up = linear("up", "mlp.c_fc", hidden, config.intermediate, std);
  config.down =
      linear("down", "mlp.c_proj", config.intermediate, hidden, residualStd);
  config.finalNorm = makeNorm("final_norm", "transformer.ln_f", hidden, true);
  readHead(reader, config, "lm_head.weight", /*tied=*/true, std);
}
