//===- Kernel.cpp - roofline with tiles, waves and memory levels ----------===//
//
// Matrix products: a kernel covers the result with tiles, one tile (or a slice
// of its reduction) per multiprocessor at a time; the last wave may be partly
// empty, and each tile pays a ramp of some steps of k. Small tiles reuse less
// and run slower. The library is assumed to pick the best tile. Sources: NVIDIA
// "Matrix Multiplication Background User's Guide" (tile and wave quantisation,
// relative speed of tiles, alignment rules).
//
// Fused attention: a fitted fraction of peak, lower for short rows and narrow
// heads (FlashAttention-2, arXiv 2307.08691, figures 4-6).
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Kernel.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

namespace {
struct Tile {
  int m, n;
  double speed; ///< of the largest tile's rate per multiprocessor
};
} // namespace

// Relative speeds after the guide's figure 3 (256x128 down to 64x64 on A100).
static constexpr Tile kTiles[] = {
    {256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.96},
    {64, 128, 0.82}, {128, 64, 0.82}, {64, 64, 0.62},
};
/// Seconds that a tile loses filling its pipeline and writing its result: some
/// round trips to memory (600-800 ns each), whatever the arithmetic rate. So
/// the faster the units, the longer a product must be to run at speed.
static constexpr double kRamp = 1.5e-6;
/// Rate of experts' products in 8 bits, relative to that of 16-bit ones, where
/// each expert's are kernels of their own. One value for all chips, from the
/// steps of Megatron-Core and NeMo with experts, which repeat in both formats.
/// pytorch/ao's grouped kernels (see BlockLowering::quantise) lose as much in
/// one product of the three, the weight's gradient: 57 % of peak for 75.
static constexpr double kUnfusedNarrowExperts = 0.85;
/// Shortest slice of k worth a multiprocessor of its own.
static constexpr double kShortestSplit = 384;

/// Matrix units need rows aligned to 16 bytes; libraries fall back to slower
/// kernels otherwise (the guide's section on alignment).
static double alignmentSpeed(int64_t dim, DataType type) {
  int64_t bytes = static_cast<int64_t>(dim * bytesOf(type));
  if (bytes % 16 == 0)
    return 1.0;
  return bytes % 8 == 0 ? 0.5 : 0.3;
}

/// Relative speed for an op whose operands' rows have lengths n and k, in all
/// three of its products (its rows of tokens are never contiguous). Batches of
/// products fall back to the vector units: with heads of 108 or 450 elements
/// the BigScience chronicles ("NHEADS comparison") lose 30 and 23 % of a step
/// to 3 % of its operations.
static double operandAlignment(const MatmulShape &s, DataType type,
                               const Chip &chip) {
  double speed = std::min(alignmentSpeed(s.k, type), alignmentSpeed(s.n, type));
  double peak = chip.peak(type);
  if (speed < 1.0 && s.batch > 1 && peak > 0 && chip.fp32 > 0)
    return std::min(speed, chip.fp32 / peak);
  return speed;
}

/// A part limited to less power sustains a lower clock; dynamic power grows
/// with about the cube of the clock near the limit, of which half is dynamic.
static double powerScale(const Chip &chip) {
  if (chip.referencePowerWatts <= 0 ||
      chip.powerWatts >= chip.referencePowerWatts)
    return 1.0;
  return std::pow(chip.powerWatts / chip.referencePowerWatts, 0.4);
}

static double matmulEfficiency(DataType type, const ChipConstants &c) {
  switch (type) {
  case DataType::FP8:
  case DataType::INT8:
    return c.matmul8;
  case DataType::FP4:
    return c.matmul4;
  default:
    return c.matmul16;
  }
}

/// std::ceil of what is not negative, without the call: the search asks for
/// millions of tilings.
static inline double roundUp(double x) {
  auto whole = static_cast<double>(static_cast<int64_t>(x));
  return whole < x ? whole + 1.0 : whole;
}

/// Compute time of products whose matrix units run at `aligned` of their speed.
static double computeTime(const MatmulShape &s, DataType type, double aligned,
                          const DeviceModel &device) {
  if (s.m <= 0 || s.n <= 0 || s.k <= 0)
    return 0.0;
  const Chip &chip = *device.chip;
  double peak = chip.peak(type);
  if (peak <= 0)
    return 0.0;
  double batch = std::max<int64_t>(s.batch, 1);
  double rate = peak * matmulEfficiency(type, *device.constants) *
                powerScale(chip) * aligned / std::max(chip.numSMs, 1);
  double best = 1e30;
  // All multiprocessors busy with no tile cut off and no ramp.
  double ideal = 2.0 * batch * double(s.m) * double(s.n) * double(s.k) /
                 (rate * std::max(chip.numSMs, 1));
  for (const Tile &tile : kTiles) {
    if (ideal >= best * tile.speed)
      continue;
    double tiles =
        batch * roundUp(double(s.m) / tile.m) * roundUp(double(s.n) / tile.n);
    for (int split = 1; split <= 4; split *= 2) {
      double k = roundUp(double(s.k) / split);
      if (split > 1 && k < kShortestSplit)
        break;
      double waves = tiles * split / chip.numSMs;
      // Several tiles are resident on a multiprocessor, and tails of one
      // kernel overlap the head of the next: a partial wave costs less than
      // a whole one once there are several.
      double whole = roundUp(waves);
      double cost = waves <= 1 ? 1.0 : 0.5 * (whole + waves);
      double time =
          cost * (2.0 * tile.m * tile.n * k / (rate * tile.speed) + kRamp);
      best = std::min(best, time);
    }
  }
  return best;
}

double tessera::matmulComputeTime(const MatmulShape &s, DataType type,
                                  const DeviceModel &device) {
  return computeTime(s, type, operandAlignment(s, type, *device.chip), device);
}

double MatmulTimes::get(const MatmulShape &s, DataType type, double aligned,
                        const DeviceModel &device) {
  uint64_t hash = 0;
  for (int64_t n : {s.batch, s.m, s.n, s.k, int64_t(type)})
    hash = (hash ^ uint64_t(n)) * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio
  Slot &slot = slots[hash >> 52];
  static_assert(kSlots == size_t(1) << 12, "the hash's upper bits");
  bool same = slot.seconds >= 0 && slot.shape.batch == s.batch &&
              slot.shape.m == s.m && slot.shape.n == s.n &&
              slot.shape.k == s.k && slot.type == type &&
              slot.aligned == aligned;
  if (!same)
    slot = {s, type, aligned, computeTime(s, type, aligned, device)};
  return slot.seconds;
}

static double productTime(const MatmulShape &shape, DataType type,
                          double aligned, const DeviceModel &device) {
  return device.matmuls ? device.matmuls->get(shape, type, aligned, device)
                        : computeTime(shape, type, aligned, device);
}

double tessera::memoryTime(double bytes, const DeviceModel &device) {
  double rate = device.chip->memoryBandwidth * device.constants->memory;
  if (bytes < 0.5 * device.chip->l2Bytes)
    rate *= 2.0; // L2 of these parts reads two to three times as fast as HBM
  return bytes / rate;
}

static double attentionTime(const OpFeature &op, double flops, bool backward,
                            const DeviceModel &device) {
  const ChipConstants &c = *device.constants;
  double peak = device.chip->peak(DataType::BF16);
  if (peak <= 0)
    return 0.0;
  double efficiency = c.attention * (backward ? c.attentionBackward : 1.0);
  double rows = std::max<double>(op.shape.m, 1);
  double width = std::max<double>(op.shape.k, 1);
  efficiency *= rows / (rows + 256.0);
  // FlashAttention-2 on Hopper reaches 35 % of peak where a kernel written for
  // it reaches 75 % (arXiv 2407.08608, section 1).
  int capability = device.chip->computeCapability;
  bool first = device.attention == AttentionKernel::Flash1;
  bool old = first || device.attention == AttentionKernel::Flash2 ||
             (device.attention == AttentionKernel::Sdpa && capability < 100);
  if (old && capability >= 90)
    efficiency *= 35.0 / 75.0;
  // 25-40 % of peak where the second version reaches 50-73 % (arXiv 2307.08691,
  // abstract and section 1).
  if (first)
    efficiency *= (25.0 + 40.0) / (50.0 + 73.0);
  efficiency *= std::min(1.0, 0.7 + 0.3 * width / 128.0);
  return flops / (peak * efficiency * powerScale(*device.chip));
}

double tessera::opTime(const OpFeature &op, Direction direction,
                       const DeviceModel &device) {
  bool backward = direction == Direction::Backward;
  const PassCost &cost = backward ? op.backward : op.forward;
  int launches = backward ? op.backwardLaunches : op.forwardLaunches;
  double bytes = double(cost.bytesRead) + double(cost.bytesWritten);
  if (bytes == 0 && cost.matmulFlops == 0 && cost.vectorFlops == 0)
    return 0.0;
  double gaps = launches * device.constants->kernelGap;
  switch (op.kernel) {
  case KernelClass::None:
  case KernelClass::Collective:
    return 0.0;
  case KernelClass::Matmul:
  case KernelClass::GroupedMatmul: {
    const MatmulShape &s = op.shape;
    double one = 2.0 * std::max<int64_t>(s.batch, 1) * double(s.m) * s.n * s.k;
    double aligned = operandAlignment(s, op.type, *device.chip);
    double compute = productTime(s, op.type, aligned, device);
    if (backward) {
      // The two products of the backward pass: input and weight gradients.
      double input =
          productTime({s.batch, s.m, s.k, s.n}, op.type, aligned, device);
      double weight =
          productTime({s.batch, s.k, s.n, s.m}, op.type, aligned, device);
      compute = cost.matmulFlops > 1.5 * one ? input + weight : input;
    }
    if (op.kernel == KernelClass::GroupedMatmul) {
      compute /= device.constants->groupedMatmul;
      if (bytesOf(op.type) < 2 && !device.fusedExperts)
        compute /= kUnfusedNarrowExperts;
    }
    return std::max(compute, memoryTime(bytes, device)) + gaps;
  }
  case KernelClass::Attention:
    return std::max(attentionTime(op, cost.matmulFlops, backward, device),
                    memoryTime(bytes, device)) +
           gaps;
  case KernelClass::Elementwise:
  case KernelClass::RowReduction:
  case KernelClass::Gather: {
    double vector = device.chip->fp32 > 0
                        ? cost.vectorFlops / (0.5 * device.chip->fp32)
                        : 0.0;
    return std::max(vector, memoryTime(bytes * device.vectorTraffic, device)) +
           gaps;
  }
  }
  return 0.0;
}
