//===- Accounting.h - parameters, FLOPs, memory, time and energy ----------===//
//
// The arithmetic of training budgets as plain functions. FLOPs of training are
// 6 N D (Kaplan et al. 2020, arXiv 2001.08361, section 2.1) where nothing else
// is said; MFU is model FLOPs over peak (PaLM, arXiv 2204.02311, appendix B).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_ACCOUNTING_ACCOUNTING_H
#define TESSERA_LIB_PLANNING_ACCOUNTING_ACCOUNTING_H

#include "tessera/Import/ModelConfig.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace tessera {

/// Bytes of mixed-precision training with Adam, 16 bytes a parameter
/// (arXiv 1910.02054, section 3.1).
struct ModelState {
  double weights, gradients, optimizer;
  double total() const { return weights + gradients + optimizer; }
};
ModelState modelState(double parameters);

/// GPUs whose memory together holds `bytes`. A GPU "of 80 GB" has 80 GiB.
int64_t minimumGPUs(double bytes, double bytesPerGPU);

/// What is known of a training run; the rest follows.
struct TrainingRun {
  double parameters = 0; ///< active, where there are experts
  double tokens = 0;
  double peak = 0;       ///< FLOP/s of one GPU
  double powerWatts = 0; ///< of one GPU
  int64_t gpus = 0;      ///< 0: not given, then no days
  /// One of these is given.
  double mfu = 0, gpuHours = 0, tokensPerSecondPerGPU = 0;
};

struct TrainingCost {
  double flops = 0; ///< 6 N D
  double mfu = 0, gpuHours = 0, tokensPerSecondPerGPU = 0;
  double days = 0;
  double energyWattHours = 0;
};

/// Power usage effectiveness of LLaMA's data centre (arXiv 2302.13971,
/// section 6).
constexpr double kPowerUsageEffectiveness = 1.1;

/// Fails unless exactly one of mfu, gpuHours and tokensPerSecondPerGPU is
/// given, or where they would mean more than the peak.
llvm::Expected<TrainingCost> trainingCost(const TrainingRun &run);

/// A number format that weights or caches are served in.
struct ServingFormat {
  llvm::StringRef name;
  double bytes; ///< of an element, with its share of the scales
};
/// The format that `name` is; `flag` is named in errors. Caches have no formats
/// below 8 bits.
llvm::Expected<ServingFormat> weightFormat(llvm::StringRef flag,
                                           llvm::StringRef name);
llvm::Expected<ServingFormat> cacheFormat(llvm::StringRef flag,
                                          llvm::StringRef name);

/// Bytes of a parameter of the layers, on average, whose matrices are in
/// `format`; norms, biases and routers stay in 16 bits.
double layerBytes(const ModelConfig &config, const ServingFormat &format);
/// Bytes of all weights; embedding and head stay in 16 bits too.
double servedWeightBytes(const ModelConfig &config,
                         const ServingFormat &format);

/// Bytes of the key-value cache of one sequence: grouped heads, latent
/// attention's compressed rows, and no more positions than a layer's window. An
/// encoder keeps none.
double cacheBytes(const ModelConfig &config, int64_t sequence,
                  double elementBytes = 2);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_ACCOUNTING_ACCOUNTING_H
