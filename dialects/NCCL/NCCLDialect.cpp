//===- NCCLDialect.cpp - registration, types and attributes ---------------===//
#include "dialects/NCCL/NCCLDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::nccl;

#include "dialects/NCCL/NCCLDialect.cpp.inc"
#include "dialects/NCCL/NCCLEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/NCCL/NCCLAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/NCCL/NCCLTypes.cpp.inc"

void NCCLDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/NCCL/NCCLTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NCCL/NCCLAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/NCCL/NCCLOps.cpp.inc"
      >();
}

std::optional<int32_t> tessera::nccl::getDataType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 8:
      return isUnsigned ? 1 : 0;
    case 32:
      return isUnsigned ? 3 : 2;
    case 64:
      return isUnsigned ? 5 : 4;
    default:
      return std::nullopt;
    }
  }
  if (element.isF16())
    return 6;
  if (element.isF32())
    return 7;
  if (element.isF64())
    return 8;
  if (element.isBF16())
    return 9;
  return std::nullopt;
}
