//===- NCCLToLLVM.cpp - calls of the NCCL library -------------------------===//
//
// Signatures and values of enumerations: nccl.h 2.x ("NCCL User Guide", API).
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/NCCLToLLVM/NCCLToLLVM.h"

#include "dialects/NCCL/NCCLDialect.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

namespace tessera {
#define GEN_PASS_DEF_NCCLTOLLVM
#include "lib/Conversion/NCCLToLLVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
/// What all patterns share: arguments and the call.
template <typename Op>
struct CallPattern : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  using Adaptor = typename Op::Adaptor;

  /// Address of the first element of a memref.
  Value pointer(Location loc, Value original, Value converted,
                ConversionPatternRewriter &rewriter) const {
    auto type = cast<MemRefType>(original.getType());
    return MemRefDescriptor(converted).bufferPtr(
        rewriter, loc, *this->getTypeConverter(), type);
  }
  Value i32(Location loc, int64_t value,
            ConversionPatternRewriter &rewriter) const {
    return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32Type(),
                                    rewriter.getI32IntegerAttr(value));
  }
  Value count(Location loc, Value buffer,
              ConversionPatternRewriter &rewriter) const {
    int64_t n = cast<MemRefType>(buffer.getType()).getNumElements();
    return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                    rewriter.getI64IntegerAttr(n));
  }
  Value dataType(Location loc, Value buffer,
                 ConversionPatternRewriter &rewriter) const {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return i32(loc, *nccl::getDataType(element), rewriter);
  }

  /// Declares the function if the module does not, and calls it instead of
  /// `op`.
  LogicalResult call(Op op, StringRef name, ValueRange arguments,
                     ConversionPatternRewriter &rewriter) const {
    FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
        rewriter, op->template getParentOfType<ModuleOp>(), name,
        llvm::to_vector(arguments.getTypes()), rewriter.getI32Type());
    if (failed(function))
      return op.emitOpError() << "needs the function '" << name
                              << "', whose name the module uses otherwise";
    LLVM::CallOp::create(rewriter, op.getLoc(), *function, arguments);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AllReducePattern : CallPattern<nccl::AllReduceOp> {
  using CallPattern::CallPattern;
  LogicalResult
  matchAndRewrite(nccl::AllReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    return call(op, "ncclAllReduce",
                {pointer(loc, op.getSend(), adaptor.getSend(), rewriter),
                 pointer(loc, op.getRecv(), adaptor.getRecv(), rewriter),
                 count(loc, op.getSend(), rewriter),
                 dataType(loc, op.getSend(), rewriter),
                 i32(loc, int32_t(op.getOp()), rewriter), adaptor.getComm(),
                 adaptor.getStream()},
                rewriter);
  }
};

struct AllGatherPattern : CallPattern<nccl::AllGatherOp> {
  using CallPattern::CallPattern;
  LogicalResult
  matchAndRewrite(nccl::AllGatherOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    return call(op, "ncclAllGather",
                {pointer(loc, op.getSend(), adaptor.getSend(), rewriter),
                 pointer(loc, op.getRecv(), adaptor.getRecv(), rewriter),
                 count(loc, op.getSend(), rewriter),
                 dataType(loc, op.getSend(), rewriter), adaptor.getComm(),
                 adaptor.getStream()},
                rewriter);
  }
};

struct ReduceScatterPattern : CallPattern<nccl::ReduceScatterOp> {
  using CallPattern::CallPattern;
  LogicalResult
  matchAndRewrite(nccl::ReduceScatterOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    return call(op, "ncclReduceScatter",
                {pointer(loc, op.getSend(), adaptor.getSend(), rewriter),
                 pointer(loc, op.getRecv(), adaptor.getRecv(), rewriter),
                 count(loc, op.getRecv(), rewriter),
                 dataType(loc, op.getRecv(), rewriter),
                 i32(loc, int32_t(op.getOp()), rewriter), adaptor.getComm(),
                 adaptor.getStream()},
                rewriter);
  }
};

struct BroadcastPattern : CallPattern<nccl::BroadcastOp> {
  using CallPattern::CallPattern;
  LogicalResult
  matchAndRewrite(nccl::BroadcastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    return call(op, "ncclBroadcast",
                {pointer(loc, op.getSend(), adaptor.getSend(), rewriter),
                 pointer(loc, op.getRecv(), adaptor.getRecv(), rewriter),
                 count(loc, op.getSend(), rewriter),
                 dataType(loc, op.getSend(), rewriter),
                 i32(loc, int32_t(op.getRoot()), rewriter), adaptor.getComm(),
                 adaptor.getStream()},
                rewriter);
  }
};

/// nccl.send and nccl.recv, whose calls have the same arguments.
template <typename Op>
struct PeerPattern : CallPattern<Op> {
  PeerPattern(const LLVMTypeConverter &converter, StringRef name)
      : CallPattern<Op>(converter), name(name) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    return this->call(
        op, name,
        {this->pointer(loc, op.getBuffer(), adaptor.getBuffer(), rewriter),
         this->count(loc, op.getBuffer(), rewriter),
         this->dataType(loc, op.getBuffer(), rewriter), adaptor.getPeer(),
         adaptor.getComm(), adaptor.getStream()},
        rewriter);
  }
  StringRef name;
};

/// nccl.group_start and nccl.group_end.
template <typename Op>
struct GroupPattern : CallPattern<Op> {
  GroupPattern(const LLVMTypeConverter &converter, StringRef name)
      : CallPattern<Op>(converter), name(name) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return this->call(op, name, {}, rewriter);
  }
  StringRef name;
};
} // namespace

void tessera::populateNCCLTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion([](nccl::CommType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
}

void tessera::populateNCCLToLLVMPatterns(const LLVMTypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<AllReducePattern, AllGatherPattern, ReduceScatterPattern,
               BroadcastPattern>(converter);
  patterns.add<PeerPattern<nccl::SendOp>>(converter, "ncclSend");
  patterns.add<PeerPattern<nccl::RecvOp>>(converter, "ncclRecv");
  patterns.add<GroupPattern<nccl::GroupStartOp>>(converter, "ncclGroupStart");
  patterns.add<GroupPattern<nccl::GroupEndOp>>(converter, "ncclGroupEnd");
}

namespace {
struct NCCLToLLVM : tessera::impl::NCCLToLLVMBase<NCCLToLLVM> {
  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(&getContext(), options);
    populateNCCLTypeConversions(converter);
    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addIllegalDialect<nccl::NCCLDialect>();
    RewritePatternSet patterns(&getContext());
    populateNCCLToLLVMPatterns(converter, patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
