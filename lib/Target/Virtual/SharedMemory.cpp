//===- SharedMemory.cpp - Placing shared memory ---------------------------===//
//
// A global in address space 3 becomes an offset from the block's shared
// memory. The layout is per kernel: a global that only one kernel names starts
// after the common ones (named by helper functions or by several kernels) and
// costs the other kernels nothing. A global of size 0 is dynamic shared memory.
//
// Alignment is what the NVPTX back end would give: the stated one, or the
// type's. Instrumented code gets no better, so that the checker sees accesses
// that are aligned by luck only.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {

class Layout {
public:
  explicit Layout(LoweringState &state)
      : state(state), dataLayout(state.module) {}

  LogicalResult run() {
    for (auto global : state.module.getOps<LLVM::GlobalOp>())
      if (global.getAddrSpace() == 3)
        globals.push_back(global);
    if (globals.empty())
      return success();
    state.module.walk([&](LLVM::AddressOfOp address) {
      if (auto global = state.module.lookupSymbol<LLVM::GlobalOp>(
              address.getGlobalName());
          global && global.getAddrSpace() == 3)
        users[global].push_back(address);
    });
    for (LLVM::GlobalOp global : globals)
      if (bytesOf(global) > 0 && !onlyKernel(global))
        place(global, common);
    for (KernelInfo &kernel : state.kernels) {
      uint64_t end = common;
      for (LLVM::GlobalOp global : globals)
        if (KernelInfo *owner = onlyKernel(global);
            owner == &kernel && bytesOf(global) > 0)
          place(global, end);
      kernel.sharedBytes = end;
    }
    for (LLVM::GlobalOp global : globals) {
      for (LLVM::AddressOfOp address : users[global])
        replace(global, address);
      global.erase();
    }
    return success();
  }

private:
  uint64_t bytesOf(LLVM::GlobalOp global) {
    return dataLayout.getTypeSize(global.getGlobalType()).getFixedValue();
  }

  /// The one kernel whose own body names the global, or null.
  KernelInfo *onlyKernel(LLVM::GlobalOp global) {
    KernelInfo *owner = nullptr;
    for (LLVM::AddressOfOp address : users[global]) {
      StringRef name = address->getParentOfType<LLVM::LLVMFuncOp>().getName();
      auto it = llvm::find_if(state.kernels, [&](const KernelInfo &kernel) {
        return kernel.name == name;
      });
      if (it == state.kernels.end() || (owner && owner != &*it))
        return nullptr;
      owner = &*it;
    }
    return owner;
  }

  void place(LLVM::GlobalOp global, uint64_t &end) {
    uint64_t alignment = global.getAlignment().value_or(
        dataLayout.getTypeABIAlignment(global.getGlobalType()));
    if (!state.instrument)
      alignment = std::max<uint64_t>(alignment, 16);
    end = llvm::alignTo(end, alignment);
    // Aligned to no more than asked.
    if (state.instrument && alignment < 128 && end % (2 * alignment) == 0)
      end += alignment;
    offsets[global] = end;
    end += bytesOf(global);
  }

  void replace(LLVM::GlobalOp global, LLVM::AddressOfOp address) {
    OpBuilder b(address);
    Location loc = address.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    bool dynamic = bytesOf(global) == 0;
    Value base = loadBlockContext(
        b, loc, threadArgument(address),
        dynamic ? offsetof(tessera_virtual_block, dynamic_shared)
                : offsetof(tessera_virtual_block, shared),
        pointer);
    if (!dynamic)
      base = byteOffset(b, loc, base, static_cast<int64_t>(offsets[global]));
    Value typed =
        LLVM::AddrSpaceCastOp::create(b, loc, address.getType(), base);
    address.replaceAllUsesWith(typed);
    address.erase();
  }

  LoweringState &state;
  DataLayout dataLayout;
  SmallVector<LLVM::GlobalOp> globals;
  DenseMap<Operation *, SmallVector<LLVM::AddressOfOp>> users;
  DenseMap<Operation *, uint64_t> offsets;
  uint64_t common = 0;
};

} // namespace

LogicalResult tessera::vgpu::layOutSharedMemory(LoweringState &state) {
  return Layout(state).run();
}
