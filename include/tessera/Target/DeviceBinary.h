//===- DeviceBinary.h - What a gpu.binary says of its kernels ---*- C++ -*-===//

#ifndef TESSERA_TARGET_DEVICEBINARY_H
#define TESSERA_TARGET_DEVICEBINARY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera {

/// Kernel names of a binary in launch-index order: the property `kernels` that
/// tessera-serialize-kernels puts on every object. Empty if there is none.
llvm::SmallVector<llvm::StringRef> kernelNames(mlir::gpu::BinaryOp binary);

} // namespace tessera

#endif // TESSERA_TARGET_DEVICEBINARY_H
