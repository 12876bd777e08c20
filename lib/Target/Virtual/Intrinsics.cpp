//===- Intrinsics.cpp - Intrinsics by name to operations ------------------===//
//
// `llvm.call_intrinsic "llvm.maxnum.f32"` is the operation llvm.intr.maxnum.
// The operations are what the later steps know (a segment can hold them).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tessera::vgpu;

void tessera::vgpu::nameIntrinsics(LoweringState &state) {
  SmallVector<LLVM::CallIntrinsicOp> calls;
  state.module.walk([&](LLVM::CallIntrinsicOp call) { calls.push_back(call); });
  for (LLVM::CallIntrinsicOp call : calls) {
    StringRef stem = call.getIntrin().split('.').second.split('.').first;
    std::optional<RegisteredOperationName> name =
        RegisteredOperationName::lookup(("llvm.intr." + stem).str(),
                                        call.getContext());
    if (!name || call->getNumResults() != 1)
      continue;
    OperationState op(call.getLoc(), *name);
    op.addOperands(call.getArgs());
    op.addTypes(call->getResultTypes());
    if (name->hasTrait<OpTrait::OneResult>() &&
        llvm::is_contained(name->getAttributeNames(), "fastmathFlags"))
      op.addAttribute("fastmathFlags", call.getFastmathFlagsAttr());
    OpBuilder b(call);
    call->replaceAllUsesWith(b.create(op));
    call->erase();
  }
}
