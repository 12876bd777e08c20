//===- MatmulModel.cpp - how long a matmul configuration takes ------------===//
//
// A closed-form estimate in cycles that ranks configurations, in the spirit of
// tritonBLAS (arXiv 2512.04226): whole waves of tiles; in a wave, the blocks
// that share a multiprocessor share its tensor cores, its shared memory and
// its path to L2, and each alone is held up by latencies. The rates are data
// sheet numbers per multiprocessor and clock; the latencies are round figures.
// It has not been fitted to measurements: only differences between
// configurations of one problem mean anything.
//
//===----------------------------------------------------------------------===//
#include "MatmulTiles.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"

using namespace tessera::kernels;

namespace {
/// Per multiprocessor and clock.
struct Rates {
  double products;    ///< multiply-adds at full use
  double sharedBytes; ///< 32 banks of 4 bytes
  double l2Bytes;
};

constexpr double kMemoryLatency = 700; ///< L2 or DRAM to shared memory, cycles
constexpr double kStepLatency = 80;    ///< barrier, then first fragments
constexpr double kStepIssue = 20;      ///< what no other block can hide of it
/// The slower resources hide only part of the time of the others.
constexpr double kExposed = 0.35;
constexpr double kSchedulers = 4; ///< of a multiprocessor, one warp each

Rates ratesOf(const MatmulSpec &spec, const ChipLimits &limits) {
  Rates rates{0, 128, 48};
  // NVIDIA A100 whitepaper, table 4: 1024 dense FP16/BF16 FMA and 64 FP32 FMA
  // per SM and clock, L2 reads of 5120 bytes per clock for 108 SMs. GA10x and
  // later have 128 FP32 lanes; GeForce-class tensor cores half the rate.
  bool small = limits.sharedBytesPerBlock < 128 * 1024;
  if (spec.type == Element::BF16)
    rates.products = small ? 512 : 1024;
  else
    rates.products = limits.computeCapability == 80 ? 64 : 128;
  return rates;
}
} // namespace

double tessera::kernels::matmulCycles(const MatmulSpec &spec,
                                      const MatmulConfig &config,
                                      const ChipLimits &limits) {
  MatmulTiles tiles(spec, config);
  Rates rates = ratesOf(spec, limits);
  double warps = config.warpsM * config.warpsN;
  double elementBytes = sizeOf(spec.type);
  double tileBytes =
      (config.blockM + config.blockN) * config.blockK * elementBytes;
  // ldmatrix reads every element of a warp's tile once; the f32 kernel reads 16
  // bytes for each lane, also where lanes read the same.
  double fragments = tiles.warpM + tiles.warpN;
  if (spec.type == Element::F32)
    fragments = tiles.warpM * kLanesN + tiles.warpN * kLanesM;
  double fragmentBytes = warps * fragments * config.blockK * elementBytes;
  double products =
      double(config.blockM) * config.blockN * config.blockK / rates.products;
  double shared = (fragmentBytes + tileBytes) / rates.sharedBytes;
  double l2 = tileBytes / rates.l2Bytes;

  double outputs = double(config.blockM) * config.blockN;
  double outputBytes = sizeOf(spec.outType) +
                       sizeOf(spec.type) * (spec.hasGate + spec.hasResidual);
  double epilogue =
      outputs * (8 / rates.sharedBytes + outputBytes / rates.l2Bytes);

  /// Time until `resident` blocks on one multiprocessor are done.
  auto wave = [&](double resident) {
    double busy = std::min(1.0, resident * warps / kSchedulers);
    double slowest = std::max({products / busy, shared, l2});
    double others = products / busy + shared + l2 - slowest;
    double together = resident * (slowest + kExposed * others + kStepIssue);
    double alone = std::max(
        products * kSchedulers / std::min(warps, kSchedulers) + kStepLatency,
        kMemoryLatency / double(config.stages - 1));
    return tiles.kTiles * std::max(together, alone) + resident * epilogue +
           2 * kMemoryLatency;
  };
  int64_t resident = matmulBlocksPerSM(spec, config, limits);
  int64_t total = tiles.gridM * tiles.gridN;
  int64_t perWave = resident * limits.multiprocessors;
  int64_t last = total % perWave;
  double cycles = double(total / perWave) * wave(resident);
  if (last)
    cycles += wave(double(ceilDiv(last, limits.multiprocessors)));
  return cycles;
}
