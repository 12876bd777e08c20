//===- AttentionGeometry.cpp - tiles of an attention kernel in numbers ----===//
#include "AttentionGeometry.h"

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

using namespace tessera::kernels;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return ceilDiv(value, multiple) * multiple;
}

/// A thread has 255 registers; fragments of keys and values, addresses and
/// row statistics need about 70 of them.
static constexpr int64_t kFragmentRegisters = 184;

TensorCoreGeometry::TensorCoreGeometry(const AttentionSpec &spec,
                                       const AttentionConfig &config) {
  threads = config.warps * kWarpSize;
  rowTiles = config.blockQ / (16 * config.warps);
  paddedDim = roundUp(spec.headDim, 16);
  copyBytes = 2 * vectorWidth(spec.headDim, 2);
  queryBytes = config.blockQ * paddedDim * 2;
  kvTileBytes = config.blockKV * paddedDim * 2;
  sharedBytes = queryBytes + config.stages * 2 * kvTileBytes;
  accumulators = rowTiles * paddedDim / 2;
  scores = rowTiles * config.blockKV / 2;
  int64_t queries = rowTiles * paddedDim / 4;
  queriesInRegisters = accumulators + scores + queries <= kFragmentRegisters;
}

VectorGeometry::VectorGeometry(const AttentionSpec &spec,
                               const AttentionConfig &config) {
  threads = config.warps * kWarpSize;
  rowThreads = threads / colThreads;
  rowsPerThread = config.blockQ / rowThreads;
  keysPerThread = config.blockKV / colThreads;
  paddedDim = roundUp(spec.headDim, 4 * colThreads);
  sliceWidth = paddedDim % (8 * colThreads) == 0 ? 8 : 4;
  slices = paddedDim / (sliceWidth * colThreads);
  queryPitch = roundUp(spec.headDim, 32) + 4;
  keyPitch = config.blockKV;
  probabilityPitch = roundUp(config.blockKV, 32) + 4;
  keyOffset = 4 * config.blockQ * queryPitch;
  valueOffset = keyOffset + 4 * spec.headDim * keyPitch;
  probabilityOffset = valueOffset + 4 * config.blockKV * paddedDim;
  partialOffset = probabilityOffset + 4 * config.blockQ * probabilityPitch;
  sharedBytes = partialOffset + 4 * config.blockQ * colThreads;
  accumulators = rowsPerThread * paddedDim / colThreads;
  scores = rowsPerThread * keysPerThread;
}

int64_t tessera::kernels::effectiveWindow(const AttentionSpec &spec) {
  return spec.window >= spec.seqQ ? 0 : spec.window;
}
