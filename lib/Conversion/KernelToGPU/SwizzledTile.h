//===- SwizzledTile.h - 16-bit tiles in shared memory -----------*- C++ -*-===//
//
// A tile of rows of 16-bit elements whose 16-byte chunks are permuted within
// each row, so that the eight rows of an 8x8 matrix that `ldmatrix` reads at
// once lie in different banks, without padding. With c chunks a row and
// g = gcd(c, 8), chunk j of row r is stored at j xor ((r / (8 / g)) mod g):
// the rows r .. r + 8/g - 1 differ in bank because of the row pitch, the others
// because of the xor.
//
// The permutation depends on r mod 8 only, so a fragment's address is a lane
// constant plus an immediate.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_SWIZZLEDTILE_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_SWIZZLEDTILE_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

/// Where rows of a tile come from in global memory. Row i starts
/// `i * rowStride` bytes after the tile's start.
struct TileSource {
  mlir::Value pointer;   ///< !llvm.ptr<1>, start of the tile
  int64_t rowStride;     ///< bytes
  int64_t usedBytes;     ///< of each row
  int64_t copyBytes;     ///< divides usedBytes, rowStride and all addresses
  mlir::Value validRows; ///< i32, at least 1; null if every row exists
};

class SwizzledTile {
public:
  /// Offsets of the calling lane for `ldmatrix` x4 on 16 rows x 2 chunks.
  struct Fragments {
    llvm::SmallVector<mlir::Value> offsets;
  };

  /// `cols` elements a row, a multiple of 16.
  SwizzledTile(KernelBuilder &kb, int64_t cols);

  int64_t rowBytes() const { return chunks * 16; }

  /// Byte offset (i32) of `byte` (i32, in the unswizzled row) of row `row`.
  mlir::Value offset(mlir::Value row, mlir::Value byte);

  /// Copies `rows` rows to `tile` (!llvm.ptr<3>) with all threads of the block;
  /// rows from `validRows` on become zeros. cp.async (not committed) if
  /// copyBytes is at least 4, otherwise loads and stores.
  void copyIn(mlir::Value tile, int64_t rows, const TileSource &source);

  /// Zeros in [usedBytes, rowBytes) of `rows` rows; multiples of `width`.
  void clearPadding(mlir::Value tile, int64_t rows, int64_t usedBytes,
                    int64_t width);

  /// Matrices in the order of an A operand (rows 0-7, rows 8-15, then the
  /// second chunk); transposed on load, that of two B operands [k][n].
  Fragments rowsThenChunks();
  /// Matrices in the order of two B operands stored as [n][k]: both chunks of
  /// rows 0-7, then of rows 8-15.
  Fragments chunksThenRows();
  /// Loads the four matrices at rows [row, row + 16), a multiple of 8, and
  /// chunks 2 * pair, 2 * pair + 1 of the tile that starts at `tile`.
  llvm::SmallVector<mlir::Value> load(const Fragments &lanes, mlir::Value tile,
                                      int64_t row, int64_t pair,
                                      bool transpose = false);

private:
  Fragments fragments(mlir::Value row, mlir::Value chunk);
  void copyChunk(mlir::Value tile, const TileSource &source, mlir::Value row,
                 mlir::Value byte);
  void copyChunkAt(mlir::Value to, const TileSource &source, mlir::Value row,
                   mlir::Value fromOffset);

  KernelBuilder &kb;
  int64_t chunks;
  int64_t group; ///< gcd(chunks, 8)
};

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_SWIZZLEDTILE_H
