//===- Copy.h - kernels that rearrange memory -------------------*- C++ -*-===//
//
// The copies around collectives (see kernel.transpose and tessera.slice), on
// tensors of any element type. One thread moves one vector of up to 16 bytes.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_COPY_H
#define TESSERA_CONVERSION_KERNELTOGPU_COPY_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera::kernels {

/// Transpose: out[c][r][i] = in[r][c][i] for in [rows, cols, inner].
/// Arguments: in, out (both flat).
/// Slice: out[r][i] = in[r][index][i] for in [rows, cols, inner].
/// Arguments: in, out (both flat), index (i64).
struct CopySpec {
  enum class Kind : uint8_t { Transpose, Slice };
  Kind kind = Kind::Transpose;
  int64_t rows = 1, cols = 1, inner = 1;
  mlir::Type element;

  int64_t outElements() const {
    return kind == Kind::Slice ? rows * inner : rows * cols * inner;
  }
};

llvm::SmallVector<mlir::Type> argumentTypes(const CopySpec &spec,
                                            mlir::MLIRContext *context);
mlir::FailureOr<mlir::gpu::GPUFuncOp> buildCopy(mlir::OpBuilder &builder,
                                                mlir::gpu::GPUModuleOp module,
                                                llvm::StringRef name,
                                                const CopySpec &spec);
LaunchShape launchShape(const CopySpec &spec);

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_COPY_H
