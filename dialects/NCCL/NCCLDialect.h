//===- NCCLDialect.h - the NCCL library as ops ----------------------------===//
#ifndef DIALECTS_NCCL_NCCLDIALECT_H
#define DIALECTS_NCCL_NCCLDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "dialects/NCCL/NCCLDialect.h.inc"
#include "dialects/NCCL/NCCLEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/NCCL/NCCLAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/NCCL/NCCLTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/NCCL/NCCLOps.h.inc"

namespace tessera::nccl {
/// The value of `ncclDataType_t` for an element type, nothing if NCCL has none
/// (nccl.h: ncclInt8 0, ncclUint8 1, ncclInt32 2, ncclUint32 3, ncclInt64 4,
/// ncclUint64 5, ncclFloat16 6, ncclFloat32 7, ncclFloat64 8, ncclBfloat16 9).
std::optional<int32_t> getDataType(mlir::Type element);
} // namespace tessera::nccl

#endif // DIALECTS_NCCL_NCCLDIALECT_H
