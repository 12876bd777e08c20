//===- KernelCopyOps.cpp - checks and cost of copies ----------------------===//
#include "dialects/Kernel/KernelDialect.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernel;

LogicalResult TransposeOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType() ||
      from.getNumElements() != to.getNumElements())
    return emitOpError()
           << "moves " << from << " to " << to
           << "; element types and numbers of elements must agree";
  int64_t rows = getRows(), cols = getCols();
  if (rows < 1 || cols < 1)
    return emitOpError() << "rows and cols must be at least 1, got " << rows
                         << " and " << cols;
  if (from.getNumElements() % (rows * cols))
    return emitOpError() << "cannot see " << from.getNumElements()
                         << " elements as " << rows << " by " << cols
                         << " equal parts";
  return success();
}

OpCost TransposeOp::getCost(ArrayRef<RankedTensorType> operandTypes,
                            ArrayRef<RankedTensorType> resultTypes) {
  OpCost cost;
  cost.kernel = KernelClass::Gather;
  int64_t bytes = operandTypes[0].getNumElements() *
                  operandTypes[0].getElementTypeBitWidth() / 8;
  cost.forward.bytesRead = cost.forward.bytesWritten = bytes;
  cost.backward = cost.forward;
  return cost;
}
