//===- ModelConfig.h - a transformer, whatever its architecture -----------===//
//
// What a Hugging Face config.json says, brought to one form for all supported
// architectures: sizes, which parts exist, and for each parameter its name in
// the checkpoint, its shape and how it is carved out. Plain C++, no MLIR type,
// so that the planner can read a model without building it.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_IMPORT_MODELCONFIG_H
#define TESSERA_IMPORT_MODELCONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// With at most so many every count of parameters, bytes and FLOPs stays far
/// from overflow.
constexpr double kMostParameters = 1e15;

/// One parameter (or, with `{layer}` in its name, one per layer).
struct ParameterRef {
  std::string symbol;     ///< name in the program
  std::string checkpoint; ///< name in the checkpoint
  std::vector<int64_t> shape;
  /// A part of a fused tensor: reshape to `reshape`, take `index` along `dim`.
  std::vector<int64_t> reshape;
  int64_t dim = 0, index = 0;
  /// Shape that a fused tensor has in the checkpoint; empty where the tensor is
  /// taken whole.
  std::vector<int64_t> storedShape;
  double initMean = 0.0, initStd = 0.0;
  /// Dimension 0 is the vocabulary and may be padded when it is split.
  bool padded = false;
  /// Kept in f32 whatever the program's element type.
  bool f32 = false;
  /// The layers that have it, where its name has `{layer}`; -1: all.
  int64_t firstLayer = 0, layerCount = -1;

  bool isLayered() const {
    return checkpoint.find("{layer}") != std::string::npos;
  }
  /// One stored tensor per expert; `shape` begins with the number of experts.
  bool isPerExpert() const {
    return checkpoint.find("{expert}") != std::string::npos;
  }
};

struct LinearRef {
  ParameterRef weight;
  std::optional<ParameterRef> bias;
  bool inOut = false; ///< weight is [in, out]
};

struct NormRef {
  ParameterRef weight;
  std::optional<ParameterRef> bias;
};

/// Parameters of `#tessera.rotary`, see there.
struct RotaryConfig {
  double theta = 10000.0;
  int64_t dim = 0;
  std::string scaling = "none"; ///< none, linear, llama3 or yarn
  std::optional<double> factor, lowFreqFactor, highFreqFactor, betaFast,
      betaSlow, attentionFactor, mscale, mscaleAllDim;
  bool truncate = true;
  int64_t originalPositions = 0;
};

/// The experts of a mixture-of-experts layer.
struct ExpertsConfig {
  int64_t experts = 0, topK = 0, intermediate = 0;
  std::string scoring = "softmax"; ///< softmax or sigmoid
  bool normalize = true;
  double scale = 1.0;
  int64_t groups = 1, topGroups = 1;
  ParameterRef router;                    ///< [experts, hidden]
  std::optional<ParameterRef> routerBias; ///< f32 [experts]
  ParameterRef gate, up, down;            ///< [experts, out, in]
  /// Gated MLP that every token passes; width of its hidden layer.
  int64_t sharedIntermediate = 0;
  std::optional<LinearRef> sharedGate, sharedUp, sharedDown;
};

/// Multi-head latent attention (DeepSeek-V2 and V3).
struct LatentConfig {
  int64_t kvRank = 0, nopeDim = 0, ropeDim = 0, valueDim = 0;
  /// Low-rank queries; without them `q` is the whole projection.
  std::optional<LinearRef> qDown;
  std::optional<NormRef> qNorm;
  LinearRef q;      ///< to heads * (nopeDim + ropeDim)
  LinearRef kvDown; ///< to kvRank + ropeDim
  NormRef kvNorm;
  LinearRef kvUp; ///< to heads * (nopeDim + valueDim)
};

/// Attention whose scores depend on the distance (Transformer-XL).
struct RelativeConfig {
  LinearRef projection; ///< of the distances' encodings, to all heads
  ParameterRef contentBias, positionBias;
};

/// What a masked language model does before its tied head.
struct HeadTransform {
  LinearRef dense; ///< followed by the model's activation
  NormRef norm;
};

struct ModelConfig {
  std::string architecture; ///< "LlamaForCausalLM"
  std::string dtype;        ///< of the checkpoint: "f32", "bf16", "f16" or ""
  /// What config.json says and this does not hold, one line each: fields that
  /// nothing reads, stored forms that are taken for others.
  std::vector<std::string> notes;
  bool quantized = false; ///< the checkpoint's weights are no plain numbers
  /// Their number format, as --weights of `tessera estimate` names it ("fp8",
  /// "int4"); "": plain numbers, or a method that is not known.
  std::string quantizedFormat;
  /// What of the model is planned with but cannot be loaded or computed ("the
  /// fused qkv_proj of grouped heads"); "": nothing.
  std::string planOnly;
  int64_t hidden = 0, layers = 0, heads = 0, kvHeads = 0, headDim = 0;
  int64_t intermediate = 0, vocab = 0, maxPositions = 0;
  /// Sliding window of each layer, 0 for none.
  std::vector<int64_t> windows;
  /// Whether a layer has experts instead of the dense MLP; empty: none has.
  std::vector<bool> expertLayers;
  std::optional<ExpertsConfig> experts;
  /// Instead of q, k and v.
  std::optional<LatentConfig> latent;
  /// Besides q, k and v.
  std::optional<RelativeConfig> relative;
  double attentionScale = 1.0;
  bool causal = true; ///< a token sees earlier ones only
  /// Norms stand behind the residual sums instead of before the layers' halves.
  bool postNorm = false;
  bool layerNorm = false; ///< layer norm (else RMS norm)
  double normEps = 1e-6;
  std::string activation; ///< gelu, gelu_tanh, silu or relu
  bool parallelResidual = false;
  std::optional<RotaryConfig> rotary; ///< without it: learned positions

  ParameterRef embedding;
  std::optional<ParameterRef> positions;
  /// Row of the token-type table that all tokens get: they are of one segment.
  std::optional<ParameterRef> tokenType;
  std::optional<NormRef> embeddingNorm;
  NormRef attentionNorm, mlpNorm;
  std::optional<NormRef> finalNorm;
  LinearRef q, k, v, o;
  std::optional<NormRef> qNorm, kNorm; ///< RMS norms of each head
  std::optional<LinearRef> gate;       ///< gated MLP
  /// Unused (no shape) where all layers have experts.
  LinearRef up, down;
  std::optional<HeadTransform> headTransform;
  std::optional<ParameterRef> head;     ///< absent: tied to the embedding
  std::optional<ParameterRef> headBias; ///< f32, as the logits
  /// Prefix that a checkpoint of the bare model lacks ("transformer.").
  std::string prefix;
  /// Endings of tensors that checkpoints hold and the model does not read
  /// (masks, frequencies).
  std::vector<std::string> ignoredTensors;

  /// Every parameter, in the order of the program.
  void
  forEachParameter(llvm::function_ref<void(const ParameterRef &)> visit) const;
  /// The same, to change them.
  void updateParameters(llvm::function_ref<void(ParameterRef &)> update);
  /// Elements of the checkpoint's tensors, each once, also where only a part
  /// of one is read.
  int64_t numParameters() const;
  /// Parameters that one token passes: of the experts only the chosen.
  int64_t numActiveParameters() const;
  bool hasExperts(int64_t layer) const {
    return !expertLayers.empty() && expertLayers[layer];
  }
  bool hasDenseLayers() const;
  int64_t layersOf(const ParameterRef &parameter) const {
    return parameter.layerCount < 0 ? layers : parameter.layerCount;
  }
};

/// The supported architectures, as `architectures` in config.json names them.
llvm::ArrayRef<llvm::StringRef> getSupportedArchitectures();

/// Reads a parsed config.json; `path` is named in errors, which say the field,
/// what is expected and what was there.
llvm::Expected<ModelConfig> parseModelConfig(const llvm::json::Value &json,
                                             llvm::StringRef path);

/// Reads `path`: a model folder, its config.json, the `.mlir` file of a graph
/// as the `import` phase leaves one, or the name of a shipped model (see
/// ShippedModels.h). A graph that no config stands for is an error.
llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path);

/// Where the config lies: `path` itself, or config.json in the folder `path`.
llvm::Expected<std::string> findModelConfig(llvm::StringRef path);

} // namespace tessera

#endif // TESSERA_IMPORT_MODELCONFIG_H
