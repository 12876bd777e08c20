//===- KeepParamBytes.cpp - Extents of kernel arguments -------------------===//
//
// Bare pointers forget how large the memory behind them is. The virtual GPU's
// checker wants to know, so the extents are kept as an attribute. The bare
// pointer convention of the LLVM lowering also has preconditions that it does
// not check itself; this pass does.
//
//===----------------------------------------------------------------------===//

#include "Passes.h"

#include "dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace {

/// Bytes of a static row-major memref.
int64_t staticBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = 1;
  if (auto vector = dyn_cast<VectorType>(element)) {
    bits = vector.getNumElements();
    element = vector.getElementType();
  }
  bits *= element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

class KeepParamBytes
    : public PassWrapper<KeepParamBytes, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepParamBytes)
  StringRef getArgument() const override { return "tessera-keep-param-bytes"; }
  StringRef getDescription() const override {
    return "record the extents of kernel arguments before they become pointers";
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(keep(func)))
        return signalPassFailure();
  }

private:
  LogicalResult keep(gpu::GPUFuncOp func) {
    SmallVector<int64_t> bytes;
    for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref) {
        if (isa<UnrankedMemRefType>(type))
          return func.emitError()
                 << "argument #" << index
                 << " is an unranked memref, expected a static shape";
        bytes.push_back(0);
        continue;
      }
      Type element = memref.getElementType();
      if (auto vector = dyn_cast<VectorType>(element))
        element = vector.getElementType();
      if (!element.isIntOrIndexOrFloat())
        return func.emitError()
               << "argument #" << index << " has element type "
               << memref.getElementType() << ", expected integers or floats";
      if (!memref.hasStaticShape() || !memref.getLayout().isIdentity())
        return func.emitError()
               << "argument #" << index << " of type " << memref
               << " cannot become a bare pointer, expected a static shape and "
                  "the identity layout";
      bytes.push_back(staticBytes(memref));
    }
    func->setAttr(tessera::kernel::KernelDialect::kParamBytesAttrName,
                  DenseI64ArrayAttr::get(&getContext(), bytes));
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> tessera::createKeepParamBytesPass() {
  return std::make_unique<KeepParamBytes>();
}
