//===- Collectives.cpp - Entries that compiled code calls -----------------===//
//
// The thin C entries of DeviceAbi.h: rendezvous, barriers, asynchronous
// copies, shuffles and votes.
//
//===----------------------------------------------------------------------===//

#include "LaunchState.h"
#include "Worker.h"

#include "tessera/Runtime/Virtual/Shuffle.h"

#include <cstring>

using namespace tessera::vgpu;

namespace {
Thread &threadOf(tessera_virtual_thread *self) {
  return *static_cast<Thread *>(self);
}

template <typename T>
T *slot(char *frame, uint32_t offset) {
  return reinterpret_cast<T *>(frame + offset);
}
} // namespace

extern "C" {

void tessera_virtual_collective(tessera_virtual_thread *self,
                                tessera_virtual_segment segment,
                                uint32_t location) {
  Thread &thread = threadOf(self);
  thread.worker->collective(thread, segment, location);
}

void tessera_virtual_member_mask(tessera_virtual_thread *self, uint32_t mask,
                                 uint32_t location) {
  Thread &thread = threadOf(self);
  thread.worker->checkMemberMask(thread, mask, location);
}

void tessera_virtual_barrier(tessera_virtual_thread *self, uint32_t id,
                             uint32_t count, uint32_t location) {
  Thread &thread = threadOf(self);
  thread.worker->barrier(thread, id, count, location);
}

void tessera_virtual_mma(char *frame, tessera_virtual_thread *self,
                         const uint32_t *program, uint32_t location) {
  Thread &thread = threadOf(self);
  Worker &worker = *thread.worker;
  if (!worker.fullWarp(thread.warp))
    worker.fail("mma.sync needs all 32 lanes of the warp at " +
                worker.describe(thread, location));
  worker.launch->mma(frame, program, *worker.scratch);
  if (worker.observer)
    worker.observer->mma(uint64_t(program[3]) * 2 * 16 * 8 *
                         mmaDepth(MmaKind(program[0])));
}

void tessera_virtual_shuffle(char *frame, tessera_virtual_thread *self,
                             uint32_t kind, uint32_t value, uint32_t offset,
                             uint32_t clamp, uint32_t result, uint32_t valid) {
  const auto *from = slot<uint32_t>(frame, value);
  const auto *b = slot<uint32_t>(frame, offset);
  const auto *c = slot<uint32_t>(frame, clamp);
  uint32_t out[WarpSize];
  for (uint32_t lane = 0; lane < WarpSize; ++lane) {
    uint32_t source;
    bool ok = shuffleSource(kind, lane, b[lane], c[lane], source);
    out[lane] = from[source];
    if (valid != ~0u)
      slot<uint8_t>(frame, valid)[lane] = ok;
  }
  std::memcpy(slot<uint32_t>(frame, result), out, sizeof(out));
}

void tessera_virtual_vote(char *frame, tessera_virtual_thread *self,
                          uint32_t kind, uint32_t predicate, uint32_t result) {
  Thread &thread = threadOf(self);
  uint32_t live = thread.worker->liveLanes(thread.warp);
  const auto *in = slot<uint8_t>(frame, predicate);
  uint32_t ballot = 0;
  for (uint32_t lane = 0; lane < WarpSize; ++lane)
    ballot |= uint32_t(in[lane] & 1) << lane;
  ballot &= live;
  if (kind == 2) {
    for (uint32_t lane = 0; lane < WarpSize; ++lane)
      slot<uint32_t>(frame, result)[lane] = ballot;
    return;
  }
  bool answer = kind == 0   ? ballot != 0
                : kind == 1 ? ballot == live
                            : ballot == 0 || ballot == live;
  std::memset(slot<uint8_t>(frame, result), answer, WarpSize);
}

void tessera_virtual_warp_sync(char *frame, tessera_virtual_thread *self) {
  Thread &thread = threadOf(self);
  if (Observer *observer = thread.worker->observer.get())
    observer->warpBarrier(thread.warp);
}

void tessera_virtual_async_copy(tessera_virtual_thread *self, void *to,
                                const void *from, uint32_t bytes,
                                uint32_t from_bytes, uint32_t location) {
  Thread &thread = threadOf(self);
  AsyncCopy copy{to, from, bytes, from_bytes < bytes ? from_bytes : bytes,
                 location};
  if (Observer *observer = thread.worker->observer.get())
    observer->copyIssued(thread, copy);
  thread.copies.push(copy);
}

void tessera_virtual_async_commit(tessera_virtual_thread *self) {
  threadOf(self).copies.commit();
}

void tessera_virtual_async_wait(tessera_virtual_thread *self,
                                uint32_t pending) {
  Thread &thread = threadOf(self);
  Observer *observer = thread.worker->observer.get();
  thread.copies.wait(pending, [&](const AsyncCopy &copy) {
    if (observer)
      observer->copyLanded(thread, copy);
  });
}

void tessera_virtual_async_wait_all(tessera_virtual_thread *self) {
  Thread &thread = threadOf(self);
  Observer *observer = thread.worker->observer.get();
  thread.copies.waitAll([&](const AsyncCopy &copy) {
    if (observer)
      observer->copyLanded(thread, copy);
  });
}

void tessera_virtual_assert_fail(tessera_virtual_thread *self,
                                 const char *message, uint32_t location) {
  Thread &thread = threadOf(self);
  thread.worker->fail("assertion \"" + std::string(message) + "\" failed at " +
                      thread.worker->describe(thread, location));
}

void tessera_virtual_access(tessera_virtual_thread *self, const void *address,
                            uint32_t bytes, uint32_t flags, uint32_t argument,
                            uint32_t location) {
  Thread &thread = threadOf(self);
  if (Observer *observer = thread.worker->observer.get())
    observer->access(thread, address, bytes, flags, argument, location);
}

void tessera_virtual_count(tessera_virtual_thread *self, uint32_t pipe,
                           uint32_t operations) {
  Thread &thread = threadOf(self);
  if (Observer *observer = thread.worker->observer.get())
    observer->count(pipe, operations);
}
}
