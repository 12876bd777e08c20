//===- NCCLToLLVM.h - calls of the NCCL library -----------------*- C++ -*-===//
#ifndef TESSERA_CONVERSION_NCCLTOLLVM_NCCLTOLLVM_H
#define TESSERA_CONVERSION_NCCLTOLLVM_NCCLTOLLVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

/// `!nccl.comm` becomes a pointer.
void populateNCCLTypeConversions(mlir::LLVMTypeConverter &converter);
/// Patterns from `nccl` ops to calls with NCCL's own signatures. The functions
/// are declared in the module as needed.
void populateNCCLToLLVMPatterns(const mlir::LLVMTypeConverter &converter,
                                mlir::RewritePatternSet &patterns);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/NCCLToLLVM/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_CONVERSION_NCCLTOLLVM_NCCLTOLLVM_H
