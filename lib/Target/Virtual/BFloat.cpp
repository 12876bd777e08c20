//===- BFloat.cpp - bfloat16 conversions as integer arithmetic ------------===//
//
// Few CPUs convert bfloat16, and a library call per element is slow. A bf16 is
// the upper half of an f32; rounding to nearest even adds half a unit (less
// one unless the result would be odd) before cutting. NaNs stay NaNs by setting
// the quiet bit.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {

/// `type` with the element type `element`.
Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

class BFloat {
public:
  BFloat(Operation *op) : b(op), loc(op->getLoc()) {}

  Value extend(Value value) {
    Type type = value.getType();
    Value bits = LLVM::BitcastOp::create(
        b, loc, withElement(type, b.getI16Type()), value);
    words = withElement(type, b.getI32Type());
    bits = LLVM::ZExtOp::create(b, loc, words, bits);
    bits = LLVM::ShlOp::create(b, loc, bits, constant(16));
    return LLVM::BitcastOp::create(b, loc, withElement(type, b.getF32Type()),
                                   bits);
  }

  Value truncate(Value value) {
    Type type = value.getType();
    words = withElement(type, b.getI32Type());
    Value bits = LLVM::BitcastOp::create(b, loc, words, value);
    Value upper = LLVM::LShrOp::create(b, loc, bits, constant(16));
    Value odd = LLVM::AndOp::create(b, loc, upper, constant(1));
    Value sum = LLVM::AddOp::create(b, loc, bits, constant(0x7fff));
    sum = LLVM::AddOp::create(b, loc, sum, odd);
    Value rounded = LLVM::LShrOp::create(b, loc, sum, constant(16));
    Value quiet = LLVM::OrOp::create(b, loc, upper, constant(0x40));
    Value isNaN = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, value,
                                       value);
    Value result = LLVM::SelectOp::create(b, loc, isNaN, quiet, rounded);
    result = LLVM::TruncOp::create(b, loc, withElement(type, b.getI16Type()),
                                   result);
    return LLVM::BitcastOp::create(b, loc, withElement(type, b.getBF16Type()),
                                   result);
  }

private:
  Value constant(int32_t value) {
    if (auto vector = dyn_cast<VectorType>(words))
      return LLVM::ConstantOp::create(b, loc,
                                      DenseElementsAttr::get(vector, value));
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

  OpBuilder b;
  Location loc;
  Type words;
};

} // namespace

void tessera::vgpu::expandBFloatConversions(LoweringState &state) {
  SmallVector<Operation *> casts;
  state.module.walk([&](Operation *op) {
    if (!isa<LLVM::FPExtOp, LLVM::FPTruncOp>(op))
      return;
    Type from = getElementTypeOrSelf(op->getOperand(0).getType());
    Type to = getElementTypeOrSelf(op->getResult(0).getType());
    if ((from.isBF16() && to.isF32()) || (from.isF32() && to.isBF16()))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    BFloat expand(op);
    Value result = isa<LLVM::FPExtOp>(op) ? expand.extend(op->getOperand(0))
                                          : expand.truncate(op->getOperand(0));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}
