//===- Gopher.cpp - Gopher and Chinchilla ---------------------------------===//
//
// The decoder of Vaswani et al. 2017 with RMS norms and relative attention
// (Rae et al. 2021, arXiv 2112.11446, section 2.1; Hoffmann et al. 2022, arXiv
// 2203.15556, section 4.1). No checkpoint was published, so the fields and the
// tensors' names are ours, in the style of `transformers`. Relative attention
// after Dai et al. 2019, arXiv 1901.02860: each layer projects the encodings of
// the distances, all layers share the biases u and v. That the head is tied and
// that linears have biases follows from the sizes of table A9 of the second
// paper, which this reader meets to the printed million (give or take 1,000).
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

void tessera::readGopher(const ConfigReader &reader, ModelConfig &config) {
  readSizes(reader, config);
  config.kvHeads = config.heads;
  config.intermediate =
      reader.integer({"intermediate_size"}, 4 * config.hidden);
  config.maxPositions = reader.integer({"max_position_embeddings"}, 2048);
  config.headDim =
      reader.has("head_dim")
          ? reader.integer({"head_dim"})
          : readHeadDim(reader, config, "hidden_size", "num_attention_heads");
  if (config.hidden % 2 != 0)
    reader.failField("hidden_size",
                     "must be even for sinusoid encodings, got " +
                         Twine(config.hidden));
  config.normEps = reader.number({"rms_norm_eps"}, 1e-6, 0.0);
  config.activation = readActivation(reader, "hidden_act", "gelu");
  config.attentionScale = 1.0 / std::sqrt(static_cast<double>(config.headDim));
  config.windows.assign(config.layers, 0);

  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  bool attentionBias = reader.boolean("attention_bias", true);
  bool mlpBias = reader.boolean("mlp_bias", true);
  config.prefix = "model.";
  const std::string layer = "model.layers.{layer}.";
  int64_t hidden = config.hidden, width = config.heads * config.headDim;
  auto linear = [&](StringRef symbol, StringRef path, int64_t out, int64_t in,
                    bool bias) {
    return makeLinear(symbol, (layer + path).str(), out, in, std, bias);
  };
  config.embedding = makeMatrix("embed", "model.embed_tokens.weight",
                                config.vocab, hidden, std);
  config.embedding.padded = true;
  config.attentionNorm =
      makeNorm("attention_norm", layer + "input_layernorm", hidden, false);
  config.q = linear("q", "self_attn.q_proj", width, hidden, attentionBias);
  config.k = linear("k", "self_attn.k_proj", width, hidden, attentionBias);
  config.v = linear("v", "self_attn.v_proj", width, hidden, attentionBias);
  config.o = linear("o", "self_attn.o_proj", hidden, width, attentionBias);
  RelativeConfig relative;
  relative.projection =
      linear("r", "self_attn.r_proj", width, hidden, /*bias=*/false);
  relative.contentBias =
      makeVector("content_bias", "model.content_bias", width, 0.0);
  relative.positionBias =
      makeVector("position_bias", "model.position_bias", width, 0.0);
  config.relative = std::move(relative);
  config.mlpNorm =
      makeNorm("mlp_norm", layer + "post_attention_layernorm", hidden, false);
  config.up = linear("up", "mlp.up_proj", config.intermediate, hidden, mlpBias);
  config.down =
      linear("down", "mlp.down_proj", hidden, config.intermediate, mlpBias);
  config.finalNorm = makeNorm("final_norm", "model.norm", hidden, false);
  readHead(reader, config, "lm_head.weight", /*tied=*/true, std);
}
