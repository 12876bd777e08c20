//===- ThreadOps.cpp - Device ops that concern one thread -----------------===//
//
// The thread context is passed as a hidden last argument. Special registers
// are invariant loads from it; barriers and asynchronous copies are calls.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "dialects/Kernel/KernelDialect.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::vgpu;

LogicalResult tessera::vgpu::addThreadArgument(LoweringState &state) {
  MLIRContext *context = state.module.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  llvm::StringSet<> defined;
  for (auto func : state.module.getOps<LLVM::LLVMFuncOp>()) {
    if (func.isExternal())
      continue;
    defined.insert(func.getName());
    if (func->hasAttr("gpu.kernel") || func->hasAttr("nvvm.kernel")) {
      KernelInfo info;
      info.name = func.getName().str();
      if (auto bytes = func->getAttrOfType<DenseI64ArrayAttr>(
              kernel::KernelDialect::kParamBytesAttrName))
        info.paramBytes.assign(bytes.asArrayRef().begin(),
                               bytes.asArrayRef().end());
      info.paramBytes.resize(func.getNumArguments(), 0);
      for (StringRef name : {"nvvm.reqntid", "gpu.known_block_size"})
        if (auto shape = func->getAttrOfType<DenseI32ArrayAttr>(name))
          info.block.assign(shape.asArrayRef().begin(),
                            shape.asArrayRef().end());
      if (!info.block.empty())
        info.block.resize(3, 1);
      state.kernels.push_back(std::move(info));
    }
    LLVM::LLVMFunctionType type = func.getFunctionType();
    SmallVector<Type> params(type.getParams());
    params.push_back(pointer);
    func.setFunctionType(LLVM::LLVMFunctionType::get(type.getReturnType(),
                                                     params, type.isVarArg()));
    func.getBody().front().addArgument(pointer, func.getLoc());
    if (ArrayAttr attrs = func.getArgAttrsAttr()) {
      SmallVector<Attribute> list(attrs.begin(), attrs.end());
      list.push_back(DictionaryAttr::get(context));
      func.setArgAttrsAttr(ArrayAttr::get(context, list));
    }
  }
  SmallVector<LLVM::CallOp> calls;
  state.module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() && defined.contains(*call.getCallee()))
      calls.push_back(call);
  });
  for (LLVM::CallOp call : calls) {
    auto func = state.module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee());
    OpBuilder b(call);
    SmallVector<Value> operands(call.getArgOperands());
    operands.push_back(threadArgument(call));
    auto replacement = LLVM::CallOp::create(b, call.getLoc(), func, operands);
    call->replaceAllUsesWith(replacement);
    call->erase();
  }
  return success();
}

namespace {

/// Offset of a special register in the thread or block context.
struct Register {
  bool inBlock;
  size_t offset;
};

std::optional<Register> findRegister(StringRef name) {
  static const std::pair<StringRef, Register> table[] = {
      {"tid.", {false, offsetof(tessera_virtual_thread, tid)}},
      {"ntid.", {true, offsetof(tessera_virtual_block, ntid)}},
      {"ctaid.", {true, offsetof(tessera_virtual_block, ctaid)}},
      {"nctaid.", {true, offsetof(tessera_virtual_block, nctaid)}},
      {"laneid", {false, offsetof(tessera_virtual_thread, lane)}},
      {"warpid", {false, offsetof(tessera_virtual_thread, warp)}}};
  for (auto [prefix, place] : table) {
    if (!name.consume_front(prefix))
      continue;
    if (name.size() == 1)
      place.offset += 4 * static_cast<size_t>(name[0] - 'x');
    return place;
  }
  return std::nullopt;
}

class ThreadOps {
public:
  explicit ThreadOps(LoweringState &state)
      : state(state), context(state.module.getContext()),
        pointer(LLVM::LLVMPointerType::get(context)),
        i32(IntegerType::get(context, 32)),
        none(LLVM::LLVMVoidType::get(context)) {}

  void lower(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    StringRef name = op->getName().getStringRef();
    if (name.consume_front("nvvm.read.ptx.sreg.")) {
      Value self = threadArgument(op);
      Value value;
      if (name == "warpsize")
        value = constantI32(b, loc, WarpSize);
      else if (std::optional<Register> place = findRegister(name))
        value = place->inBlock
                    ? loadBlockContext(b, loc, self, place->offset, i32)
                    : loadContext(b, loc, self, place->offset, i32);
      if (!value)
        return;
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      return;
    }
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](NVVM::Barrier0Op) {
          barrier(b, op, constantI32(b, loc, 0), constantI32(b, loc, 0));
        })
        .Case([&](NVVM::BarrierOp barrierOp) {
          Value id = barrierOp.getBarrierId(),
                count = barrierOp.getNumberOfThreads();
          barrier(b, op, id ? id : constantI32(b, loc, 0),
                  count ? count : constantI32(b, loc, 0));
        })
        .Case([&](NVVM::CpAsyncOp copy) {
          Value bytes = constantI32(b, loc, copy.getSize());
          Value from = copy.getCpSize() ? copy.getCpSize() : bytes;
          call(b, op, "tessera_virtual_async_copy",
               {threadArgument(op), plain(b, copy.getDst()),
                plain(b, copy.getSrc()), bytes, from, location(b, op)});
        })
        .Case([&](NVVM::CpAsyncCommitGroupOp) {
          call(b, op, "tessera_virtual_async_commit", {threadArgument(op)});
        })
        .Case([&](NVVM::CpAsyncWaitGroupOp wait) {
          call(b, op, "tessera_virtual_async_wait",
               {threadArgument(op), constantI32(b, loc, wait.getN())});
        })
        .Case([&](LLVM::CallOp callOp) {
          if (callOp.getCallee() != "__assertfail")
            return;
          call(b, op, "tessera_virtual_assert_fail",
               {threadArgument(op), callOp.getArgOperands()[0],
                location(b, op)});
        });
  }

private:
  Value location(OpBuilder &b, Operation *op) {
    return constantI32(b, op->getLoc(), state.locations.idFor(op));
  }

  Value plain(OpBuilder &b, Value value) {
    if (value.getType() == pointer)
      return value;
    return LLVM::AddrSpaceCastOp::create(b, value.getLoc(), pointer, value);
  }

  void barrier(OpBuilder &b, Operation *op, Value id, Value count) {
    call(b, op, "tessera_virtual_barrier",
         {threadArgument(op), id, count, location(b, op)});
  }

  void call(OpBuilder &b, Operation *op, StringRef name,
            ArrayRef<Value> operands) {
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    LLVM::LLVMFuncOp func = runtimeFunction(state.module, name, none, types);
    LLVM::CallOp::create(b, op->getLoc(), func, operands);
    op->erase();
  }

  LoweringState &state;
  MLIRContext *context;
  Type pointer, i32, none;
};

} // namespace

LogicalResult tessera::vgpu::lowerThreadOps(LoweringState &state) {
  SmallVector<Operation *> ops;
  state.module.walk([&](Operation *op) {
    if (isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()) ||
        isa<LLVM::CallOp>(op))
      ops.push_back(op);
  });
  ThreadOps lowering(state);
  for (Operation *op : ops)
    lowering.lower(op);
  // The list of supported ops and this function must agree.
  WalkResult result = state.module.walk([](Operation *op) {
    if (!isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "is not on the virtual GPU";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void tessera::vgpu::eraseAddressSpaces(LoweringState &state) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](LLVM::LLVMPointerType type) -> std::optional<Type> {
        if (type.getAddressSpace() == 0)
          return std::nullopt;
        return LLVM::LLVMPointerType::get(type.getContext());
      });
  replacer.recursivelyReplaceElementsIn(state.module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  SmallVector<LLVM::AddrSpaceCastOp> casts;
  state.module.walk([&](Operation *op) {
    if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
      casts.push_back(cast);
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      global.setAddrSpace(0);
    SmallVector<StringAttr> deviceOnly;
    for (NamedAttribute attr : op->getDiscardableAttrs()) {
      StringRef dialect = attr.getName().getValue().split('.').first;
      if (dialect == "nvvm" || dialect == "gpu" || dialect == "kernel")
        deviceOnly.push_back(attr.getName());
    }
    for (StringAttr name : deviceOnly)
      op->removeAttr(name);
  });
  for (LLVM::AddrSpaceCastOp cast : casts) {
    cast.replaceAllUsesWith(cast.getArg());
    cast.erase();
  }
}
