//===- Instrument.cpp - Calls of the checker and the counters -------------===//
//
// Before each load, store and atomic operation of device memory the thread
// reports the address, with the kernel argument that it was computed from
// where that can be seen: two buffers of a program lie side by side in one
// arena, so only the extent of the argument shows that an index left it.
// Arithmetic is counted per basic block, by one call per pipe.
//
// Runs while pointers still have their address spaces.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace tessera::vgpu;

namespace {

/// Follows address arithmetic back to where the pointer came from.
Value pointerBase(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (auto gep = dyn_cast<LLVM::GEPOp>(op))
      pointer = gep.getBase();
    else if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
      pointer = cast.getArg();
    else if (auto cast = dyn_cast<LLVM::BitcastOp>(op))
      pointer = cast.getArg();
    else
      break;
  }
  return pointer;
}

class Instrumenter {
public:
  explicit Instrumenter(LoweringState &state)
      : state(state), dataLayout(state.module),
        none(LLVM::LLVMVoidType::get(state.module.getContext())) {}

  void run() {
    SmallVector<Operation *> ops;
    SmallVector<Block *> blocks;
    state.module.walk([&](LLVM::LLVMFuncOp func) {
      for (Block &block : func.getBody()) {
        blocks.push_back(&block);
        for (Operation &op : block)
          ops.push_back(&op);
      }
    });
    for (Block *block : blocks)
      countArithmetic(*block);
    for (Operation *op : ops)
      instrument(op);
  }

private:
  void instrument(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LLVM::LoadOp load) {
          access(op, load.getAddr(), load.getType(), load.getAlignment(), 0);
        })
        .Case([&](LLVM::StoreOp store) {
          access(op, store.getAddr(), store.getValue().getType(),
                 store.getAlignment(), AccessStore);
        })
        .Case([&](LLVM::AtomicRMWOp atomic) {
          access(op, atomic.getPtr(), atomic.getVal().getType(),
                 atomic.getAlignment(), AccessStore | AccessAtomic);
        })
        .Case([&](LLVM::AtomicCmpXchgOp atomic) {
          access(op, atomic.getPtr(), atomic.getVal().getType(),
                 atomic.getAlignment(), AccessStore | AccessAtomic);
        })
        .Case([&](NVVM::CpAsyncOp copy) {
          OpBuilder b(op);
          Value bytes = copy.getCpSize()
                            ? copy.getCpSize()
                            : constantI32(b, op->getLoc(), copy.getSize());
          // The shared-memory side is checked by the copy itself.
          call(op, copy.getSrc(), bytes,
               AccessGlobal | (copy.getSize() << AccessAlignmentShift));
        });
  }

  void access(Operation *op, Value pointer, Type type,
              std::optional<uint64_t> alignment, uint32_t flags) {
    Value base = pointerBase(pointer);
    // Local variables and constants of the module.
    if (base.getDefiningOp<LLVM::AllocaOp>())
      return;
    unsigned space =
        cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
    if (base.getDefiningOp<LLVM::AddressOfOp>() && space != 3 &&
        cast<LLVM::LLVMPointerType>(base.getType()).getAddressSpace() != 3)
      return;
    if (space == 3)
      flags |= AccessShared;
    if (space == 1)
      flags |= AccessGlobal;
    // Without a stated alignment PTX wants the natural one, which for a vector
    // is its size.
    uint64_t bytes = dataLayout.getTypeSize(type).getFixedValue();
    uint64_t natural = dataLayout.getTypeABIAlignment(type);
    OpBuilder b(op);
    call(op, pointer, constantI32(b, op->getLoc(), bytes),
         flags | static_cast<uint32_t>(alignment.value_or(natural))
                     << AccessAlignmentShift);
  }

  /// Number of the kernel argument behind the pointer, or ~0.
  uint32_t argumentOf(Value pointer) {
    auto argument = dyn_cast<BlockArgument>(pointerBase(pointer));
    if (!argument || !argument.getOwner()->isEntryBlock())
      return ~0u;
    auto func =
        dyn_cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp());
    bool isKernel =
        func && llvm::any_of(state.kernels, [&](const KernelInfo &kernel) {
          return kernel.name == func.getName();
        });
    return isKernel ? argument.getArgNumber() : ~0u;
  }

  void call(Operation *op, Value pointer, Value bytes, uint32_t flags) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto plain = LLVM::LLVMPointerType::get(b.getContext());
    uint32_t argument = argumentOf(pointer);
    if (pointer.getType() != plain)
      pointer = LLVM::AddrSpaceCastOp::create(b, loc, plain, pointer);
    emit(b, loc, "tessera_virtual_access",
         {threadArgument(op), pointer, bytes, constantI32(b, loc, flags),
          constantI32(b, loc, argument),
          constantI32(b, loc, state.locations.idFor(op))});
  }

  static unsigned elements(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.getNumElements() : 1;
  }

  void countArithmetic(Block &block) {
    std::map<Pipe, uint32_t> counts;
    for (Operation &op : block) {
      if (isa<NVVM::ShflOp>(op))
        ++counts[Pipe::Shuffle];
      if (op.getNumResults() != 1 || op.getNumOperands() == 0)
        continue;
      Type type = op.getOperand(0).getType();
      Type element = getElementTypeOrSelf(type);
      unsigned n = elements(type);
      if (isa<LLVM::Exp2Op, LLVM::Log2Op, LLVM::SqrtOp, LLVM::SinOp,
              LLVM::CosOp, LLVM::ExpOp, LLVM::LogOp, LLVM::PowOp>(op)) {
        counts[Pipe::Special] += n;
        continue;
      }
      bool fused = isa<LLVM::FMAOp, LLVM::FMulAddOp>(op);
      if (fused ||
          isa<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FDivOp,
              LLVM::FNegOp, LLVM::MaxNumOp, LLVM::MinNumOp, LLVM::MaximumOp,
              LLVM::MinimumOp>(op)) {
        Pipe pipe = element.isF32()   ? Pipe::F32
                    : element.isF64() ? Pipe::F64
                                      : Pipe::F16;
        counts[pipe] += fused ? 2 * n : n;
        continue;
      }
      if (isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::UDivOp, LLVM::SDivOp,
              LLVM::URemOp, LLVM::SRemOp, LLVM::AndOp, LLVM::OrOp, LLVM::XOrOp,
              LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp, LLVM::ICmpOp,
              LLVM::SMaxOp, LLVM::SMinOp, LLVM::UMaxOp, LLVM::UMinOp>(op))
        counts[Pipe::Integer] += n;
    }
    OpBuilder b = OpBuilder::atBlockBegin(&block);
    for (auto [pipe, count] : counts)
      emit(b, block.front().getLoc(), "tessera_virtual_count",
           {threadArgument(&block.front()),
            constantI32(b, block.front().getLoc(),
                        static_cast<uint32_t>(pipe)),
            constantI32(b, block.front().getLoc(), count)});
  }

  void emit(OpBuilder &b, Location loc, StringRef name,
            ArrayRef<Value> operands) {
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    LLVM::CallOp::create(b, loc,
                         runtimeFunction(state.module, name, none, types),
                         operands);
  }

  LoweringState &state;
  DataLayout dataLayout;
  Type none;
};

} // namespace

void tessera::vgpu::instrumentAccesses(LoweringState &state) {
  Instrumenter(state).run();
}
