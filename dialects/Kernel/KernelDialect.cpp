//===- KernelDialect.cpp - registration -----------------------------------===//
#include "dialects/Kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"

void KernelDialect::initialize() {
  registerAttributes();
  promiseTargetInterfaces();
  addOperations<
#define GET_OP_LIST
#include "dialects/Kernel/KernelOps.cpp.inc"
      >();
}
