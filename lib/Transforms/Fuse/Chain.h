//===- Chain.h - ops behind a value that its kernel can absorb --*- C++ -*-===//
#ifndef LIB_TRANSFORMS_FUSE_CHAIN_H
#define LIB_TRANSFORMS_FUSE_CHAIN_H

#include "dialects/Tessera/TesseraDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace tessera {

using OpSet = llvm::DenseSet<mlir::Operation *>;

/// The order of a kernel's epilogue (see MatmulSpec and ElementwiseSpec in
/// KernelSpec.h): every part is optional and comes at most once.
enum class EpilogueStage { Start, Bias, Activation, Gate, Residual };

/// The element-wise ops that follow `value` in the order of the epilogue, each
/// being the only user of the one before, none of them in `taken`. `stage` is
/// what `value` has gone through already. All tensors of the chain have the
/// type of `value`.
llvm::SmallVector<mlir::Operation *>
chainBehind(mlir::Value value, EpilogueStage stage, const OpSet &taken);

/// The stage that an element-wise op is when it starts a chain; `Start` for
/// any other op.
EpilogueStage stageOf(mlir::Operation *op);

} // namespace tessera

#endif // LIB_TRANSFORMS_FUSE_CHAIN_H
