//===- RowKernels.h - bandwidth-bound kernels -------------------*- C++ -*-===//
//
// Norms, rotary embedding, element-wise chains, embeddings and the loss: each
// reads its tensors once (or once from memory and again from cache) and is
// bound by bandwidth. Their configuration follows from the spec alone, so the
// families have no config struct. For every spec:
//
//   check         is the spec one that the builder can write? says why not
//   argumentTypes the kernel's arguments, in the order of KernelSpec.h
//   build         the gpu.func, appended to the module; the spec passed check
//   launchShape   grid and block of the launch
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_KERNELTOGPU_ROWKERNELS_H
#define TESSERA_CONVERSION_KERNELTOGPU_ROWKERNELS_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"
#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include <string>

namespace tessera::kernels {

#define TESSERA_DECLARE_ROW_KERNEL(Spec)                                       \
  bool check(const Spec &spec, std::string &why);                              \
  llvm::SmallVector<mlir::Type> argumentTypes(const Spec &spec,                \
                                              mlir::MLIRContext *context);     \
  mlir::gpu::GPUFuncOp build(mlir::OpBuilder &builder,                         \
                             mlir::gpu::GPUModuleOp module,                    \
                             llvm::StringRef name, const Spec &spec);          \
  LaunchShape launchShape(const Spec &spec);

TESSERA_DECLARE_ROW_KERNEL(NormSpec)
TESSERA_DECLARE_ROW_KERNEL(RotarySpec)
TESSERA_DECLARE_ROW_KERNEL(ElementwiseSpec)
TESSERA_DECLARE_ROW_KERNEL(EmbeddingSpec)
TESSERA_DECLARE_ROW_KERNEL(PositionsSpec)
TESSERA_DECLARE_ROW_KERNEL(CrossEntropySpec)
TESSERA_DECLARE_ROW_KERNEL(CrossEntropyCombineSpec)
TESSERA_DECLARE_ROW_KERNEL(TokenSumSpec)
TESSERA_DECLARE_ROW_KERNEL(TokenMeanSpec)

#undef TESSERA_DECLARE_ROW_KERNEL

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_ROWKERNELS_H
