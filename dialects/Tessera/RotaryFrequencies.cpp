//===- RotaryFrequencies.cpp - inverse frequencies of rotary embeddings ---===//
//
// The frequencies as the `transformers` library computes them (its functions
// of modeling_rope_utils.py, version 5): powers, reciprocals and interpolation
// in float32, the limits of the ramps in double. Keeping its rounding matters
// because an angle is a position times a frequency: at position 10^4 a
// frequency's last float32 bit is about 10^-3 radian.
// Sources: Su et al. 2021, arXiv 2104.09864; Peng et al. 2023, arXiv
// 2309.00071 (yarn); the Llama 3.1 model card's code (llama3).
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tessera;

static constexpr double kPi = 3.14159265358979323846;

static double valueOr(FloatAttr attr, double otherwise) {
  return attr ? attr.getValueAsDouble() : otherwise;
}

/// theta^(2 i / dim) for i < dim / 2.
static SmallVector<float> getPeriods(double theta, int64_t dim) {
  SmallVector<float> periods;
  for (int64_t i = 0; i < dim; i += 2)
    periods.push_back(
        std::pow(static_cast<float>(theta),
                 static_cast<float>(i) / static_cast<float>(dim)));
  return periods;
}

/// Long wavelengths are divided by `factor`, short ones kept, those between
/// interpolated.
static float scaleLlama3(float frequency, double factor, double low,
                         double high, double positions) {
  float wavelength = static_cast<float>(2 * kPi) / frequency;
  auto lowLimit = static_cast<float>(positions / low);
  auto highLimit = static_cast<float>(positions / high);
  if (wavelength > lowLimit)
    return frequency / static_cast<float>(factor);
  if (wavelength < highLimit)
    return frequency;
  float smooth =
      (static_cast<float>(positions) / wavelength - static_cast<float>(low)) /
      static_cast<float>(high - low);
  return (1.0f - smooth) * frequency / static_cast<float>(factor) +
         smooth * frequency;
}

/// Index of the frequency that turns `rotations` times within `positions`.
static double yarnCorrectionDim(double rotations, double dim, double theta,
                                double positions) {
  return dim * std::log(positions / (rotations * 2 * kPi)) /
         (2 * std::log(theta));
}

static SmallVector<double> yarnFrequencies(RotaryAttr rotary) {
  double dim = rotary.getDim(), theta = rotary.getTheta().getValueAsDouble();
  double positions = rotary.getOriginalPositions();
  double low = yarnCorrectionDim(valueOr(rotary.getBetaFast(), 32), dim, theta,
                                 positions);
  double high = yarnCorrectionDim(valueOr(rotary.getBetaSlow(), 1), dim, theta,
                                  positions);
  if (rotary.getTruncate()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  if (low == high)
    high += 0.001; // No division by zero.
  auto factor = static_cast<float>(rotary.getFactor().getValueAsDouble());
  SmallVector<double> frequencies;
  for (auto [i, period] : llvm::enumerate(getPeriods(theta, rotary.getDim()))) {
    float ramp = (static_cast<float>(i) - static_cast<float>(low)) /
                 static_cast<float>(high - low);
    float keep = 1.0f - std::clamp(ramp, 0.0f, 1.0f);
    frequencies.push_back(1.0f / (factor * period) * (1.0f - keep) +
                          1.0f / period * keep);
  }
  return frequencies;
}

SmallVector<double> RotaryAttr::getInverseFrequencies() const {
  RotaryScaling scaling = getScaling();
  if (scaling == RotaryScaling::Yarn)
    return yarnFrequencies(*this);
  SmallVector<double> frequencies;
  for (float period : getPeriods(getTheta().getValueAsDouble(), getDim())) {
    float frequency = 1.0f / period;
    if (scaling == RotaryScaling::Linear)
      frequency /= static_cast<float>(getFactor().getValueAsDouble());
    if (scaling == RotaryScaling::Llama3)
      frequency = scaleLlama3(frequency, getFactor().getValueAsDouble(),
                              getLowFreqFactor().getValueAsDouble(),
                              getHighFreqFactor().getValueAsDouble(),
                              getOriginalPositions());
    frequencies.push_back(frequency);
  }
  return frequencies;
}

double RotaryAttr::getCosSinFactor() const {
  if (getScaling() != RotaryScaling::Yarn)
    return 1.0;
  if (getAttentionFactor())
    return getAttentionFactor().getValueAsDouble();
  double factor = getFactor().getValueAsDouble();
  auto scale = [&](double m) {
    return factor <= 1 ? 1.0 : 0.1 * m * std::log(factor) + 1.0;
  };
  double m = valueOr(getMscale(), 0), all = valueOr(getMscaleAllDim(), 0);
  return m != 0 && all != 0 ? scale(m) / scale(all) : scale(1);
}
