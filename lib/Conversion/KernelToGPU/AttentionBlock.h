//===- AttentionBlock.h - where a block of an attention kernel stands -----===//
//
// What the bf16 and the f32 kernel share: which batch, head and query rows a
// thread block computes, which key tiles those rows can see, and which of them
// need a mask.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONBLOCK_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONBLOCK_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

class AttentionBlock {
public:
  AttentionBlock(KernelBuilder &kb, const AttentionSpec &spec, int64_t blockQ,
                 int64_t blockKV);

  KernelBuilder &kb;
  const AttentionSpec &spec;
  const int64_t blockQ, blockKV;
  /// Keys further than this before the query are masked; 0: unbounded.
  const int64_t window;
  /// Bytes from one row of q (k) to the next.
  const int64_t queryStride, keyStride;

  mlir::Value firstQuery;          ///< i32
  mlir::Value firstTile, lastTile; ///< i32, key tiles [first, last)
  /// !llvm.ptr<1>: first query row of this block and head, in q and in out.
  mlir::Value q, out;
  /// !llvm.ptr<1>: key 0 of this batch and head.
  mlir::Value k, v;

  /// i32: rows of the query tile that exist; null if all do in every block.
  mlir::Value validQueries();
  /// i32: keys of tile `tile` that exist; null if all do in every tile.
  mlir::Value validKeys(mlir::Value tile);
  /// Start of key tile `tile` in `base` (k or v).
  mlir::Value tileStart(mlir::Value base, mlir::Value tile);

  /// i1: does some row of this block not see some key of `tile`? Null if that
  /// never happens.
  mlir::Value needsMask(mlir::Value tile);
  /// Row `row` (i32, in the block) sees the keys (low, high] of tile `tile`,
  /// counted from `firstKey` (i32, in the tile). `low` is null without a
  /// window, `high` if every key is seen.
  struct Visible {
    mlir::Value low, high;
  };
  Visible visible(mlir::Value tile, mlir::Value row, mlir::Value firstKey);

  /// A row may see no key in the first tile that is computed for it.
  bool rowsMayStartEmpty() const { return window > 0; }
  /// A row may see no key at all.
  bool rowsMayStayEmpty() const {
    return window > 0 && spec.seqQ - window >= spec.seqKV;
  }
};

/// Signed i32 minimum and maximum.
mlir::Value minSigned(KernelBuilder &kb, mlir::Value a, mlir::Value b);
mlir::Value maxSigned(KernelBuilder &kb, mlir::Value a, mlir::Value b);
/// Signed comparison of integers (or vectors of them).
mlir::Value lessSigned(KernelBuilder &kb, mlir::Value a, mlir::Value b);

/// The row statistics of online softmax: `maximum` is at least as large as
/// every score so far. Gives the value to subtract, which is finite even if
/// every score so far is -infinity.
mlir::Value finiteMaximum(KernelBuilder &kb, mlir::Value maximum);
/// 1 / sum, or 0 where the sum is 0 and `mayBeZero`.
mlir::Value inverseSum(KernelBuilder &kb, mlir::Value sum, bool mayBeZero);

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONBLOCK_H
