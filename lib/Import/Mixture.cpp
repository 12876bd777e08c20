//===- Mixture.cpp - Mixtral, Qwen3-MoE and OLMoE -------------------------===//
//
// Llama-like decoders whose MLP is a choice of experts. Names and defaults are
// those of `transformers` (configuration_mixtral.py,
// configuration_qwen3_moe.py, configuration_olmoe.py).
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Architectures.h"

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

/// Qwen3-MoE: layers in `mlp_only_layers`, and those that `decoder_sparse_step`
/// skips, keep the dense MLP.
static std::vector<bool> readExpertLayers(const ConfigReader &reader,
                                          const ModelConfig &config) {
  int64_t step = reader.integer({"decoder_sparse_step"}, 1);
  std::vector<bool> layers(config.layers);
  for (int64_t i = 0; i < config.layers; ++i)
    layers[i] = (i + 1) % step == 0;
  if (const llvm::json::Array *dense = reader.array("mlp_only_layers"))
    for (const llvm::json::Value &value : *dense) {
      std::optional<int64_t> layer = value.getAsInteger();
      if (!layer || *layer < 0 || *layer >= config.layers)
        reader.failField("mlp_only_layers", "has " + describeJson(value) +
                                                ", expected layers from 0 to " +
                                                Twine(config.layers - 1));
      else
        layers[*layer] = false;
    }
  return layers;
}

/// Layers of one kind must be one range: parameters are declared by ranges.
static void assignLayers(const ConfigReader &reader, const ModelConfig &config,
                         StringRef field, bool experts,
                         llvm::ArrayRef<ParameterRef *> parameters) {
  int64_t first = -1, count = 0, last = -1;
  for (int64_t i = 0; i < config.layers; ++i)
    if (config.expertLayers[i] == experts) {
      first = first < 0 ? i : first;
      last = i;
      ++count;
    }
  if (count > 0 && last - first + 1 != count)
    return reader.failField(field, "mixes layers with and without experts, "
                                   "which is supported only where each kind is "
                                   "one range of layers");
  for (ParameterRef *parameter : parameters) {
    parameter->firstLayer = std::max<int64_t>(first, 0);
    parameter->layerCount = count;
  }
}

void tessera::readMixture(const ConfigReader &reader, ModelConfig &config) {
  readLlamaFamily(reader, config);
  bool isMixtral = config.architecture == "MixtralForCausalLM";
  bool isOlmoe = config.architecture == "OlmoeForCausalLM";
  double std = reader.number({"initializer_range"}, 0.02, 0.0);
  ExpertsConfig experts;
  experts.experts =
      reader.integer({isMixtral ? "num_local_experts" : "num_experts"});
  experts.topK = reader.integer({"num_experts_per_tok"});
  if (experts.topK > experts.experts)
    reader.failField("num_experts_per_tok",
                     "(" + Twine(experts.topK) + ") exceeds the " +
                         Twine(experts.experts) + " experts");
  experts.intermediate = isMixtral || isOlmoe
                             ? config.intermediate
                             : reader.integer({"moe_intermediate_size"});
  // Mixtral's softmax over the chosen logits is the normalised one over all.
  experts.normalize = isMixtral || reader.boolean("norm_topk_prob", false);
  const std::string mlp = std::string("model.layers.{layer}.") +
                          (isMixtral ? "block_sparse_moe." : "mlp.");
  const std::string expert = mlp + "experts.{expert}.";
  auto matrix = [&](StringRef symbol, StringRef mixtral, StringRef qwen,
                    int64_t out, int64_t in) {
    return makeExperts(
        symbol, (expert + (isMixtral ? mixtral : qwen) + ".weight").str(),
        experts.experts, out, in, std);
  };
  experts.router = makeMatrix("router", mlp + "gate.weight", experts.experts,
                              config.hidden, std);
  experts.gate = matrix("expert_gate", "w1", "gate_proj", experts.intermediate,
                        config.hidden);
  experts.up =
      matrix("expert_up", "w3", "up_proj", experts.intermediate, config.hidden);
  experts.down = matrix("expert_down", "w2", "down_proj", config.hidden,
                        experts.intermediate);
  config.expertLayers = isMixtral || isOlmoe
                            ? std::vector<bool>(config.layers, true)
                            : readExpertLayers(reader, config);
  assignLayers(reader, config, "mlp_only_layers", true,
               {&experts.router, &experts.gate, &experts.up, &experts.down});
  if (config.hasDenseLayers())
    assignLayers(
        reader, config, "mlp_only_layers", false,
        {&config.gate->weight, &config.up.weight, &config.down.weight});
  config.experts = std::move(experts);
}
