//===- TesseraDialect.cpp - registration ----------------------------------===//
#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera;

#include "dialects/Tessera/TesseraDialect.cpp.inc"

void TesseraDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tessera/TesseraOps.cpp.inc"
      >();
}
