//===- Passes.h - groups to device code -------------------------*- C++ -*-===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_PASSES_H
#define TESSERA_CONVERSION_KERNELTOGPU_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {
/// Name of the gpu.module that holds a program's kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "kernels";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/KernelToGPU/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_CONVERSION_KERNELTOGPU_PASSES_H
