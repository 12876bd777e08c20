//===- MatmulTiles.h - what both matmul kernels share -----------*- C++ -*-===//
//
// Numbers derived from spec and config, the order of tiles, reading a tile of
// an operand with its edges, and the epilogue.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_MATMULTILES_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_MATMULTILES_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

/// Lanes of a warp in the f32 kernel: 4 rows of 8.
constexpr int64_t kLanesM = 4, kLanesN = 8;

struct MatmulTiles {
  MatmulTiles(const MatmulSpec &spec, const MatmulConfig &config);

  MatmulSpec spec;
  MatmulConfig config;
  int64_t threads;
  int64_t gridM, gridN, kTiles;
  /// Rows and columns of the tile of one warp.
  int64_t warpM, warpN;
  /// Shared memory of the main loop; a stage holds tile a, then the weight's.
  int64_t aBytes, bBytes, pipelineBytes;
  /// The epilogue passes the result through shared memory in `slabs` pieces,
  /// each holding the next rows of every warp, in rows of `stagingPitch` f32.
  int64_t slabs, stagingPitch, stagingBytes;

  int64_t sharedBytes() const { return std::max(pipelineBytes, stagingBytes); }
  /// Rows that one warp contributes to a slab, a multiple of 16.
  int64_t slabRows() const { return warpM / slabs; }
};

/// Row and column of the block's tile, in tiles. Blocks walk down groups of
/// `groupM` rows of tiles, so that the blocks that run together share tiles of
/// both operands in L2.
std::pair<mlir::Value, mlir::Value> tilePosition(KernelBuilder &kb,
                                                 const MatmulTiles &tiles);

/// Reading tiles of an operand from global memory. A tile is `rows` x `cols`;
/// the products' k runs along the columns (a, weight [n, k]) or along the rows
/// (weight [k, n]). Beyond the edge of the other dimension the last row or
/// column is read again (those products are never stored), beyond k there are
/// zeros.
class Operand {
public:
  /// `start` is the tile's first row (or column) in the dimension that is not
  /// k; the tensor is `extent` long there.
  Operand(KernelBuilder &kb, mlir::Value memref, mlir::Value start,
          int64_t extent, int64_t k, int64_t rows, int64_t cols, bool kInRows,
          int64_t elementBytes);

  int64_t rows, cols;
  /// Elements of one access: all accesses are aligned to its size.
  int64_t width;

  /// Where the elements at (row, col) .. (row, col + width) of the tile at k =
  /// `k0` lie; `valid` is null if they exist for certain.
  struct Access {
    mlir::Value pointer, valid;
  };
  /// The part of the address that does not change with k.
  mlir::Value anchor(mlir::Value row, mlir::Value col);
  Access access(mlir::Value anchor, mlir::Value row, mlir::Value col,
                mlir::Value k0);
  /// Bytes between the same column of rows `distance` apart, where anchors
  /// may be shared: no clamping of rows takes place.
  std::optional<int64_t> rowStep(int64_t distance) const;

private:
  KernelBuilder &kb;
  mlir::Value base, start;
  int64_t extent, k, pitch, elementBytes;
  bool kInRows, clamp;
};

/// The block's tiles of a [m, k] and of the weight, in that order.
std::pair<Operand, Operand>
matmulOperands(KernelBuilder &kb, const MatmulTiles &tiles, mlir::Value tileRow,
               mlir::Value tileCol, int64_t elementBytes);

/// Writes the block's tile of results. `stage(slab, staging)` has to store the
/// f32 sums of the slab into shared memory at `staging`: row
/// `warpRow * slabRows() + i`, i < slabRows(), holds row
/// `warpRow * warpM + slab * slabRows() + i` of the tile. The main loop's
/// shared memory must be free once all threads have called this.
void emitEpilogue(
    KernelBuilder &kb, const MatmulTiles &tiles, mlir::Value tileRow,
    mlir::Value tileCol,
    llvm::function_ref<void(int64_t slab, mlir::Value staging)> stage);

/// The bodies; `kb` stands in a new function with matmulArgumentTypes.
void emitMatmulBF16(KernelBuilder &kb, const MatmulTiles &tiles);
void emitMatmulF32(KernelBuilder &kb, const MatmulTiles &tiles);

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_MATMULTILES_H
