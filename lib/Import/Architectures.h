//===- Architectures.h - one reader per family of architectures -----------===//
#ifndef LIB_IMPORT_ARCHITECTURES_H
#define LIB_IMPORT_ARCHITECTURES_H

#include "lib/Import/ConfigReader.h"
#include "tessera/Import/ModelConfig.h"

namespace tessera {

/// More layers than this are a mistake in the config.
inline constexpr int64_t kMaxLayers = 100000;

/// Each fills `config` from a config.json of its architecture; failures go to
/// the reader.
void readLlamaFamily(const ConfigReader &reader, ModelConfig &config);
/// The parts of a Llama-like config that a mixture of experts shares with it.
void readMixture(const ConfigReader &reader, ModelConfig &config);
void readDeepSeek(const ConfigReader &reader, ModelConfig &config);
void readGPT2(const ConfigReader &reader, ModelConfig &config);
void readGPTNeoX(const ConfigReader &reader, ModelConfig &config);
void readGopher(const ConfigReader &reader, ModelConfig &config);
void readBert(const ConfigReader &reader, ModelConfig &config);

/// Rotary parameters of either spelling (`rope_scaling` beside `rope_theta`, or
/// `rope_parameters`); `theta` and `partialFactor` are what the architecture
/// takes where neither says.
RotaryConfig readRotary(const ConfigReader &reader, const ModelConfig &config,
                        double theta, double partialFactor);

/// The activation that the field `name` chooses.
std::string readActivation(const ConfigReader &reader, llvm::StringRef name,
                           llvm::StringRef otherwise);

/// Hidden size, layers, heads and vocabulary by their usual names; all needed.
void readSizes(const ConfigReader &reader, ModelConfig &config);

/// Width of a head where heads share the hidden size; fails where they cannot.
int64_t readHeadDim(const ConfigReader &reader, const ModelConfig &config,
                    llvm::StringRef hiddenName, llvm::StringRef headsName);

/// Heads against widths: what every architecture demands.
void checkHeads(const ConfigReader &reader, const ModelConfig &config,
                llvm::StringRef headsName, llvm::StringRef kvHeadsName);

/// Shorthands for the parameters of a family.
ParameterRef makeMatrix(llvm::StringRef symbol, llvm::StringRef checkpoint,
                        int64_t rows, int64_t columns, double std);
ParameterRef makeVector(llvm::StringRef symbol, llvm::StringRef checkpoint,
                        int64_t size, double mean);
/// Weight [out, in] and, with `bias`, a bias that starts at zero; `checkpoint`
/// lacks their ".weight" and ".bias".
LinearRef makeLinear(llvm::StringRef symbol, llvm::StringRef checkpoint,
                     int64_t out, int64_t in, double std, bool bias);
/// The head `checkpoint`, where `tie_word_embeddings` (`tied` if the config
/// lacks it) does not say that it is the embedding.
void readHead(const ConfigReader &reader, ModelConfig &config,
              llvm::StringRef checkpoint, bool tied, double std);
/// `[experts, rows, columns]`, one stored matrix per expert: `{expert}` in the
/// name stands for its number.
ParameterRef makeExperts(llvm::StringRef symbol, llvm::StringRef checkpoint,
                         int64_t experts, int64_t rows, int64_t columns,
                         double std);
/// Norm `name` of `size`; `checkpoint` lacks its ".weight".
NormRef makeNorm(llvm::StringRef symbol, llvm::StringRef checkpoint,
                 int64_t size, bool bias);

} // namespace tessera

#endif // LIB_IMPORT_ARCHITECTURES_H
