//===- Supported.cpp - What the virtual GPU can run -----------------------===//
//
// A list of what is supported, and an error for everything else: a packaged
// LLVM aborts the process on device intrinsics and inline PTX that reach a
// host back end, so they must not get there.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {

/// Ops of the llvm dialect that need nothing but a host back end.
const llvm::StringSet<> &plainLLVMOps() {
  static const llvm::StringSet<> names = {"llvm.add",
                                          "llvm.sub",
                                          "llvm.mul",
                                          "llvm.udiv",
                                          "llvm.sdiv",
                                          "llvm.urem",
                                          "llvm.srem",
                                          "llvm.and",
                                          "llvm.or",
                                          "llvm.xor",
                                          "llvm.shl",
                                          "llvm.lshr",
                                          "llvm.ashr",
                                          "llvm.fadd",
                                          "llvm.fsub",
                                          "llvm.fmul",
                                          "llvm.fdiv",
                                          "llvm.frem",
                                          "llvm.fneg",
                                          "llvm.icmp",
                                          "llvm.fcmp",
                                          "llvm.select",
                                          "llvm.freeze",
                                          "llvm.trunc",
                                          "llvm.zext",
                                          "llvm.sext",
                                          "llvm.fptrunc",
                                          "llvm.fpext",
                                          "llvm.fptosi",
                                          "llvm.fptoui",
                                          "llvm.sitofp",
                                          "llvm.uitofp",
                                          "llvm.bitcast",
                                          "llvm.getelementptr",
                                          "llvm.load",
                                          "llvm.store",
                                          "llvm.alloca",
                                          "llvm.atomicrmw",
                                          "llvm.cmpxchg",
                                          "llvm.fence",
                                          "llvm.br",
                                          "llvm.cond_br",
                                          "llvm.switch",
                                          "llvm.unreachable",
                                          "llvm.return",
                                          "llvm.mlir.constant",
                                          "llvm.mlir.undef",
                                          "llvm.mlir.poison",
                                          "llvm.mlir.zero",
                                          "llvm.mlir.addressof",
                                          "llvm.mlir.global",
                                          "llvm.func",
                                          "llvm.extractvalue",
                                          "llvm.insertvalue",
                                          "llvm.extractelement",
                                          "llvm.insertelement",
                                          "llvm.shufflevector",
                                          "llvm.addrspacecast",
                                          "llvm.ptrtoint",
                                          "llvm.inttoptr",
                                          "llvm.call",
                                          "llvm.intr.fma",
                                          "llvm.intr.fmuladd",
                                          "llvm.intr.fabs",
                                          "llvm.intr.sqrt",
                                          "llvm.intr.exp2",
                                          "llvm.intr.log2",
                                          "llvm.intr.exp",
                                          "llvm.intr.log",
                                          "llvm.intr.sin",
                                          "llvm.intr.cos",
                                          "llvm.intr.pow",
                                          "llvm.intr.powi",
                                          "llvm.intr.floor",
                                          "llvm.intr.ceil",
                                          "llvm.intr.trunc",
                                          "llvm.intr.rint",
                                          "llvm.intr.round",
                                          "llvm.intr.roundeven",
                                          "llvm.intr.nearbyint",
                                          "llvm.intr.copysign",
                                          "llvm.intr.maxnum",
                                          "llvm.intr.minnum",
                                          "llvm.intr.maximum",
                                          "llvm.intr.minimum",
                                          "llvm.intr.smax",
                                          "llvm.intr.smin",
                                          "llvm.intr.umax",
                                          "llvm.intr.umin",
                                          "llvm.intr.abs",
                                          "llvm.intr.ctpop",
                                          "llvm.intr.ctlz",
                                          "llvm.intr.cttz",
                                          "llvm.intr.bitreverse",
                                          "llvm.intr.bswap",
                                          "llvm.intr.fshl",
                                          "llvm.intr.fshr",
                                          "llvm.intr.assume",
                                          "llvm.intr.expect",
                                          "llvm.intr.lifetime.start",
                                          "llvm.intr.lifetime.end",
                                          "llvm.intr.is.fpclass",
                                          "llvm.intr.masked.load",
                                          "llvm.intr.masked.store",
                                          "llvm.intr.vector.reduce.fadd",
                                          "llvm.intr.vector.reduce.fmul",
                                          "llvm.intr.vector.reduce.fmax",
                                          "llvm.intr.vector.reduce.fmin",
                                          "llvm.intr.vector.reduce.fmaximum",
                                          "llvm.intr.vector.reduce.fminimum",
                                          "llvm.intr.vector.reduce.add",
                                          "llvm.intr.vector.reduce.and",
                                          "llvm.intr.vector.reduce.or",
                                          "llvm.intr.vector.reduce.smax",
                                          "llvm.intr.vector.reduce.smin",
                                          "llvm.intr.vector.reduce.umax",
                                          "llvm.intr.vector.reduce.umin",
                                          "llvm.intr.sadd.with.overflow",
                                          "llvm.intr.uadd.with.overflow",
                                          "llvm.intr.memcpy",
                                          "llvm.intr.memset"};
  return names;
}

LogicalResult checkMma(NVVM::MmaOp op) {
  NVVM::MMAShapeAttr shape = op.getShape();
  auto result = dyn_cast<LLVM::LLVMStructType>(op.getType());
  bool f32 = result && llvm::all_of(result.getBody(),
                                    [](Type type) { return type.isF32(); });
  NVVM::MMATypes a = op.getMultiplicandAPtxType().value_or(NVVM::MMATypes::s32);
  bool sixteen = a == NVVM::MMATypes::bf16 || a == NVVM::MMATypes::f16;
  bool known =
      shape.getM() == 16 && shape.getN() == 8 &&
      ((sixteen && (shape.getK() == 16 || shape.getK() == 8)) ||
       (a == NVVM::MMATypes::tf32 && (shape.getK() == 8 || shape.getK() == 4)));
  if (!known || !f32 || op.getMultiplicandBPtxType() != a ||
      op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col)
    return op.emitOpError()
           << "is not on the virtual GPU in this form; expected f32 "
              "accumulators, layouts row and col, and one of m16n8k16 or "
              "m16n8k8 on bf16 or f16, m16n8k8 or m16n8k4 on tf32";
  return success();
}

LogicalResult checkNVVM(Operation *op) {
  if (op->getName().getStringRef().starts_with("nvvm.read.ptx.sreg.")) {
    StringRef name = op->getName().getStringRef().drop_front(19);
    for (StringRef known :
         {"tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x",
          "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid",
          "warpsize", "warpid"})
      if (name == known)
        return success();
    return op->emitOpError() << "reads a special register that the virtual GPU "
                                "does not have";
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::Barrier0Op, NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
            NVVM::CpAsyncWaitGroupOp, NVVM::SyncWarpOp, NVVM::ShflOp>(
          [](auto) { return success(); })
      .Case<NVVM::BarrierOp>([](NVVM::BarrierOp barrier) -> LogicalResult {
        if (barrier.getReductionOp())
          return barrier.emitOpError()
                 << "with a reduction is not on the virtual GPU";
        return success();
      })
      .Case<NVVM::VoteSyncOp>([](auto) { return success(); })
      .Case<NVVM::LdMatrixOp>([](NVVM::LdMatrixOp load) -> LogicalResult {
        auto shape = load.getShape();
        if (shape.getM() != 8 || shape.getN() != 8)
          return load.emitOpError()
                 << "of shape " << shape.getM() << "x" << shape.getN()
                 << " is not on the virtual GPU, expected 8x8";
        return success();
      })
      .Case<NVVM::MmaOp>(checkMma)
      .Default([](Operation *other) {
        return other->emitOpError() << "is not on the virtual GPU";
      });
}

/// Local memory lives on a fiber's stack, beside spilled registers and the
/// frames of the runtime.
constexpr uint64_t kMaxLocalBytes = 64 * 1024;

LogicalResult checkLocalMemory(LLVM::LLVMFuncOp func) {
  DataLayout layout = DataLayout::closest(func);
  uint64_t bytes = 0;
  WalkResult result = func.walk([&](LLVM::AllocaOp alloca) {
    std::optional<uint64_t> count = evaluateConstant(alloca.getArraySize());
    if (!count) {
      alloca.emitOpError() << "of a size that is not constant is not on the "
                              "virtual GPU";
      return WalkResult::interrupt();
    }
    bytes += *count * layout.getTypeSize(alloca.getElemType()).getFixedValue();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (bytes > kMaxLocalBytes)
    return func.emitOpError()
           << "needs " << bytes
           << " bytes of local memory for each thread, expected at most "
           << kMaxLocalBytes;
  return success();
}

LogicalResult checkCall(LLVM::CallOp call, gpu::GPUModuleOp module) {
  if (!call.getCallee())
    return call.emitOpError()
           << "is an indirect call, which the virtual GPU does not have";
  StringRef callee = *call.getCallee();
  auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(callee);
  if (func && !func.isExternal())
    return success();
  if (callee == "__assertfail")
    return success();
  if (callee == "vprintf")
    return call.emitOpError() << "gpu.printf is not on the virtual GPU";
  return call.emitOpError()
         << "calls '" << callee << "', which no device library defines";
}

LogicalResult checkOp(Operation *op, gpu::GPUModuleOp module) {
  if (isa<gpu::GPUModuleOp>(op))
    return success();
  if (isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()))
    return checkNVVM(op);
  if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
    return op->emitOpError() << "is left after the device lowering";
  if (isa<LLVM::InlineAsmOp>(op))
    return op->emitOpError() << "is inline PTX, which the virtual GPU cannot "
                                "run; use an nvvm operation";
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    StringRef name = intrinsic.getIntrin();
    // "llvm.exp2.f32" is the op "llvm.intr.exp2".
    SmallVector<StringRef> parts;
    name.split(parts, '.');
    if (parts.size() == 3 && parts[0] == "llvm" &&
        plainLLVMOps().contains(("llvm.intr." + parts[1]).str()))
      return success();
    return op->emitOpError() << "calls '" << name
                             << "', which is not on the virtual GPU; use an "
                                "nvvm operation";
  }
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op)) {
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(cast.getArg().getType());
    if (!pointer || cast.getType().getIntOrFloatBitWidth() < 64)
      return op->emitOpError()
             << "to " << cast.getType()
             << " would cut a 64-bit pointer of the virtual GPU; use i64";
  }
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return checkCall(call, module);
  if (auto func = dyn_cast<LLVM::LLVMFuncOp>(op))
    return checkLocalMemory(func);
  if (!plainLLVMOps().contains(op->getName().getStringRef()))
    return op->emitOpError() << "is not on the virtual GPU";
  return success();
}
} // namespace

LogicalResult tessera::vgpu::verifySupported(gpu::GPUModuleOp module) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(checkOp(op, module)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
