//===- HostToLLVM.h - host code to the LLVM dialect -------------*- C++ -*-===//
#ifndef TESSERA_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
#define TESSERA_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tessera {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/HostToLLVM/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
