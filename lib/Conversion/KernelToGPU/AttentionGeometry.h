//===- AttentionGeometry.h - tiles of an attention kernel in numbers ------===//
//
// What follows from a spec and a config by arithmetic alone: padded sizes, the
// layout of shared memory, values per thread. The checks, the launch shape and
// the builders read the same numbers here.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONGEOMETRY_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONGEOMETRY_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

namespace tessera::kernels {

/// Largest head dimension: accumulators of one row of a warp's tile must stay
/// in registers.
constexpr int64_t kMaxHeadDim = 256;

/// The bf16 kernel. A warp owns `rowTiles` times 16 query rows. Shared memory
/// holds the query tile and, per stage, a key tile and a value tile, each as
/// swizzled rows of `paddedDim` elements.
struct TensorCoreGeometry {
  int64_t threads;
  int64_t rowTiles;    ///< 16-row tiles per warp
  int64_t paddedDim;   ///< head dimension, multiple of 16
  int64_t copyBytes;   ///< bytes per copy: 16, 8, 4 (cp.async) or 2
  int64_t queryBytes;  ///< of the query tile
  int64_t kvTileBytes; ///< of one key or value tile
  int64_t sharedBytes;
  int64_t accumulators; ///< f32 registers of a thread's output tile
  int64_t scores;       ///< f32 registers of a thread's score tile
  /// Query fragments stay in registers; otherwise they are read again from
  /// shared memory for each key tile.
  bool queriesInRegisters;

  TensorCoreGeometry(const AttentionSpec &spec, const AttentionConfig &config);
};

/// The f32 kernel. Threads form a grid of `rowThreads` x 8; a thread owns
/// `rowsPerThread` query rows (rowThreads apart), for each of them
/// `keysPerThread` adjacent keys of a tile and every eighth slice of
/// `sliceWidth` output columns. Shared memory holds the query tile, the
/// transposed key tile, the value tile, the probabilities and eight partial
/// row maxima.
struct VectorGeometry {
  static constexpr int64_t colThreads = 8;
  int64_t threads;
  int64_t rowThreads, rowsPerThread;
  int64_t keysPerThread;
  int64_t paddedDim, sliceWidth, slices;
  /// Pitches in elements: four more than a multiple of the 32 banks where
  /// threads of several rows read at once.
  int64_t queryPitch, keyPitch, probabilityPitch;
  /// Offsets in bytes.
  int64_t keyOffset, valueOffset, probabilityOffset, partialOffset;
  int64_t sharedBytes;
  int64_t accumulators, scores;

  VectorGeometry(const AttentionSpec &spec, const AttentionConfig &config);
};

/// A window that reaches past the first key for every query is none.
int64_t effectiveWindow(const AttentionSpec &spec);

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONGEOMETRY_H
