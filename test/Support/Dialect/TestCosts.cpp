//===- TestCosts.cpp - prints the cost that each op states ----------------===//
#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace {

StringRef nameOf(KernelClass kernel) {
  switch (kernel) {
  case KernelClass::None:
    return "none";
  case KernelClass::Matmul:
    return "matmul";
  case KernelClass::GroupedMatmul:
    return "grouped_matmul";
  case KernelClass::Attention:
    return "attention";
  case KernelClass::Elementwise:
    return "elementwise";
  case KernelClass::RowReduction:
    return "row_reduction";
  case KernelClass::Gather:
    return "gather";
  case KernelClass::Collective:
    return "collective";
  }
  llvm_unreachable("all classes are listed");
}

std::string print(const PassCost &cost) {
  return llvm::formatv("matmul {0} vector {1} read {2} written {3}",
                       cost.matmulFlops, cost.vectorFlops, cost.bytesRead,
                       cost.bytesWritten)
      .str();
}

struct TestCostsPass : PassWrapper<TestCostsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestCostsPass)
  StringRef getArgument() const final { return "test-print-costs"; }
  StringRef getDescription() const final {
    return "remark each op's cost on its own types";
  }

  void runOnOperation() override {
    getOperation().walk([](CostOpInterface op) {
      auto types = [](TypeRange range) {
        SmallVector<RankedTensorType> list;
        for (Type type : range)
          list.push_back(dyn_cast<RankedTensorType>(type));
        return list;
      };
      OpCost cost =
          op.getCost(types(op->getOperandTypes()), types(op->getResultTypes()));
      op->emitRemark() << nameOf(cost.kernel) << " [" << cost.shape.batch
                       << ", " << cost.shape.m << ", " << cost.shape.n << ", "
                       << cost.shape.k << "]";
      op->emitRemark() << "forward " << print(cost.forward);
      op->emitRemark() << "backward " << print(cost.backward);
      op->emitRemark() << "saved operands " << cost.savedOperands << " results "
                       << cost.savedResults << " extra "
                       << cost.savedExtraBytes;
    });
  }
};

} // namespace

namespace tessera::test {
void registerTestSharding();
void registerTestRotary();
void registerTesseraDialectTestPasses() {
  PassRegistration<TestCostsPass>();
  registerTestSharding();
  registerTestRotary();
}
} // namespace tessera::test
