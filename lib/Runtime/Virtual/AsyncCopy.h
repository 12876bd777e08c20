//===- AsyncCopy.h - cp.async that lands late -------------------*- C++ -*-===//
//
// An asynchronous copy may land any time between its issue and the wait. The
// virtual GPU picks the latest moment, so code that forgets the wait reads
// what was there before (poison, or the previous stage's data).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_ASYNCCOPY_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_ASYNCCOPY_H

#include <cstdint>
#include <vector>

namespace tessera {
namespace vgpu {

struct AsyncCopy {
  void *to;
  const void *from;
  uint32_t bytes;     ///< 4, 8 or 16
  uint32_t fromBytes; ///< the rest is zero
  uint32_t location;
};

/// The copies of one thread, oldest first, in commit groups.
class AsyncQueue {
public:
  void push(const AsyncCopy &copy) { copies.push_back(copy); }
  void commit() { groupEnds.push_back(static_cast<uint32_t>(copies.size())); }
  /// Lands all but the newest `pending` groups; calls `landed(copy)` after
  /// each copy.
  template <typename Fn>
  void wait(uint32_t pending, Fn landed);
  /// Lands everything, committed or not.
  template <typename Fn>
  void waitAll(Fn landed);
  void clear() {
    copies.clear();
    groupEnds.clear();
    nextCopy = nextGroup = 0;
  }
  bool empty() const { return copies.empty() && groupEnds.empty(); }

private:
  static void land(const AsyncCopy &copy);
  std::vector<AsyncCopy> copies;
  std::vector<uint32_t> groupEnds; ///< index into copies
  uint32_t nextCopy = 0, nextGroup = 0;
};

inline void AsyncQueue::land(const AsyncCopy &copy) {
  if (copy.bytes == 16 && copy.fromBytes == 16) {
    __builtin_memcpy(copy.to, copy.from, 16);
    return;
  }
  auto *to = static_cast<char *>(copy.to);
  __builtin_memcpy(to, copy.from, copy.fromBytes);
  __builtin_memset(to + copy.fromBytes, 0, copy.bytes - copy.fromBytes);
}

template <typename Fn>
void AsyncQueue::wait(uint32_t pending, Fn landed) {
  uint32_t groups = static_cast<uint32_t>(groupEnds.size());
  if (groups - nextGroup <= pending)
    return;
  nextGroup = groups - pending;
  for (uint32_t end = groupEnds[nextGroup - 1]; nextCopy != end; ++nextCopy) {
    land(copies[nextCopy]);
    landed(copies[nextCopy]);
  }
  if (nextGroup == groups && nextCopy == copies.size()) {
    clear();
    return;
  }
  // A pipeline that always keeps a few groups in flight never empties the
  // queue: drop the landed front once it dominates.
  if (nextCopy >= 64 && nextCopy * 2 >= copies.size()) {
    copies.erase(copies.begin(), copies.begin() + nextCopy);
    groupEnds.erase(groupEnds.begin(), groupEnds.begin() + nextGroup);
    for (uint32_t &end : groupEnds)
      end -= nextCopy;
    nextCopy = nextGroup = 0;
  } else if (nextGroup >= 256) {
    groupEnds.erase(groupEnds.begin(), groupEnds.begin() + nextGroup);
    nextGroup = 0;
  }
}

template <typename Fn>
void AsyncQueue::waitAll(Fn landed) {
  for (; nextCopy != copies.size(); ++nextCopy) {
    land(copies[nextCopy]);
    landed(copies[nextCopy]);
  }
  clear();
}

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_ASYNCCOPY_H
