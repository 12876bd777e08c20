//===- SharedMemory.h - segments and waiting between processes --*- C++ -*-===//
//
// POSIX shared memory with record locks as proof of life, and waiting on a
// futex word in it. A lock that a process holds on a byte of the segment's file
// goes away with the process, however it ends (also while it is a zombie), so a
// peer that tests the lock knows whether the holder lives.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_LAUNCH_SHAREDMEMORY_H
#define TESSERA_LIB_RUNTIME_LAUNCH_SHAREDMEMORY_H

#include "tessera/Runtime/Status.h"
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace tessera::rt {

/// One mapped segment. Closing it gives up this process's locks on it; it must
/// be open at most once per process.
class SharedSegment {
public:
  SharedSegment() = default;
  ~SharedSegment() { close(); }
  SharedSegment(const SharedSegment &) = delete;
  SharedSegment &operator=(const SharedSegment &) = delete;

  /// Opens `name` ("/tessera...."), creating it if needed; not yet mapped.
  Status open(const std::string &name);
  /// Gives it `bytes` bytes (zero where new), all backed by memory, so that a
  /// full /dev/shm is an error here and not a SIGBUS later; then maps it.
  Status map(uint64_t bytes);
  /// Empties the file (a leftover of a run that died).
  Status reset();
  void close();
  void unlink();

  /// True if the segment has lost its name since it was opened.
  bool unlinked() const;

  /// Record locks on single bytes of the file. `exclusive` waits.
  Status lockExclusive(uint64_t byte);
  Status unlock(uint64_t byte);
  /// Takes the lock for the life of this process; false if somebody has it.
  bool tryLock(uint64_t byte, bool shared = false);
  /// The process that holds a lock in [byte, byte + count), 0 if none (own
  /// locks do not count). `count` 0 means to the end.
  int holder(uint64_t byte, uint64_t count = 1) const;

  char *data() const { return bytes; }
  uint64_t size() const { return length; }
  const std::string &name() const { return path; }

private:
  std::string path;
  int fd = -1;
  char *bytes = nullptr;
  uint64_t length = 0;
};

/// Start of every segment name of this user: "tessera.<uid>.".
std::string segmentPrefix();
/// Removes the segments whose names begin with "/" + `prefix`. `onlyDead`
/// spares those that a living process has locked or that are younger than a
/// minute.
void removeSegments(const std::string &prefix, bool onlyDead);

/// Wakes every process that waits on `word`, after changing what they wait for.
void notifyShared(std::atomic<uint32_t> &word);

/// Returns when `done()` holds. `word` must be notified after each change that
/// can make it hold. `check`, called about every 50 ms, may end the wait with a
/// failure.
Status waitShared(std::atomic<uint32_t> &word,
                  const std::function<bool()> &done,
                  const std::function<Status()> &check);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_LAUNCH_SHAREDMEMORY_H
