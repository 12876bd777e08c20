//===- Fiber.h - Stack switching --------------------------------*- C++ -*-===//
//
// A fiber is a stack plus a saved stack pointer. On x86-64 a switch saves the
// six callee-saved registers on the old stack and pops them from the new one
// (about 9 ns); elsewhere ucontext does it (about 300 ns, a system call each).
// Fibers never move between OS threads.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_FIBER_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_FIBER_H

#include <cstddef>
#include <vector>

namespace tessera {
namespace vgpu {

/// Opaque saved state: a stack pointer on x86-64, a ucontext_t* elsewhere.
using FiberState = void *;

/// Usable bytes of one fiber stack. Kernels keep a few hundred bytes of
/// spilled registers there; pages that are never touched cost nothing.
constexpr size_t StackBytes = 128 * 1024;

/// One stack, with an inaccessible page below it.
struct FiberStack {
  char *top = nullptr;        ///< 16-byte aligned, coloured
  FiberState state = nullptr; ///< storage owned by the implementation
};

/// Prepares `stack` so that the next switch to the result calls `entry(arg)`,
/// which must never return.
FiberState fiberPrepare(FiberStack &stack, void (*entry)(void *), void *arg);

/// Saves the running fiber in `*save` and continues `to`.
void fiberSwitch(FiberState *save, FiberState to);

/// State object that `fiberSwitch` can save the OS thread's own stack to.
FiberState fiberForThread();

/// Stacks of one OS thread, kept from block to block. Tops are coloured: with
/// all tops at the same page offset 128 fibers would fight for the same few
/// cache sets.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();

  /// Null if the system gives no more memory.
  FiberStack *take();
  /// Last in, first out: the next thread runs on the warmest stack.
  void give(FiberStack *stack) { free.push_back(stack); }
  /// All stacks are free again (after an abandoned block).
  void reset();

private:
  bool grow();
  std::vector<FiberStack *> all, free;
  std::vector<void *> mappings;
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_FIBER_H
