//===- Accounting.cpp - parameters, FLOPs, memory, time and energy --------===//
#include "Accounting.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

ModelState tessera::modelState(double parameters) {
  return {2 * parameters, 2 * parameters, 12 * parameters};
}

int64_t tessera::minimumGPUs(double bytes, double bytesPerGPU) {
  double gpus = std::ceil(bytes / bytesPerGPU);
  return int64_t(std::clamp(gpus, 1.0, 1e18));
}

Expected<TrainingCost> tessera::trainingCost(const TrainingRun &r) {
  int given = (r.mfu != 0) + (r.gpuHours != 0) + (r.tokensPerSecondPerGPU != 0);
  if (given != 1)
    return makeError("give one of --mfu, --gpu-hours and --tokens-per-second; "
                     "the others follow from it");
  for (auto [name, value] :
       {std::pair<StringRef, double>{"the number of parameters", r.parameters},
        {"--tokens", r.tokens},
        {"the chip's peak", r.peak},
        {"--mfu", r.mfu},
        {"--gpu-hours", r.gpuHours},
        {"--tokens-per-second", r.tokensPerSecondPerGPU}}) {
    // The two of the last three that are not given are zero.
    bool known = !name.starts_with("--") || name == "--tokens";
    if (known ? !(value > 0) : !(value >= 0))
      return makeError(name + " must be positive, got " +
                       formatNumber(value, 3));
  }
  TrainingCost c;
  c.flops = 6 * r.parameters * r.tokens;
  double secondsAtPeak = c.flops / r.peak; // of one GPU
  if (r.mfu > 0)
    c.mfu = r.mfu;
  else if (r.gpuHours > 0)
    c.mfu = secondsAtPeak / (r.gpuHours * 3600);
  else
    c.mfu = 6 * r.parameters * r.tokensPerSecondPerGPU / r.peak;
  if (c.mfu > 1)
    return makeError("that is " +
                     (c.mfu < 1e6 ? formatPercent(c.mfu) + " of"
                                  : formatv("{0:e1} times", c.mfu).str()) +
                     " the peak; at most 100 % is possible");
  c.gpuHours = secondsAtPeak / c.mfu / 3600;
  c.tokensPerSecondPerGPU = c.mfu * r.peak / (6 * r.parameters);
  if (r.gpus > 0)
    c.days = c.gpuHours / 24 / double(r.gpus);
  c.energyWattHours = c.gpuHours * r.powerWatts * kPowerUsageEffectiveness;
  return c;
}

/// Scales: 32 bits for 128 x 128 elements (DeepSeek-V3, arXiv 2412.19437,
/// section 3.3), 8 bits for 32 (OCP Microscaling Formats 1.0) or 16 (NVFP4),
/// and 16 bits with a zero point of 4 for 128 (GPTQ's and AWQ's usual groups).
static constexpr ServingFormat kWeightFormats[] = {
    {"bf16", 2},
    {"fp16", 2},
    {"fp8", 1 + 4.0 / (128 * 128)},
    {"int8", 1},
    {"mxfp4", 0.5 + 1.0 / 32},
    {"nvfp4", 0.5 + 1.0 / 16},
    {"int4", 0.5 + 2.5 / 128}};

static Expected<ServingFormat> formatAmong(ArrayRef<ServingFormat> formats,
                                           StringRef flag, StringRef name) {
  std::vector<StringRef> names;
  for (const ServingFormat &format : formats) {
    if (format.name == name)
      return format;
    names.push_back(format.name);
  }
  return makeError(
      flag + ": expected " + join(ArrayRef(names).drop_back(), ", ") + " or " +
      names.back() + ", got '" + name + "'" + didYouMean(name, names));
}

Expected<ServingFormat> tessera::weightFormat(StringRef flag, StringRef name) {
  return formatAmong(kWeightFormats, flag, name);
}

Expected<ServingFormat> tessera::cacheFormat(StringRef flag, StringRef name) {
  // Scales of whole tensors or heads.
  static constexpr ServingFormat formats[] = {
      {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}};
  return formatAmong(formats, flag, name);
}

/// Elements of all layers' parameters, and of those that formats shorten.
static std::pair<double, double> layerElements(const ModelConfig &config) {
  double all = 0, matrices = 0;
  config.forEachParameter([&](const ParameterRef &parameter) {
    if (!parameter.isLayered())
      return;
    double elements = double(config.layersOf(parameter));
    for (int64_t size : parameter.shape)
      elements *= double(size);
    all += elements;
    if (parameter.shape.size() > 1 && parameter.symbol != "router")
      matrices += elements;
  });
  return {all, matrices};
}

double tessera::layerBytes(const ModelConfig &config,
                           const ServingFormat &format) {
  auto [all, matrices] = layerElements(config);
  return all > 0 ? 2 + (format.bytes - 2) * matrices / all : 2;
}

double tessera::servedWeightBytes(const ModelConfig &config,
                                  const ServingFormat &format) {
  double layers = layerElements(config).first;
  return layers * layerBytes(config, format) +
         2 * (double(config.numParameters()) - layers);
}

double tessera::cacheBytes(const ModelConfig &c, int64_t sequence,
                           double elementBytes) {
  if (!c.causal)
    return 0;
  // Keys and values of a position in one layer; latent attention keeps the
  // compressed row and the shared rotary key (arXiv 2405.04434, section 2.1.3).
  double row = c.latent
                   ? double(c.latent->kvRank + c.latent->ropeDim)
                   : 2.0 * double(c.kvHeads ? c.kvHeads : c.heads) * c.headDim;
  double positions = 0;
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    int64_t window = layer < int64_t(c.windows.size()) ? c.windows[layer] : 0;
    positions += double(window > 0 ? std::min(window, sequence) : sequence);
  }
  return positions * row * elementBytes;
}
