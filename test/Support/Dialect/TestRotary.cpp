//===- TestRotary.cpp - prints the frequencies of rotary tables -----------===//
#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace {
struct TestRotaryPass : PassWrapper<TestRotaryPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestRotaryPass)
  StringRef getArgument() const final { return "test-print-rotary"; }
  StringRef getDescription() const final {
    return "print each rotary table's inverse frequencies, one a line";
  }
  void runOnOperation() override {
    getOperation().walk([](RotaryTableOp op) {
      llvm::outs() << llvm::formatv("factor {0:e9}\n",
                                    op.getRotary().getCosSinFactor());
      for (double f : op.getRotary().getInverseFrequencies())
        llvm::outs() << llvm::formatv("{0:e9}\n", f);
    });
  }
};
} // namespace

namespace tessera::test {
void registerTestRotary() { PassRegistration<TestRotaryPass>(); }
} // namespace tessera::test
