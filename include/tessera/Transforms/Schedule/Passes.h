//===- Passes.h - from launches on tensors to host code ---------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_SCHEDULE_PASSES_H
#define TESSERA_TRANSFORMS_SCHEDULE_PASSES_H

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NCCL/NCCLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace tessera {
/// Name of the constant that holds the manifest (JSON).
inline constexpr llvm::StringLiteral kManifestName = "tessera_manifest";
/// Name of the host function that runs the program.
inline constexpr llvm::StringLiteral kForwardName = "tessera_forward";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Schedule/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_TRANSFORMS_SCHEDULE_PASSES_H
