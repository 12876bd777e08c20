//===- Observer.h - What watches a block run --------------------*- C++ -*-===//
//
// The hooks of the checking and counting modes. A worker has an observer only
// in those modes, so the fast path pays one test of a pointer per hook.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_OBSERVER_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_OBSERVER_H

#include "AsyncCopy.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"

#include <cstdint>

namespace tessera {
namespace vgpu {

struct Thread;

class Observer {
public:
  virtual ~Observer() = default;
  /// A block begins; its shared memory was just poisoned.
  virtual void beginBlock() = 0;
  /// All threads of the block have returned.
  virtual void endBlock() = 0;
  virtual void access(Thread &thread, const void *address, uint32_t bytes,
                      uint32_t flags, uint32_t argument, uint32_t location) = 0;
  /// One ldmatrix of a whole warp; `rows[i]` is the address that lane i gave.
  virtual void loadMatrix(Thread &runner, const char *const *rows,
                          uint32_t matrices, uint32_t location) = 0;
  virtual void copyIssued(Thread &thread, const AsyncCopy &copy) = 0;
  virtual void copyLanded(Thread &thread, const AsyncCopy &copy) = 0;
  /// Every thread of barrier 0 has arrived.
  virtual void blockBarrier() = 0;
  virtual void warpBarrier(uint32_t warp) = 0;
  /// All lanes of the warp stand at one place: what they did since the last
  /// time belongs together, instruction by instruction.
  virtual void converged(uint32_t warp) = 0;
  virtual void mma(uint64_t flops) = 0;
  virtual void count(uint32_t pipe, uint32_t operations) = 0;
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_OBSERVER_H
