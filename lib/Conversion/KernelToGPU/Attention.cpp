//===- Attention.cpp - fused attention kernels ----------------------------===//
//
// The public side of the attention family: legality, launch shapes and the
// space of configurations.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/Attention.h"

#include "AttentionGeometry.h"
#include "AttentionKernels.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace tessera::kernels;
using llvm::formatv;

/// Most registers of a thread that accumulators and scores may take before
/// ptxas spills more than a handful (CUDA 13.0, sm_80 and sm_90).
static constexpr int64_t kTensorCoreTile = 168, kVectorTile = 136;

/// Largest number of blocks along y and z of a grid (CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability").
static constexpr int64_t kMaxGridYZ = 65535;

/// The most shared memory that a block has on any chip: sm_90's 227 KiB (same
/// table).
static constexpr int64_t kMaxSharedBytes = 227 * 1024;

static LogicalResult fail(std::string &error, std::string text) {
  error = std::move(text);
  return failure();
}

static int64_t threadsOf(const AttentionConfig &config) {
  return config.warps * tessera::kernels::kWarpSize;
}

static bool isTensorCore(const AttentionSpec &spec) {
  return spec.type == Element::BF16;
}

static int64_t sharedBytes(const AttentionSpec &spec,
                           const AttentionConfig &config) {
  return isTensorCore(spec) ? TensorCoreGeometry(spec, config).sharedBytes
                            : VectorGeometry(spec, config).sharedBytes;
}

SmallVector<Type>
tessera::kernels::attentionArgumentTypes(const AttentionSpec &spec,
                                         MLIRContext *context) {
  Type element = elementType(context, spec.type);
  Type query = globalMemRef(
      context, {spec.batch, spec.seqQ, spec.heads * spec.headDim}, element);
  Type key = globalMemRef(
      context, {spec.batch, spec.seqKV, spec.kvHeads * spec.headDim}, element);
  return {query, key, key, query};
}

LaunchShape
tessera::kernels::attentionLaunchShape(const AttentionSpec &spec,
                                       const AttentionConfig &config) {
  LaunchShape shape;
  shape.grid = {ceilDiv(spec.seqQ, config.blockQ), spec.heads, spec.batch};
  shape.block = {threadsOf(config), 1, 1};
  shape.dynamicSharedBytes = sharedBytes(spec, config);
  return shape;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

LogicalResult tessera::kernels::checkAttention(const AttentionSpec &spec,
                                               std::string &error) {
  const std::pair<const char *, int64_t> sizes[] = {
      {"batch", spec.batch},     {"seqQ", spec.seqQ},
      {"seqKV", spec.seqKV},     {"heads", spec.heads},
      {"kvHeads", spec.kvHeads}, {"headDim", spec.headDim}};
  for (auto [name, size] : sizes)
    if (size < 1)
      return fail(error, formatv("attention: expected a positive {0}, got {1}",
                                 name, size));
  if (spec.headDim > kMaxHeadDim)
    return fail(error, formatv("attention: expected a headDim of at most {0}, "
                               "got {1}",
                               kMaxHeadDim, spec.headDim));
  if (spec.heads % spec.kvHeads != 0)
    return fail(error, formatv("attention: expected heads to be a multiple of "
                               "kvHeads, got {0} and {1}",
                               spec.heads, spec.kvHeads));
  if (spec.window < 0)
    return fail(error, formatv("attention: expected a window of at least 0, "
                               "got {0}",
                               spec.window));
  if (!std::isfinite(spec.scale))
    return fail(error, "attention: expected a finite scale");
  // Positions and offsets within a tile are 32-bit.
  constexpr int64_t maxSequence = (int64_t(1) << 30);
  if (spec.seqQ > maxSequence || spec.seqKV > maxSequence)
    return fail(error, formatv("attention: expected sequences of at most {0}, "
                               "got {1} queries and {2} keys",
                               maxSequence, spec.seqQ, spec.seqKV));
  if (spec.heads > kMaxGridYZ || spec.batch > kMaxGridYZ)
    return fail(error, formatv("attention: expected at most {0} heads and "
                               "batch entries, got {1} and {2}",
                               kMaxGridYZ, spec.heads, spec.batch));
  return success();
}

static LogicalResult checkTensorCore(const AttentionSpec &spec,
                                     const AttentionConfig &config,
                                     std::string &error) {
  if (config.blockQ < 16 || config.blockQ % (16 * config.warps) != 0)
    return fail(error, formatv("attention: expected blockQ to be a multiple of "
                               "16 rows for each of {0} warps, got {1}",
                               config.warps, config.blockQ));
  if (config.blockKV < 16 || config.blockKV % 16 != 0)
    return fail(error, formatv("attention: expected blockKV to be a multiple "
                               "of 16, got {0}",
                               config.blockKV));
  if (config.stages < 1 || config.stages > 8)
    return fail(error, formatv("attention: expected 1 to 8 stages, got {0}",
                               config.stages));
  TensorCoreGeometry geometry(spec, config);
  if (geometry.accumulators + geometry.scores > kTensorCoreTile)
    return fail(error,
                formatv("attention: expected at most {0} accumulators and "
                        "scores a thread, got {1} of a {2} x {3} tile with {4} "
                        "warps and headDim {5}",
                        kTensorCoreTile,
                        geometry.accumulators + geometry.scores, config.blockQ,
                        config.blockKV, config.warps, spec.headDim));
  return success();
}

static LogicalResult checkVector(const AttentionSpec &spec,
                                 const AttentionConfig &config,
                                 std::string &error) {
  int64_t rowThreads = threadsOf(config) / VectorGeometry::colThreads;
  if (config.blockQ < 1 || config.blockQ % rowThreads != 0)
    return fail(error, formatv("attention: expected blockQ to be a multiple of "
                               "{0} with {1} warps in f32, got {2}",
                               rowThreads, config.warps, config.blockQ));
  if (config.blockKV != 16 && config.blockKV != 32 && config.blockKV != 64 &&
      config.blockKV != 128)
    return fail(error, formatv("attention: expected a blockKV of 16, 32, 64 or "
                               "128 in f32, got {0}",
                               config.blockKV));
  if (config.stages != 1)
    return fail(error, formatv("attention: expected 1 stage in f32, got {0}",
                               config.stages));
  VectorGeometry geometry(spec, config);
  if (geometry.accumulators + geometry.scores > kVectorTile)
    return fail(error,
                formatv("attention: expected at most {0} accumulators and "
                        "scores a thread, got {1} of a {2} x {3} tile with {4} "
                        "warps and headDim {5}",
                        kVectorTile, geometry.accumulators + geometry.scores,
                        config.blockQ, config.blockKV, config.warps,
                        spec.headDim));
  return success();
}

/// What holds on every chip.
static LogicalResult checkConfig(const AttentionSpec &spec,
                                 const AttentionConfig &config,
                                 std::string &error) {
  if (failed(checkAttention(spec, error)))
    return failure();
  if (config.warps < 1 || config.warps > 32)
    return fail(error, formatv("attention: expected 1 to 32 warps, got {0}",
                               config.warps));
  if (failed(isTensorCore(spec) ? checkTensorCore(spec, config, error)
                                : checkVector(spec, config, error)))
    return failure();
  int64_t rowBytes = spec.heads * spec.headDim * sizeOf(spec.type);
  int64_t rows = std::max(config.blockQ, config.blockKV);
  if (rowBytes > (int64_t(1) << 31) / rows - 1)
    return fail(error, formatv("attention: expected a tile of {0} rows to span "
                               "less than 2 GiB, got rows of {1} bytes",
                               rows, rowBytes));
  return success();
}

LogicalResult tessera::kernels::checkAttention(const AttentionSpec &spec,
                                               const AttentionConfig &config,
                                               const ChipLimits &limits,
                                               std::string &error) {
  if (failed(checkConfig(spec, config, error)))
    return failure();
  int64_t threads = threadsOf(config);
  if (threads > limits.threadsPerBlock)
    return fail(error, formatv("attention: expected at most {0} threads a "
                               "block, got {1}",
                               limits.threadsPerBlock, threads));
  int64_t bytes = sharedBytes(spec, config);
  if (bytes > limits.sharedBytesPerBlock)
    return fail(error, formatv("attention: expected at most {0} bytes of "
                               "shared memory a block, got {1}",
                               limits.sharedBytesPerBlock, bytes));
  if (attentionBlocksPerSM(spec, config, limits) < 1)
    return fail(error, formatv("attention: expected the registers of a block "
                               "to fit in {0}, got {1} threads of {2}",
                               limits.registersPerSM, threads,
                               attentionRegisters(spec, config)));
  return success();
}

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

int64_t tessera::kernels::attentionRegisters(const AttentionSpec &spec,
                                             const AttentionConfig &config) {
  // What ptxas needs beside the tiles: fragments, addresses, statistics.
  constexpr int64_t tensorCoreOthers = 112, vectorOthers = 144;
  int64_t registers;
  if (isTensorCore(spec)) {
    TensorCoreGeometry geometry(spec, config);
    registers = geometry.accumulators + geometry.scores + tensorCoreOthers;
  } else {
    VectorGeometry geometry(spec, config);
    registers = geometry.accumulators + geometry.scores + vectorOthers;
  }
  return std::min<int64_t>(registers, 255);
}

int64_t tessera::kernels::attentionBlocksPerSM(const AttentionSpec &spec,
                                               const AttentionConfig &config,
                                               const ChipLimits &limits) {
  int64_t threads = threadsOf(config);
  // Registers are handed out to warps in units of 256 (CUDA occupancy
  // calculator, compute capability 8.x and 9.0).
  int64_t perWarp =
      ceilDiv(attentionRegisters(spec, config) * tessera::kernels::kWarpSize,
              256) *
      256;
  int64_t blocks = limits.registersPerSM / (perWarp * config.warps);
  blocks = std::min(blocks, limits.threadsPerSM / threads);
  blocks =
      std::min(blocks, limits.sharedBytesPerSM / (sharedBytes(spec, config) +
                                                  limits.sharedBytesReserved));
  return std::min(blocks, limits.blocksPerSM);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

static bool isLegal(const AttentionSpec &spec, const AttentionConfig &config,
                    const ChipLimits &limits) {
  std::string ignored;
  return succeeded(checkAttention(spec, config, limits, ignored));
}

/// A tile of `size` rows is at least half full; the smallest always will do.
static bool worthwhile(int64_t size, int64_t sequence) {
  return size == 16 || size / 2 < sequence;
}

/// In order of preference; legality is checked afterwards.
static SmallVector<AttentionConfig> tensorCoreSpace(const AttentionSpec &spec) {
  // {blockQ, warps}: two 16-row tiles a warp halve the reads of keys and
  // values from shared memory, many rows a block those from L2.
  constexpr std::pair<int64_t, int64_t> rows[] = {{128, 4}, {128, 8}, {64, 4},
                                                  {64, 2},  {32, 2},  {16, 1}};
  SmallVector<AttentionConfig> space;
  for (auto [blockQ, warps] : rows) {
    // Few rows only where there are no more.
    if (!worthwhile(blockQ, spec.seqQ) || (blockQ < 64 && spec.seqQ > 32))
      continue;
    for (int64_t blockKV : {64, 32, 128, 16}) {
      if (!worthwhile(blockKV, spec.seqKV) ||
          (blockKV == 16 && spec.seqKV > 16))
        continue;
      for (int64_t stages : {2, 1, 3})
        space.push_back({blockQ, blockKV, warps, stages});
    }
  }
  return space;
}

static SmallVector<AttentionConfig> vectorSpace(const AttentionSpec &spec) {
  // Wide key tiles first (the score product reads one query element for
  // blockKV / 8 keys), then many rows a thread while their accumulators fit.
  SmallVector<AttentionConfig> space;
  for (int64_t blockKV : {64, 32, 16})
    for (int64_t rowsPerThread : {8, 4, 2})
      for (int64_t blockQ : {64, 128, 32, 16}) {
        int64_t warps = blockQ / rowsPerThread / 4;
        if (warps >= 1 && worthwhile(blockQ, spec.seqQ) &&
            worthwhile(blockKV, spec.seqKV))
          space.push_back({blockQ, blockKV, warps, 1});
      }
  return space;
}

SmallVector<AttentionConfig>
tessera::kernels::attentionCandidates(const AttentionSpec &spec,
                                      const ChipLimits &limits) {
  std::string ignored;
  if (failed(checkAttention(spec, ignored)))
    return {};
  SmallVector<AttentionConfig> legal;
  for (const AttentionConfig &config :
       isTensorCore(spec) ? tensorCoreSpace(spec) : vectorSpace(spec))
    if (isLegal(spec, config, limits))
      legal.push_back(config);
  return legal;
}

AttentionConfig
tessera::kernels::defaultAttentionConfig(const AttentionSpec &spec,
                                         const ChipLimits &limits) {
  SmallVector<AttentionConfig> legal = attentionCandidates(spec, limits);
  assert(!legal.empty() && "no configuration for a legal spec");
  return legal.front();
}

FailureOr<gpu::GPUFuncOp>
tessera::kernels::buildAttention(OpBuilder &builder, gpu::GPUModuleOp module,
                                 StringRef name, const AttentionSpec &spec,
                                 const AttentionConfig &config) {
  std::string error;
  if (failed(checkConfig(spec, config, error)))
    return module.emitError() << error;
  if (int64_t bytes = sharedBytes(spec, config); bytes > kMaxSharedBytes)
    return module.emitError()
           << "attention: expected at most " << kMaxSharedBytes
           << " bytes of shared memory a block, got " << bytes;
  KernelBuilder kb(builder, module, name,
                   attentionArgumentTypes(spec, builder.getContext()),
                   threadsOf(config));
  if (isTensorCore(spec))
    buildTensorCoreAttention(kb, spec, config);
  else
    buildVectorAttention(kb, spec, config);
  return kb.finish();
}
