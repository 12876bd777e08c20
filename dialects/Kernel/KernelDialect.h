//===- KernelDialect.h - fused groups and kernel configurations -----------===//
#ifndef DIALECTS_KERNEL_KERNELDIALECT_H
#define DIALECTS_KERNEL_KERNELDIALECT_H

#include "tessera/Interfaces/OpInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#include "dialects/Kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.h.inc"

#endif // DIALECTS_KERNEL_KERNELDIALECT_H
