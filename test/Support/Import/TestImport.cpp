//===- TestImport.cpp - imports a model into the module at hand -----------===//
#include "tessera/Import/Import.h"

#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace {
struct TestImportPass : PassWrapper<TestImportPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestImportPass)
  TestImportPass() = default;
  TestImportPass(const TestImportPass &o) : PassWrapper(o) {}
  StringRef getArgument() const final { return "test-import"; }
  StringRef getDescription() const final {
    return "replace the module by an imported model";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TesseraDialect, func::FuncDialect>();
  }
  Option<std::string> model{*this, "model", llvm::cl::desc("folder or config")};
  Option<int64_t> batch{*this, "batch", llvm::cl::init(1),
                        llvm::cl::desc("rows of a batch")};
  Option<int64_t> sequence{*this, "sequence", llvm::cl::init(0),
                           llvm::cl::desc("tokens of a row")};
  Option<std::string> dtype{*this, "dtype", llvm::cl::desc("f32 or bf16")};

  void runOnOperation() override {
    ImportOptions options{model, batch, sequence, dtype};
    auto module = importModel(getContext(), options, [&](const Twine &message) {
      // One line to standard error, as the tools print it.
      llvm::errs() << "error: " << message << "\n";
    });
    if (failed(module))
      return signalPassFailure();
    ModuleOp target = getOperation();
    target->setAttrs((**module)->getAttrDictionary());
    target.getBodyRegion().takeBody((**module).getBodyRegion());
  }
};
} // namespace

namespace tessera::test {
void registerImportTestPasses() { PassRegistration<TestImportPass>(); }
} // namespace tessera::test
