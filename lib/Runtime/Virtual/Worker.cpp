//===- Worker.cpp - One OS thread that runs blocks ------------------------===//
//
// The scheduler; see Worker.h for the idea.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "Watch.h"

#include "LaunchState.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace tessera::vgpu;

namespace {
constexpr size_t FrameAlignment = 64;

uint32_t rotateRight(uint32_t mask, uint32_t by) {
  return by ? (mask >> by) | (mask << (32 - by)) : mask;
}
} // namespace

Worker::Worker() : mainState(fiberForThread()), dead(fiberForThread()) {
  scratch = static_cast<MmaScratch *>(
      std::aligned_alloc(FrameAlignment, sizeof(MmaScratch)));
}

Worker::~Worker() {
  std::free(scratch);
  std::free(shared);
}

bool Worker::begin(const LaunchState &state) {
  launch = &state;
  seeded = state.options.seed != 0;
  error.clear();
  failed = false;
  const tessera_virtual_kernel &kernel = *state.kernel;

  // 16 bytes is what dynamic shared memory is aligned to on a GPU; static
  // arrays may ask for up to 128.
  size_t dynamicOffset = (kernel.shared_bytes + 15) / 16 * 16;
  size_t need = dynamicOffset + state.dynamicSharedBytes;
  if (need > sharedBytes || !shared) {
    std::free(shared);
    sharedBytes = (need + 4095) / 4096 * 4096 + 4096;
    shared = static_cast<char *>(std::aligned_alloc(4096, sharedBytes));
  }
  uint32_t warpCount = (state.threadsPerBlock + WarpSize - 1) / WarpSize;
  size_t frameBytes = (kernel.warp_frame_bytes + FrameAlignment - 1) /
                      FrameAlignment * FrameAlignment;
  // A frame that is a multiple of the page size would make all warps' slots
  // share cache sets.
  if (frameBytes % 4096 == 0)
    frameBytes += FrameAlignment;
  size_t frameTotal = 2 * frameBytes * warpCount + FrameAlignment;
  if (frames.size() < frameTotal)
    frames.resize(frameTotal);
  if (!shared || !scratch) {
    error = "out of memory for shared memory";
    return false;
  }
  auto frameBase =
      (reinterpret_cast<uintptr_t>(frames.data()) + FrameAlignment - 1) /
      FrameAlignment * FrameAlignment;

  block = {};
  for (int d = 0; d < 3; ++d) {
    block.ntid[d] = static_cast<uint32_t>(state.block[d]);
    block.nctaid[d] = static_cast<uint32_t>(state.grid[d]);
  }
  block.shared = shared;
  block.dynamic_shared = shared + dynamicOffset;

  warps.resize(warpCount);
  if (threads.size() < size_t(warpCount) * WarpSize)
    threads = std::vector<Thread>(size_t(warpCount) * WarpSize);
  for (uint32_t i = 0; i < state.threadsPerBlock; ++i) {
    Thread &thread = threads[i];
    thread.tid[0] = i % block.ntid[0];
    thread.tid[1] = i / block.ntid[0] % block.ntid[1];
    thread.tid[2] = i / (block.ntid[0] * block.ntid[1]);
    thread.lane = i % WarpSize;
    thread.warp = i / WarpSize;
    thread.linear = i;
    thread.block = &block;
    for (uint32_t half = 0; half < 2; ++half)
      thread.frames[half] = reinterpret_cast<char *>(
          frameBase + frameBytes * (2 * thread.warp + half));
    thread.worker = this;
  }
  observer = createObserver(*this);
  return true;
}

void Worker::permuteLanes(Warp &warp, uint32_t warpThreads) {
  for (uint32_t i = 0; i < WarpSize; ++i)
    warp.lanes[i] = static_cast<uint8_t>(i);
  if (seeded)
    for (uint32_t i = warpThreads - 1; i > 0; --i)
      std::swap(warp.lanes[i], warp.lanes[random.below(i + 1)]);
}

bool Worker::runBlock(uint64_t linearBlock) {
  const LaunchState &state = *launch;
  random = Random(state.options.seed + linearBlock * 0x2545f4914f6cdd1dull);
  uint64_t x = state.grid[0], y = state.grid[1];
  block.ctaid[0] = static_cast<uint32_t>(linearBlock % x);
  block.ctaid[1] = static_cast<uint32_t>(linearBlock / x % y);
  block.ctaid[2] = static_cast<uint32_t>(linearBlock / (x * y));
  // 0xff bytes are a NaN in every float format: a read before the write shows.
  std::memset(shared, 0xff,
              size_t(block.dynamic_shared - shared) + state.dynamicSharedBytes);

  liveThreads = state.threadsPerBlock;
  readyWarps = 0;
  for (uint32_t w = 0; w < warps.size(); ++w) {
    Warp &warp = warps[w];
    uint32_t count = std::min(WarpSize, liveThreads - w * WarpSize);
    permuteLanes(warp, count);
    warp.live = warp.ready = count == WarpSize ? ~0u : (1u << count) - 1;
    warp.arrived = 0;
    warp.segment = nullptr;
    readyWarps |= 1u << w;
    for (uint32_t p = 0; p < count; ++p) {
      Thread &thread = threadAt(w, warp.lanes[p]);
      thread.position = p;
      thread.frame = thread.frames[0];
      thread.state = nullptr;
      thread.stack = nullptr;
      thread.wait = Wait::None;
      if (!thread.copies.empty())
        thread.copies.clear();
    }
  }
  for (NamedBarrier &barrier : barriers)
    barrier.arrived = barrier.expected = 0;
  currentWarp = seeded ? random.below(static_cast<uint32_t>(warps.size())) : 0;
  if (observer)
    observer->beginBlock();

  enter(*pick(), &mainState);

  if (failed) {
    stacks.reset();
    return false;
  }
  if (observer)
    observer->endBlock();
  return !failed;
}

void Worker::enter(Thread &next, FiberState *save) {
  current = &next;
  if (!next.state) {
    next.stack = stacks.take();
    if (!next.stack)
      fail("out of memory for fiber stacks");
    next.state = fiberPrepare(*next.stack, fiberMain, this);
  }
  fiberSwitch(save, next.state);
}

void Worker::fiberMain(void *argument) {
  auto *self = static_cast<Worker *>(argument);
  for (;;) {
    Thread &thread = *self->current;
    self->launch->kernel->entry(&thread, self->launch->params);
    Thread *next = self->finish(thread);
    if (!next) {
      self->stacks.give(thread.stack);
      fiberSwitch(&self->dead, self->mainState);
      __builtin_unreachable();
    }
    if (next->state) {
      // Nobody returns to this fiber, so its stack is free from here on.
      self->stacks.give(thread.stack);
      self->current = next;
      fiberSwitch(&self->dead, next->state);
      __builtin_unreachable();
    }
    next->stack = thread.stack;
    next->state = thread.state;
    self->current = next;
  }
}

/// Makes some warp with a runnable lane the current one.
void Worker::overtake() {
  uint32_t turn = seeded ? random.below(32) : 0;
  auto first =
      static_cast<uint32_t>(__builtin_ctz(rotateRight(readyWarps, turn)));
  currentWarp = (first + turn) % 32;
}

Thread *Worker::pick() {
  Warp *warp = &warps[currentWarp];
  if (!warp->ready) {
    if (!readyWarps)
      return nullptr;
    overtake();
    warp = &warps[currentWarp];
  }
  uint32_t position = static_cast<uint32_t>(__builtin_ctz(warp->ready));
  warp->ready &= warp->ready - 1;
  if (!warp->ready)
    readyWarps &= ~(1u << currentWarp);
  return &threadAt(currentWarp, warp->lanes[position]);
}

void Worker::suspend(Thread &self) {
  Thread *next = pick();
  if (!next)
    deadlock();
  if (next != &self)
    enter(*next, &self.state);
  current = &self;
}

/// The caller keeps the address of the half that holds its results.
static void nextFrame(Thread &self) {
  self.frame = self.frame == self.frames[0] ? self.frames[1] : self.frames[0];
}

void Worker::runSegment(Thread &self, Warp &warp) {
  tessera_virtual_segment segment = warp.segment;
  warp.segment = nullptr;
  if (observer)
    observer->converged(self.warp);
  segment(self.frame, &self);
  warp.arrived = 0;
}

void Worker::collective(Thread &self, tessera_virtual_segment segment,
                        uint32_t location) {
  Warp &warp = warps[self.warp];
  if (!warp.arrived) {
    warp.segment = segment;
    warp.location = location;
  } else if (warp.segment != segment) {
    fail("lanes of one warp are at different warp collectives: " +
         describe(self, location) + "; others are at " +
         describe(self, warp.location));
  }
  warp.arrived |= 1u << self.position;
  if (warp.arrived != warp.live) {
    self.wait = Wait::Collective;
    self.waitLocation = location;
    suspend(self);
    self.wait = Wait::None;
    nextFrame(self);
    return;
  }
  uint32_t others = warp.arrived & ~(1u << self.position);
  runSegment(self, warp);
  nextFrame(self);
  if (others) {
    warp.ready |= others;
    readyWarps |= 1u << self.warp;
  }
  // With a seed, sometimes let another warp overtake here.
  if (seeded && random.below(4) == 0) {
    warp.ready |= 1u << self.position;
    readyWarps |= 1u << self.warp;
    overtake();
    suspend(self);
  }
}

uint32_t Worker::liveLanes(uint32_t index) const {
  const Warp &warp = warps[index];
  if (warp.live == ~0u)
    return ~0u;
  uint32_t lanes = 0;
  for (uint32_t p = 0; p < WarpSize; ++p)
    if (warp.live >> p & 1)
      lanes |= 1u << warp.lanes[p];
  return lanes;
}

void Worker::checkMemberMask(Thread &self, uint32_t mask, uint32_t location) {
  uint32_t live = liveLanes(self.warp);
  if ((mask & live) == live)
    return;
  char text[96];
  std::snprintf(text, sizeof(text),
                "member mask 0x%08x leaves out lanes that still run (0x%08x)",
                mask, live & ~mask);
  fail(std::string(text) + " at " + describe(self, location));
}

void Worker::releaseIfComplete(NamedBarrier &barrier) {
  uint32_t expected = barrier.expected ? barrier.expected : liveThreads;
  if (barrier.arrived < expected)
    return;
  if (observer && !barrier.expected)
    observer->blockBarrier();
  barrier.arrived = barrier.expected = 0;
  for (uint32_t w = 0; w < warps.size(); ++w) {
    if (!barrier.waiting[w])
      continue;
    warps[w].ready |= barrier.waiting[w];
    readyWarps |= 1u << w;
  }
}

void Worker::barrier(Thread &self, uint32_t id, uint32_t count,
                     uint32_t location) {
  if (id >= 16)
    fail("barrier " + std::to_string(id) + " does not exist (0 to 15) at " +
         describe(self, location));
  NamedBarrier &barrier = barriers[id];
  if (!barrier.arrived) {
    std::memset(barrier.waiting, 0, sizeof(uint32_t) * warps.size());
    barrier.expected = count;
  } else if (barrier.expected != count) {
    fail("threads wait at barrier " + std::to_string(id) +
         " with different thread counts, " + std::to_string(count) + " and " +
         std::to_string(barrier.expected) + ", at " + describe(self, location));
  }
  ++barrier.arrived;
  barrier.waiting[self.warp] |= 1u << self.position;
  self.wait = Wait::Barrier;
  self.waitLocation = location;
  releaseIfComplete(barrier);
  suspend(self);
  self.wait = Wait::None;
}

Thread *Worker::finish(Thread &self) {
  Warp &warp = warps[self.warp];
  warp.live &= ~(1u << self.position);
  --liveThreads;
  self.wait = Wait::Done;
  // Copies that nobody waited for are in flight until the kernel ends; no
  // thread of the block may see them.
  if (warp.arrived && warp.arrived == warp.live) {
    uint32_t waiting = warp.arrived;
    runSegment(self, warp);
    warp.ready |= waiting;
    readyWarps |= 1u << self.warp;
  }
  for (NamedBarrier &barrier : barriers)
    if (barrier.arrived && !barrier.expected)
      releaseIfComplete(barrier);
  Thread *next = pick();
  if (!next && liveThreads)
    deadlock();
  return next;
}

std::string Worker::describe(const Thread &thread, uint32_t location) const {
  const tessera_virtual_kernel &kernel = *launch->kernel;
  std::string where = location < kernel.num_locations
                          ? kernel.locations[location]
                          : "an unknown operation";
  auto triple = [](const uint32_t v[3]) {
    return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
           std::to_string(v[2]) + ")";
  };
  return where + " [kernel " + kernel.name + ", block " + triple(block.ctaid) +
         ", thread " + triple(thread.tid) + "]";
}

void Worker::deadlock() {
  // One line per place where threads wait, with how many and an example.
  struct Group {
    uint32_t count = 0;
    const Thread *example = nullptr;
  };
  std::map<std::pair<Wait, uint32_t>, Group> groups;
  for (uint32_t i = 0; i < launch->threadsPerBlock; ++i) {
    const Thread &thread = threads[i];
    if (thread.wait == Wait::Done)
      continue;
    Group &group = groups[{thread.wait, thread.waitLocation}];
    ++group.count;
    if (!group.example)
      group.example = &thread;
  }
  std::string text = "deadlock:";
  const char *separator = " ";
  for (const auto &[key, group] : groups) {
    text += separator + std::to_string(group.count) + " of " +
            std::to_string(launch->threadsPerBlock) + " threads wait at " +
            describe(*group.example, key.second);
    separator = "; ";
  }
  if (liveThreads != launch->threadsPerBlock)
    text += "; " + std::to_string(launch->threadsPerBlock - liveThreads) +
            " threads have returned";
  fail(text);
}

void Worker::fail(const std::string &message) {
  failed = true;
  error = message;
  fiberSwitch(&dead, mainState);
  __builtin_unreachable();
}
