//===- RowKernels.h - what the row kernels share ----------------*- C++ -*-===//
//
// Rows handled by one warp each: four warps to a block, so that a block's
// shared resources never limit occupancy, and no barrier anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_KERNELTOGPU_ROWKERNELS_H
#define LIB_CONVERSION_KERNELTOGPU_ROWKERNELS_H

#include "tessera/Conversion/KernelToGPU/RowKernels.h"

namespace tessera::kernels {

constexpr int64_t kRowWarps = 4;
constexpr int64_t kRowThreads = kRowWarps * kWarpSize;

/// One warp per row.
inline LaunchShape rowLaunch(int64_t rows) {
  LaunchShape shape;
  shape.grid[0] = ceilDiv(rows, kRowWarps);
  shape.block[0] = kRowThreads;
  return shape;
}

/// Builds `body(row)` for this warp's row, where it has one. The condition is
/// the same in all lanes, so the body may use warp collectives.
inline void forRow(KernelBuilder &kb, int64_t rows,
                   llvm::function_ref<void(mlir::Value)> body) {
  mlir::Value row = kb.add(kb.mul(kb.block(), kRowWarps), kb.warp());
  kb.ifThen(kb.ltU(row, rows), [&] { body(row); });
}

/// Builds `body(column)` for this lane's share of `cols` columns in steps of
/// `width` (which divides `cols`).
inline void forColumns(KernelBuilder &kb, int64_t cols, int64_t width,
                       llvm::function_ref<void(mlir::Value)> body) {
  kb.loop(kb.mul(kb.lane(), width), kb.idx(cols), kb.idx(kWarpSize * width),
          body);
}

/// Sum of a vector's elements, pairwise from the left.
mlir::Value sumElements(KernelBuilder &kb, mlir::Value vector, int64_t width);

/// False and a reason unless all of `sizes` are positive.
bool checkPositive(
    std::initializer_list<std::pair<const char *, int64_t>> sizes,
    std::string &why);

} // namespace tessera::kernels

#endif // LIB_CONVERSION_KERNELTOGPU_ROWKERNELS_H
