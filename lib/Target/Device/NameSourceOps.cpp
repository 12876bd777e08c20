//===- NameSourceOps.cpp - Names that survive the lowering ----------------===//
//
// A defect report has to name the operation that was written, not the llvm
// operation that it became. Locations survive every conversion, so each
// operation's name is wrapped around its location before the first one. An
// operation without a place in a file gets its number in the kernel instead.
//
//===----------------------------------------------------------------------===//

#include "Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace {
bool hasFile(Location loc) {
  return loc
      ->walk([](Location inner) {
        return isa<FileLineColLoc>(inner) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

class NameSourceOps
    : public PassWrapper<NameSourceOps, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NameSourceOps)
  StringRef getArgument() const override { return "tessera-name-source-ops"; }
  StringRef getDescription() const override {
    return "keep the names of the written operations in their locations";
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<gpu::GPUFuncOp>()) {
      unsigned number = 0;
      func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        std::string name = op->getName().getStringRef().str();
        ++number;
        if (!hasFile(op->getLoc()))
          name += " (operation " + std::to_string(number) + ")";
        op->setLoc(NameLoc::get(StringAttr::get(&getContext(), name),
                                op->getLoc()));
      });
    }
  }
};
} // namespace

std::unique_ptr<Pass> tessera::createNameSourceOpsPass() {
  return std::make_unique<NameSourceOps>();
}
