//===- Bert.cpp - BertForMaskedLM -----------------------------------------===//
//
// An encoder: every token sees every other, layer norms stand behind the
// residual sums, learned positions and token types are added to the embedding
// and the sum is normalised; before the tied head stand a linear, the
// activation and a norm (Devlin et al. 2018, arXiv 1810.04805). Names and
// defaults are those of `transformers` (configuration_bert.py,
// modeling_bert.py). All tokens are of the first segment, as there where no
// token types are given. The pooler and the next-sentence head of pre-training
// checkpoints are no part of the masked language model.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;

static const std::string kLayer = "bert.encoder.layer.{layer}.";

/// What older releases could ask for and this graph is not.
static void refuseVariants(const ConfigReader &reader) {
  reader.onlySupported("is_decoder", false);
  reader.onlySupported("add_cross_attention", false);
  reader.onlySupported("tie_word_embeddings", true);
  std::string kind = reader.text({"position_embedding_type"}, "absolute");
  if (kind != "absolute")
    reader.failField("position_embedding_type",
                     "is '" + kind + "', only 'absolute' is supported");
}

void tessera::readBert(const ConfigReader &reader, ModelConfig &config) {
  readSizes(reader, config);
  config.kvHeads = config.heads;
  config.intermediate = reader.integer({"intermediate_size"});
  config.maxPositions = reader.integer({"max_position_embeddings"}, 512);
  config.headDim =
      readHeadDim(reader, config, "hidden_size", "num_attention_heads");
  refuseVariants(reader);
  config.causal = false;
  config.postNorm = true;
  config.layerNorm = true;
  config.normEps = reader.number({"layer_norm_eps"}, 1e-12, 0.0);
  config.activation = readActivation(reader, "hidden_act", "gelu");
  config.attentionScale = 1.0 / std::sqrt(static_cast<double>(config.headDim));
  config.windows.assign(config.layers, 0);

  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  // No prefix that a checkpoint could lack: without the head nothing is left
  // to compute a loss with.
  config.ignoredTensors = {
      "bert.embeddings.position_ids", "bert.pooler.dense.weight",
      "bert.pooler.dense.bias",       "cls.seq_relationship.weight",
      "cls.seq_relationship.bias",    "cls.predictions.decoder.weight",
      "cls.predictions.decoder.bias"};
  int64_t hidden = config.hidden;
  auto linear = [&](StringRef symbol, const std::string &path, int64_t out,
                    int64_t in) {
    return makeLinear(symbol, path, out, in, std, /*bias=*/true);
  };
  const std::string embeddings = "bert.embeddings.";
  config.embedding = makeMatrix("embed", embeddings + "word_embeddings.weight",
                                config.vocab, hidden, std);
  config.embedding.padded = true;
  config.positions =
      makeMatrix("positions", embeddings + "position_embeddings.weight",
                 config.maxPositions, hidden, std);
  int64_t types = reader.integer({"type_vocab_size"}, 2);
  ParameterRef tokenType = makeVector(
      "token_type", embeddings + "token_type_embeddings.weight", hidden, 0.0);
  tokenType.initStd = std;
  tokenType.storedShape = tokenType.reshape = {types, hidden};
  config.tokenType = std::move(tokenType);
  config.embeddingNorm =
      makeNorm("embedding_norm", embeddings + "LayerNorm", hidden, true);

  const std::string attention = kLayer + "attention.";
  config.q = linear("q", attention + "self.query", hidden, hidden);
  config.k = linear("k", attention + "self.key", hidden, hidden);
  config.v = linear("v", attention + "self.value", hidden, hidden);
  config.o = linear("o", attention + "output.dense", hidden, hidden);
  config.attentionNorm =
      makeNorm("attention_norm", attention + "output.LayerNorm", hidden, true);
  config.up =
      linear("up", kLayer + "intermediate.dense", config.intermediate, hidden);
  config.down =
      linear("down", kLayer + "output.dense", hidden, config.intermediate);
  config.mlpNorm =
      makeNorm("mlp_norm", kLayer + "output.LayerNorm", hidden, true);

  const std::string head = "cls.predictions.";
  HeadTransform transform;
  transform.dense =
      linear("transform", head + "transform.dense", hidden, hidden);
  transform.norm =
      makeNorm("transform_norm", head + "transform.LayerNorm", hidden, true);
  config.headTransform = std::move(transform);
  config.headBias = makeVector("head_bias", head + "bias", config.vocab, 0.0);
  config.headBias->padded = true;
  config.headBias->f32 = true;
}
