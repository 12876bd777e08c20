//===- Worker.h - One OS thread that runs blocks ----------------*- C++ -*-===//
//
// The virtual streaming multiprocessor. It runs one block at a time: each CUDA
// thread is a fiber, a warp is a 32-bit mask of lanes that can run. A fiber
// runs until it blocks (collective, barrier) and then switches straight to the
// next runnable lane of its warp, or of another warp. The lane that arrives
// last at a collective executes it for the warp and goes on without a switch.
//
// A thread that returns gives its stack to the next thread that has not begun,
// by a plain loop, so a kernel without barriers runs on one warm stack.
//
// Lane masks are in *positions*: position p of a warp is lane `lanes[p]`, a
// seeded permutation, so that "lowest bit first" is a random order.
//
// A lane that leaves a collective may reach the next one, and store what it
// brings, before others have read their results. So the warp's frame has two
// halves that collectives use in turn; a lane can be ahead by one only.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_WORKER_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_WORKER_H

#include "AsyncCopy.h"
#include "Fiber.h"
#include "Observer.h"
#include "Random.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"
#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {
namespace vgpu {

struct LaunchState;
struct MmaScratch;
class Worker;

constexpr uint32_t MaxThreadsPerBlock = 1024;
constexpr uint32_t MaxWarps = MaxThreadsPerBlock / WarpSize;
/// What an H100 gives one block (227 KiB); the largest of the chips we target.
constexpr uint32_t MaxSharedBytes = 232448;

enum class Wait : uint8_t { None, Collective, Barrier, Done };

struct Thread : tessera_virtual_thread {
  Worker *worker;
  /// The two halves of the warp's frame; `frame` is the one in use.
  char *frames[2];
  FiberState state;  ///< null until the thread has begun
  FiberStack *stack; ///< null until the thread has begun
  uint32_t position; ///< in its warp
  Wait wait;
  uint32_t waitLocation;
  AsyncQueue copies;
};

struct Warp {
  uint32_t live = 0;    ///< positions that have not exited
  uint32_t ready = 0;   ///< positions that can run now
  uint32_t arrived = 0; ///< positions waiting in the pending collective
  tessera_virtual_segment segment = nullptr;
  uint32_t location = 0;
  uint8_t lanes[WarpSize]; ///< position -> lane
};

struct NamedBarrier {
  uint32_t arrived = 0, expected = 0;
  uint32_t waiting[MaxWarps]; ///< positions per warp
};

class Worker {
public:
  Worker();
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Sets up threads, frames and shared memory for a launch. False, with
  /// `error`, if memory is short.
  bool begin(const LaunchState &launch);
  /// Drops what belongs to the launch.
  void end() { observer.reset(); }
  /// Runs one block. False, with `error`, if it failed.
  bool runBlock(uint64_t linearBlock);

  // Called by threads.
  void collective(Thread &self, tessera_virtual_segment segment,
                  uint32_t location);
  void barrier(Thread &self, uint32_t id, uint32_t count, uint32_t location);
  /// Abandons the block. Does not return to the fiber.
  [[noreturn]] void fail(const std::string &message);
  std::string describe(const Thread &thread, uint32_t location) const;

  Thread &threadAt(uint32_t warp, uint32_t lane) {
    return threads[warp * WarpSize + lane];
  }
  /// Fails unless `mask` names the caller and every lane that still runs.
  void checkMemberMask(Thread &self, uint32_t mask, uint32_t location);
  /// Lanes of the warp that exist and have not exited, by lane number.
  uint32_t liveLanes(uint32_t warp) const;
  /// All lanes of the warp exist and have not exited.
  bool fullWarp(uint32_t warp) const { return warps[warp].live == ~0u; }

  const LaunchState *launch = nullptr;
  tessera_virtual_block block = {};
  std::unique_ptr<Observer> observer; ///< null unless checking or counting
  MmaScratch *scratch = nullptr;
  std::string error;

private:
  static void fiberMain(void *worker);
  Thread *pick();
  void suspend(Thread &self);
  Thread *finish(Thread &self);
  void runSegment(Thread &self, Warp &warp);
  void releaseIfComplete(NamedBarrier &barrier);
  void overtake();
  void enter(Thread &next, FiberState *save);
  [[noreturn]] void deadlock();
  void permuteLanes(Warp &warp, uint32_t warpThreads);

  std::vector<Thread> threads;
  std::vector<Warp> warps;
  NamedBarrier barriers[16];
  uint32_t readyWarps = 0; ///< warps with a runnable lane
  uint32_t currentWarp = 0;
  uint32_t liveThreads = 0;
  Thread *current = nullptr;
  FiberState mainState = nullptr, dead = nullptr;
  StackPool stacks;
  std::vector<char> frames;
  char *shared = nullptr;
  size_t sharedBytes = 0;
  bool failed = false;
  bool seeded = false;
  Random random{1};
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_WORKER_H
