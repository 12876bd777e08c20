//===- TesseraOps.cpp - generated op definitions --------------------------===//
#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera;

#define GET_OP_CLASSES
#include "dialects/Tessera/TesseraOps.cpp.inc"
