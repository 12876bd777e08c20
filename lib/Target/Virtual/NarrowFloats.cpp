//===- NarrowFloats.cpp - f32 to bf16 in integer arithmetic ---------------===//
//
// A host without bf16 instructions calls __truncsfbf2 for every element, and
// AVX-512's own conversion flushes subnormals. So the rounding to nearest even
// is spelt out, as cvt.rn.bf16.f32 does it:
//   bits + 0x7fff + (bit 16 of bits), upper half; a NaN becomes quiet.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tessera::vgpu;

static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

void tessera::vgpu::expandNarrowing(LoweringState &state) {
  SmallVector<LLVM::FPTruncOp> truncations;
  state.module.walk([&](LLVM::FPTruncOp op) {
    if (getElementTypeOrSelf(op.getType()).isBF16() &&
        getElementTypeOrSelf(op.getArg().getType()).isF32())
      truncations.push_back(op);
  });
  for (LLVM::FPTruncOp op : truncations) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value from = op.getArg();
    Type i32 = withElement(from.getType(), b.getI32Type());
    Type i16 = withElement(from.getType(), b.getI16Type());
    auto constant = [&](uint32_t value) -> Value {
      TypedAttr attr = b.getI32IntegerAttr(static_cast<int32_t>(value));
      if (auto vector = dyn_cast<VectorType>(i32))
        attr = SplatElementsAttr::get(vector, attr);
      return LLVM::ConstantOp::create(b, loc, i32, attr);
    };
    Value bits = LLVM::BitcastOp::create(b, loc, i32, from);
    Value sixteen = constant(16);
    Value upper = LLVM::LShrOp::create(b, loc, bits, sixteen);
    Value odd = LLVM::AndOp::create(b, loc, upper, constant(1));
    Value sum = LLVM::AddOp::create(b, loc, bits, constant(0x7fff));
    sum = LLVM::AddOp::create(b, loc, sum, odd);
    Value rounded = LLVM::LShrOp::create(b, loc, sum, sixteen);
    Value quiet = LLVM::OrOp::create(b, loc, upper, constant(0x40));
    Value isNaN =
        LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, from, from);
    Value half = LLVM::SelectOp::create(b, loc, isNaN, quiet, rounded);
    half = LLVM::TruncOp::create(b, loc, i16, half);
    op.replaceAllUsesWith(
        LLVM::BitcastOp::create(b, loc, op.getType(), half).getResult());
    op.erase();
  }
}
