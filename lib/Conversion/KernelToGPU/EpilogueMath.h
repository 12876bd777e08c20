//===- EpilogueMath.h - bias, activation, gate, residual --------*- C++ -*-===//
//
// The one place that knows the arguments and the arithmetic of an
// EpilogueSpec. How the operands are read is up to the kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_EPILOGUEMATH_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_EPILOGUEMATH_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

/// The epilogue's operands, as memrefs or as elements read from them; null
/// where the spec has none.
struct EpilogueInputs {
  mlir::Value bias, gate, residual;
};

/// Types of the epilogue's arguments, behind an operand of type `matrix`
/// ([rows, columns] in global memory).
mlir::SmallVector<mlir::Type> epilogueArgumentTypes(const EpilogueSpec &spec,
                                                    mlir::Type matrix);

/// Those arguments of the kernel; `next` goes from the first to behind the
/// last.
EpilogueInputs epilogueArguments(KernelBuilder &kb, const EpilogueSpec &spec,
                                 unsigned &next);

/// The epilogue of `x` (f32, scalar or vector) in f32; `inputs` are elements of
/// x's shape, of any element type.
mlir::Value emitEpilogueMath(KernelBuilder &kb, const EpilogueSpec &spec,
                             mlir::Value x, const EpilogueInputs &inputs);

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_EPILOGUEMATH_H
