//===- BinaryTable.h - #kernel.binary_table ---------------------*- C++ -*-===//

#ifndef TESSERA_LIB_TARGET_VIRTUAL_BINARYTABLE_H
#define TESSERA_LIB_TARGET_VIRTUAL_BINARYTABLE_H

#include "mlir/IR/MLIRContext.h"

namespace tessera {

/// Implements the offloading interface of #kernel.binary_table.
void attachBinaryTableInterface(mlir::MLIRContext &context);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_VIRTUAL_BINARYTABLE_H
