//===- MatmulConfig.cpp - legal and sensible matmul configurations --------===//
#include "MatmulTiles.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace mlir;
using namespace tessera::kernels;
using llvm::formatv;
namespace kernels = tessera::kernels;

static std::string checkSpec(const MatmulSpec &spec) {
  if (spec.m < 1 || spec.n < 1 || spec.k < 1)
    return formatv("expected m, n and k of at least 1, got m = {0}, n = {1}, "
                   "k = {2}",
                   spec.m, spec.n, spec.k);
  // Element offsets times element size stay far from 2^63.
  constexpr int64_t limit = int64_t(1) << 56;
  for (auto [x, y] : {std::pair(spec.m, spec.n), std::pair(spec.m, spec.k),
                      std::pair(spec.n, spec.k)})
    if (x > limit / y)
      return formatv("expected operands of at most 2^56 elements, got {0} x "
                     "{1}",
                     x, y);
  if (!spec.hasGate && spec.gateActivation != Activation::None)
    return "gate activation without a gate";
  return "";
}

static std::string checkShape(const MatmulSpec &spec,
                              const MatmulConfig &config) {
  for (auto [name, value] :
       {std::pair("blockM", config.blockM), std::pair("blockN", config.blockN),
        std::pair("blockK", config.blockK), std::pair("warpsM", config.warpsM),
        std::pair("warpsN", config.warpsN), std::pair("stages", config.stages),
        std::pair("groupM", config.groupM)})
    if (value < 1 || value > 4096)
      return formatv("expected {0} from 1 to 4096, got {1}", name, value);
  int64_t warps = config.warpsM * config.warpsN;
  if (warps > 32)
    return formatv("expected at most 32 warps, got {0} x {1}", config.warpsM,
                   config.warpsN);
  if (ceilDiv(spec.m, config.blockM) >
      std::numeric_limits<int32_t>::max() / ceilDiv(spec.n, config.blockN))
    return formatv("expected at most 2^31 - 1 tiles, got {0} x {1}",
                   ceilDiv(spec.m, config.blockM),
                   ceilDiv(spec.n, config.blockN));
  return "";
}

static std::string checkBF16(const MatmulSpec &spec,
                             const MatmulConfig &config) {
  if (config.blockM % (16 * config.warpsM) != 0)
    return formatv("expected blockM to be a multiple of 16 rows per warp ({0} "
                   "for warpsM = {1}), got {2}",
                   16 * config.warpsM, config.warpsM, config.blockM);
  if (config.blockN % (16 * config.warpsN) != 0)
    return formatv("expected blockN to be a multiple of 16 columns per warp "
                   "({0} for warpsN = {1}), got {2}",
                   16 * config.warpsN, config.warpsN, config.blockN);
  if (!llvm::isPowerOf2_64(config.blockK) || config.blockK < 16 ||
      config.blockK > 256)
    return formatv("expected blockK to be a power of two from 16 to 256, got "
                   "{0}",
                   config.blockK);
  if (!spec.weightOutIn && !llvm::isPowerOf2_64(config.blockN))
    return formatv("expected blockN to be a power of two for a weight [k, n], "
                   "got {0}",
                   config.blockN);
  if (config.stages < 2 || config.stages > 8)
    return formatv("expected 2 to 8 stages, got {0}", config.stages);
  return "";
}

static std::string checkF32(const MatmulConfig &config) {
  int64_t rows = config.warpsM * kLanesM * 4,
          cols = config.warpsN * kLanesN * 4;
  int64_t groupsM = config.blockM / rows, groupsN = config.blockN / cols;
  if (config.blockM % rows != 0 || groupsM > 4)
    return formatv("expected blockM to be {0}, {1}, {2} or {3} for warpsM = "
                   "{4}, got {5}",
                   rows, 2 * rows, 3 * rows, 4 * rows, config.warpsM,
                   config.blockM);
  if (config.blockN % cols != 0 || groupsN > 2)
    return formatv("expected blockN to be {0} or {1} for warpsN = {2}, got {3}",
                   cols, 2 * cols, config.warpsN, config.blockN);
  if (!llvm::isPowerOf2_64(config.blockK) || config.blockK < 8 ||
      config.blockK > 64)
    return formatv("expected blockK to be a power of two from 8 to 64, got {0}",
                   config.blockK);
  if (!llvm::isPowerOf2_64(config.blockN))
    return formatv("expected blockN to be a power of two, got {0}",
                   config.blockN);
  if (config.stages != 2)
    return formatv("expected 2 stages (double buffering), got {0}",
                   config.stages);
  int64_t perAccess = config.warpsM * config.warpsN * kernels::kWarpSize * 4;
  for (auto [name, block] :
       {std::pair("blockM", config.blockM), std::pair("blockN", config.blockN)})
    if (block * config.blockK % perAccess != 0)
      return formatv("expected {0} * blockK to be a multiple of 4 elements per "
                     "thread ({1}), got {2} * {3}",
                     name, perAccess, block, config.blockK);
  return "";
}

LogicalResult tessera::kernels::checkMatmul(const MatmulSpec &spec,
                                            const MatmulConfig &config,
                                            const ChipLimits &limits,
                                            std::string &error) {
  error = checkSpec(spec);
  if (error.empty())
    error = checkShape(spec, config);
  if (error.empty())
    error =
        spec.type == Element::BF16 ? checkBF16(spec, config) : checkF32(config);
  if (!error.empty())
    return failure();
  MatmulTiles tiles(spec, config);
  if (tiles.threads > limits.threadsPerBlock)
    error = formatv("expected at most {0} threads, got {1}",
                    limits.threadsPerBlock, tiles.threads);
  else if (tiles.sharedBytes() > limits.sharedBytesPerBlock)
    error = formatv("expected at most {0} bytes of shared memory, got {1}",
                    limits.sharedBytesPerBlock, tiles.sharedBytes());
  else if (int64_t registers = matmulRegisters(spec, config);
           registers > limits.registersPerThread ||
           registers * tiles.threads > limits.registersPerSM)
    error = formatv("expected at most {0} registers per thread and {1} per "
                    "block, got about {2} and {3}",
                    limits.registersPerThread, limits.registersPerSM, registers,
                    registers * tiles.threads);
  return success(error.empty());
}

/// Accesses with which one thread copies a tile of `elements`, each with an
/// address of two registers.
static int64_t copiesPerThread(int64_t elements, int64_t pitch, Element type,
                               int64_t threads) {
  return ceilDiv(elements / vectorWidth(pitch, sizeOf(type)), threads);
}

int64_t tessera::kernels::matmulRegisters(const MatmulSpec &spec,
                                          const MatmulConfig &config) {
  MatmulTiles tiles(spec, config);
  int64_t threads = tiles.threads;
  int64_t sums = config.blockM * config.blockN / threads;
  int64_t bPitch = spec.weightOutIn ? spec.k : spec.n;
  int64_t aCopies = copiesPerThread(config.blockM * config.blockK, spec.k,
                                    spec.type, threads);
  int64_t bCopies = copiesPerThread(config.blockN * config.blockK, bPitch,
                                    spec.type, threads);
  // The constant parts are the smallest that bound what ptxas 13.0 reports for
  // the kernels of MatmulConfigTest.cpp (addresses, loop state, temporaries).
  if (spec.type == Element::F32) {
    int64_t inFlight =
        (config.blockM + config.blockN) * config.blockK / threads;
    int64_t operands = (tiles.warpM / kLanesM + tiles.warpN / kLanesN) * 2;
    return sums + inFlight + operands + 2 * (aCopies + bCopies) + 48;
  }
  // Whole rows are a constant distance apart, and copies that cannot be
  // unrolled compute their addresses as they go.
  bool wholeM = spec.m % config.blockM == 0;
  bool wholeN = spec.n % config.blockN == 0 || !spec.weightOutIn;
  if (wholeM || aCopies > 16)
    aCopies = 1;
  if (wholeN || bCopies > 16)
    bCopies = 1;
  // Fragments of two k-steps, 4 registers per 16 rows and per 16 columns.
  int64_t fragments = 2 * (tiles.warpM / 4 + tiles.warpN / 4);
  return sums + fragments + 2 * (aCopies + bCopies) + 32;
}

int64_t tessera::kernels::matmulBlocksPerSM(const MatmulSpec &spec,
                                            const MatmulConfig &config,
                                            const ChipLimits &limits) {
  MatmulTiles tiles(spec, config);
  // Registers are given out in units of 8 per thread.
  int64_t registers = llvm::alignTo(matmulRegisters(spec, config), 8);
  int64_t shared = tiles.sharedBytes() + limits.sharedBytesReserved;
  return std::min({limits.registersPerSM / (registers * tiles.threads),
                   limits.sharedBytesPerSM / shared,
                   limits.threadsPerSM / tiles.threads, limits.blocksPerSM});
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static int64_t roundUpToPowerOf2(int64_t value) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(value)));
}

static SmallVector<MatmulConfig> allBF16() {
  SmallVector<MatmulConfig> configs;
  for (int64_t blockM : {16, 32, 64, 128, 256})
    for (int64_t blockN : {32, 64, 128, 256})
      for (int64_t blockK : {32, 64})
        for (int64_t warpsM : {1, 2, 4})
          for (int64_t warpsN : {1, 2, 4})
            for (int64_t stages : {2, 3, 4, 5}) {
              int64_t warpM = blockM / warpsM, warpN = blockN / warpsN;
              // Warp tiles from 16x16 to 64x64: smaller ones load more
              // fragments than they multiply, larger ones spill.
              if (warpM < 16 || warpN < 16 || warpM > 64 || warpN > 64)
                continue;
              // A block of one big warp leaves the copies to too few threads.
              if (warpsM * warpsN < 2 && blockM * blockN > 32 * 64)
                continue;
              configs.push_back(
                  {blockM, blockN, blockK, warpsM, warpsN, stages, 8});
            }
  return configs;
}

static SmallVector<MatmulConfig> allF32() {
  SmallVector<MatmulConfig> configs;
  for (int64_t warpsM : {1, 2, 4})
    for (int64_t warpsN : {1, 2, 4})
      for (int64_t groupsM : {1, 2})
        for (int64_t groupsN : {1, 2})
          for (int64_t blockK : {8, 16, 32})
            configs.push_back({warpsM * kLanesM * 4 * groupsM,
                               warpsN * kLanesN * 4 * groupsN, blockK, warpsM,
                               warpsN, 2, 8});
  return configs;
}

/// All legal configurations whose tile is no larger than the problem.
static SmallVector<MatmulConfig> legalConfigs(const MatmulSpec &spec,
                                              const ChipLimits &limits) {
  std::string error;
  SmallVector<MatmulConfig> legal;
  // A tile taller or wider than the problem multiplies nothing but padding.
  int64_t maxM = std::max<int64_t>(roundUpToPowerOf2(spec.m), 16);
  int64_t maxN = std::max<int64_t>(roundUpToPowerOf2(spec.n), 32);
  for (const MatmulConfig &config :
       spec.type == Element::BF16 ? allBF16() : allF32())
    if (config.blockM <= maxM && config.blockN <= maxN &&
        succeeded(checkMatmul(spec, config, limits, error)))
      legal.push_back(config);
  return legal;
}

SmallVector<MatmulConfig>
tessera::kernels::matmulCandidates(const MatmulSpec &spec,
                                   const ChipLimits &limits) {
  if (!checkSpec(spec).empty())
    return {};
  SmallVector<MatmulConfig> legal = legalConfigs(spec, limits);
  // The fastest first; among equals three stages, which hide memory latency
  // that varies, then the least shared memory.
  auto cost = [&](const MatmulConfig &config) {
    return std::tuple(matmulCycles(spec, config, limits),
                      std::abs(config.stages - 3),
                      MatmulTiles(spec, config).sharedBytes());
  };
  auto first =
      std::min_element(legal.begin(), legal.end(),
                       [&](const MatmulConfig &a, const MatmulConfig &b) {
                         return cost(a) < cost(b);
                       });
  if (first != legal.end())
    std::rotate(legal.begin(), first, std::next(first));
  return legal;
}

MatmulConfig tessera::kernels::defaultMatmulConfig(const MatmulSpec &spec,
                                                   const ChipLimits &limits) {
  SmallVector<MatmulConfig> candidates = matmulCandidates(spec, limits);
  if (!candidates.empty())
    return candidates.front();
  return spec.type == Element::BF16 ? MatmulConfig{16, 32, 32, 1, 1, 2, 8}
                                    : MatmulConfig{16, 32, 8, 1, 1, 2, 8};
}
