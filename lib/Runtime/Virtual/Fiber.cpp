//===- Fiber.cpp - Stack switching ----------------------------------------===//
//
// See Fiber.h. The assembly half is in FiberSwitchX86.S; define
// TESSERA_FIBER_UCONTEXT to test the portable half on x86-64.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(TESSERA_FIBER_UCONTEXT)
#define TESSERA_FIBER_UCONTEXT
#endif

using namespace tessera::vgpu;

#ifndef TESSERA_FIBER_UCONTEXT

extern "C" void tessera_fiber_switch_x86(void **save, void *to);
extern "C" void tessera_fiber_start_x86();

FiberState tessera::vgpu::fiberPrepare(FiberStack &stack, void (*entry)(void *),
                                       void *arg) {
  // What the switch pops: r15 r14 r13 r12 rbx rbp, then the return address;
  // after that the stack pointer is 16-byte aligned.
  auto **sp = reinterpret_cast<void **>(stack.top) - 9;
  sp[0] = nullptr;                         // r15
  sp[1] = nullptr;                         // r14
  sp[2] = arg;                             // r13
  sp[3] = reinterpret_cast<void *>(entry); // r12
  sp[4] = nullptr;                         // rbx
  sp[5] = nullptr;                         // rbp
  sp[6] = reinterpret_cast<void *>(&tessera_fiber_start_x86);
  sp[7] = nullptr; // end of the chain of return addresses
  return sp;
}

void tessera::vgpu::fiberSwitch(FiberState *save, FiberState to) {
  tessera_fiber_switch_x86(save, to);
}

FiberState tessera::vgpu::fiberForThread() { return nullptr; }

#else

#include <ucontext.h>

static void startUcontext(unsigned entryHigh, unsigned entryLow,
                          unsigned argHigh, unsigned argLow) {
  // makecontext passes only ints.
  auto join = [](unsigned high, unsigned low) {
    return (static_cast<uint64_t>(high) << 32) | low;
  };
  auto entry =
      reinterpret_cast<void (*)(void *)>(uintptr_t(join(entryHigh, entryLow)));
  entry(reinterpret_cast<void *>(uintptr_t(join(argHigh, argLow))));
}

FiberState tessera::vgpu::fiberPrepare(FiberStack &stack, void (*entry)(void *),
                                       void *arg) {
  if (!stack.state)
    stack.state = new ucontext_t;
  auto *context = static_cast<ucontext_t *>(stack.state);
  getcontext(context);
  context->uc_stack.ss_sp = stack.top - StackBytes / 2;
  context->uc_stack.ss_size = StackBytes / 2;
  context->uc_link = nullptr;
  auto split = [](uint64_t value, int part) {
    return static_cast<unsigned>(part ? value >> 32 : value);
  };
  uint64_t e = reinterpret_cast<uintptr_t>(entry);
  uint64_t a = reinterpret_cast<uintptr_t>(arg);
  makecontext(context, reinterpret_cast<void (*)()>(startUcontext), 4,
              split(e, 1), split(e, 0), split(a, 1), split(a, 0));
  return context;
}

void tessera::vgpu::fiberSwitch(FiberState *save, FiberState to) {
  // `*save` already names the running fiber's ucontext.
  swapcontext(static_cast<ucontext_t *>(*save), static_cast<ucontext_t *>(to));
}

FiberState tessera::vgpu::fiberForThread() { return new ucontext_t; }

#endif

StackPool::~StackPool() {
#ifdef TESSERA_FIBER_UCONTEXT
  for (FiberStack *stack : all)
    delete static_cast<ucontext_t *>(stack->state);
#endif
  for (FiberStack *stack : all)
    delete stack;
  for (void *mapping : mappings)
    munmap(mapping, StackBytes + size_t(sysconf(_SC_PAGESIZE)));
}

bool StackPool::grow() {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  void *base = mmap(nullptr, StackBytes + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return false;
  // The lowest page catches an overflow. It costs a mapping, so a failure
  // (too many mappings) is not fatal.
  (void)mprotect(base, page, PROT_NONE);
  mappings.push_back(base);
  auto *stack = new FiberStack;
  // 61 is odd, so 64 neighbours get 64 distinct lines of a page.
  size_t colour = (all.size() * 61 % 64) * 64;
  stack->top = static_cast<char *>(base) + page + StackBytes - colour;
  all.push_back(stack);
  free.push_back(stack);
  return true;
}

FiberStack *StackPool::take() {
  if (free.empty() && !grow())
    return nullptr;
  FiberStack *stack = free.back();
  free.pop_back();
  return stack;
}

void StackPool::reset() { free.assign(all.rbegin(), all.rend()); }
