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

/// The argument that only some collectives have: operation or root.
std::optional<int32_t> choice(nccl::AllReduceOp op) {
  return static_cast<int32_t>(op.getOp());
}
std::optional<int32_t> choice(nccl::ReduceScatterOp op) {
  return static_cast<int32_t>(op.getOp());
}
std::optional<int32_t> choice(nccl::BroadcastOp op) { return op.getRoot(); }
std::optional<int32_t> choice(nccl::AllGatherOp) { return std::nullopt; }

/// The buffer whose elements NCCL counts: what a rank sends, but what it
/// receives of a reduce-scatter.
template <typename Op>
Value counted(Op op) {
  return op.getSend();
}
Value counted(nccl::ReduceScatterOp op) { return op.getRecv(); }

template <typename Op>
struct CollectivePattern : CallPattern<Op> {
  CollectivePattern(const LLVMTypeConverter &converter, StringRef name)
      : CallPattern<Op>(converter), name(name) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> arguments{
        this->pointer(loc, op.getSend(), adaptor.getSend(), rewriter),
        this->pointer(loc, op.getRecv(), adaptor.getRecv(), rewriter),
        this->count(loc, counted(op), rewriter),
        this->dataType(loc, op.getSend(), rewriter)};
    if (std::optional<int32_t> value = choice(op))
      arguments.push_back(this->i32(loc, *value, rewriter));
    arguments.append({adaptor.getComm(), adaptor.getStream()});
    return this->call(op, name, arguments, rewriter);
  }
  StringRef name;
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
  patterns.add<CollectivePattern<nccl::AllReduceOp>>(converter,
                                                     "ncclAllReduce");
  patterns.add<CollectivePattern<nccl::AllGatherOp>>(converter,
                                                     "ncclAllGather");
  patterns.add<CollectivePattern<nccl::ReduceScatterOp>>(converter,
                                                         "ncclReduceScatter");
  patterns.add<CollectivePattern<nccl::BroadcastOp>>(converter,
                                                     "ncclBroadcast");
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
