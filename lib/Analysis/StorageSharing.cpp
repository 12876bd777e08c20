//===- StorageSharing.cpp - which ops may work in place -------------------===//
//
// In place is legal where the thread that writes an element of the result is
// the one that reads that element of the operand, before it writes, and no
// other thread reads it: element-wise operands, in a kernel of their own or in
// the epilogue of a matrix product; and NCCL's all-reduce.
//
//===----------------------------------------------------------------------===//
#include "dialects/Kernel/KernelDialect.h"
#include "tessera/Analysis/ArenaPlan.h"

using namespace mlir;
using namespace tessera;

/// Element-wise graph ops; their vector operands (bias) differ in size from
/// the result and so never come into question.
static bool isElementwise(Operation *op) {
  return isa<AddOp, SwigluOp, ActivationOp, AddBiasOp>(op);
}

bool tessera::mayShareStorage(Operation *op, unsigned operand,
                              unsigned result) {
  Type from = op->getOperand(operand).getType();
  Type to = op->getResult(result).getType();
  if (!isa<RankedTensorType>(from) || tensorBytes(from) != tensorBytes(to) ||
      cast<RankedTensorType>(from).getElementType() !=
          cast<RankedTensorType>(to).getElementType())
    return false;
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    return launch.mayShare(operand, result);
  if (auto group = dyn_cast<kernel::GroupOp>(op)) {
    if (group.getFamily() != kernel::Family::Matmul &&
        group.getFamily() != kernel::Family::Elementwise)
      return false;
    return llvm::all_of(group.getBlock()->getArgument(operand).getUsers(),
                        isElementwise);
  }
  return isElementwise(op) || isa<AllReduceOp>(op);
}
