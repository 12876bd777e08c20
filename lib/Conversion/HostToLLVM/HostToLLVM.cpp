//===- HostToLLVM.cpp - host code to the LLVM dialect ---------------------===//
//
// Upstream's gpu-to-llvm makes a stream of its own for each launch; ours is
// given by the caller and kept, so launches are converted here.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/HostToLLVM/HostToLLVM.h"

#include "tessera/Conversion/NCCLToLLVM/NCCLToLLVM.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"

namespace tessera {
#define GEN_PASS_DEF_HOSTTOLLVM
#include "lib/Conversion/HostToLLVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
/// Memref operands of a launch as bare pointers; the stream stays.
struct LaunchPattern : ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getAsyncObject())
      return op.emitOpError("has no stream to run on");
    Location loc = op.getLoc();
    SmallVector<Value> arguments = getTypeConverter()->promoteOperands(
        loc, op.getKernelOperands(), adaptor.getKernelOperands(), rewriter,
        /*useBarePtrCallConv=*/true);
    gpu::KernelDim3 grid{adaptor.getGridSizeX(), adaptor.getGridSizeY(),
                         adaptor.getGridSizeZ()};
    gpu::KernelDim3 block{adaptor.getBlockSizeX(), adaptor.getBlockSizeY(),
                          adaptor.getBlockSizeZ()};
    gpu::LaunchFuncOp::create(rewriter, loc, op.getKernelAttr(), grid, block,
                              adaptor.getDynamicSharedMemorySize(), arguments,
                              adaptor.getAsyncObject());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Loops to branches, in a conversion of their own: upstream's patterns do not
/// compose with those to the LLVM dialect.
LogicalResult lowerLoops(func::FuncOp function) {
  ConversionTarget target(*function.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  RewritePatternSet patterns(function.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  return applyPartialConversion(function, target, std::move(patterns));
}

struct HostToLLVM : tessera::impl::HostToLLVMBase<HostToLLVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(lowerLoops(function)))
        return signalPassFailure();

    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    populateNCCLTypeConversions(converter);
    populateGpuMemorySpaceAttributeConversions(
        converter, [](gpu::AddressSpace) { return 0u; });

    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    // Device code is not ours to change here.
    target.addLegalDialect<gpu::GPUDialect>();
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    target.addDynamicallyLegalOp<gpu::LaunchFuncOp>([&](gpu::LaunchFuncOp op) {
      return converter.isLegal(op.getOperation());
    });

    RewritePatternSet patterns(context);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateNCCLToLLVMPatterns(converter, patterns);
    patterns.add<LaunchPattern>(converter);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
