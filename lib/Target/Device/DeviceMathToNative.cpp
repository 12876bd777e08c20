//===- DeviceMathToNative.cpp - math without libdevice --------------------===//
//
// Upstream's GPU lowering turns every math op into a call of libdevice, which
// is part of the CUDA toolkit and may not be there. Here the ops that NVPTX
// has an instruction for (ex2.approx, lg2.approx, sqrt.rn, fma, abs, rounding)
// become LLVM intrinsics, on f32 scalars and vectors of rank 1; anything else
// is an error that names the op. Kernels get the other functions from
// DeviceMath, which builds them from these.
//
//===----------------------------------------------------------------------===//

#include "Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {

LLVM::FastmathFlagsAttr convertFlags(arith::FastMathFlagsAttr flags) {
  // Both enumerations list the same flags; only the names are shared.
  LLVM::FastmathFlags result = LLVM::FastmathFlags::none;
  const std::pair<arith::FastMathFlags, LLVM::FastmathFlags> map[] = {
      {arith::FastMathFlags::nnan, LLVM::FastmathFlags::nnan},
      {arith::FastMathFlags::ninf, LLVM::FastmathFlags::ninf},
      {arith::FastMathFlags::nsz, LLVM::FastmathFlags::nsz},
      {arith::FastMathFlags::arcp, LLVM::FastmathFlags::arcp},
      {arith::FastMathFlags::contract, LLVM::FastmathFlags::contract},
      {arith::FastMathFlags::afn, LLVM::FastmathFlags::afn},
      {arith::FastMathFlags::reassoc, LLVM::FastmathFlags::reassoc}};
  for (auto [from, to] : map)
    if (arith::bitEnumContainsAll(flags.getValue(), from))
      result = result | to;
  return LLVM::FastmathFlagsAttr::get(flags.getContext(), result);
}

/// f32 math op -> LLVM intrinsic of the same meaning.
template <typename From, typename To>
struct ToIntrinsic : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    if (auto vector = dyn_cast<VectorType>(type);
        vector && (vector.getRank() != 1 || vector.isScalable()))
      return failure();
    auto flags = convertFlags(op.getFastmathAttr());
    rewriter.replaceOpWithNewOp<To>(
        op, TypeRange(type), op->getOperands(),
        ArrayRef<NamedAttribute>(
            rewriter.getNamedAttr("fastmathFlags", flags)));
    return success();
  }
};

class DeviceMathToNative
    : public PassWrapper<DeviceMathToNative, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeviceMathToNative)
  StringRef getArgument() const override {
    return "tessera-device-math-to-native";
  }
  StringRef getDescription() const override {
    return "turn math ops into instructions, without libdevice";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToIntrinsic<math::Exp2Op, LLVM::Exp2Op>,
                 ToIntrinsic<math::Log2Op, LLVM::Log2Op>,
                 ToIntrinsic<math::SqrtOp, LLVM::SqrtOp>,
                 ToIntrinsic<math::FmaOp, LLVM::FMAOp>,
                 ToIntrinsic<math::AbsFOp, LLVM::FAbsOp>,
                 ToIntrinsic<math::FloorOp, LLVM::FFloorOp>,
                 ToIntrinsic<math::CeilOp, LLVM::FCeilOp>,
                 ToIntrinsic<math::TruncOp, LLVM::FTruncOp>,
                 ToIntrinsic<math::RoundEvenOp, LLVM::RoundEvenOp>,
                 ToIntrinsic<math::CopySignOp, LLVM::CopySignOp>,
                 ToIntrinsic<arith::MaxNumFOp, LLVM::MaxNumOp>,
                 ToIntrinsic<arith::MinNumFOp, LLVM::MinNumOp>>(
        &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
        return WalkResult::advance();
      Type type = op->getResult(0).getType();
      if (!isa<FloatType>(getElementTypeOrSelf(type)))
        return WalkResult::advance(); // counting bits and the like are native
      op->emitError() << "'" << op->getName() << "' on " << type
                      << " has no device instruction; use the functions of "
                         "DeviceMath on f32";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tessera::createDeviceMathToNativePass() {
  return std::make_unique<DeviceMathToNative>();
}
