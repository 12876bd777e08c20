//===- World.h - the ranks of one job ---------------------------*- C++ -*-===//
//
// The ranks' meeting point: exchange of small host data, agreement on errors,
// and proof of life. On one host through shared memory, over several through
// TCP to rank 0.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_WORLD_H
#define TESSERA_RUNTIME_WORLD_H

#include "tessera/Runtime/Launch.h"
#include "tessera/Runtime/Status.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::rt {

class World {
public:
  /// Joins the job; returns when all ranks have. Fails after
  /// TESSERA_JOIN_TIMEOUT seconds (default 60), naming the missing ranks.
  static Expected<std::unique_ptr<World>> join(const RankInfo &info);
  virtual ~World() = default;

  int rank() const { return me.rank; }
  int size() const { return me.worldSize; }
  const RankInfo &info() const { return me; }

  /// Gathers `bytes` bytes (equal on all ranks) of every rank in rank order
  /// into `all`, on every rank. Fails when a rank is gone.
  virtual Status allGather(const void *mine, uint64_t bytes, void *all) = 0;
  /// Gathers byte strings of any lengths, on every rank.
  Status gather(const std::string &mine, std::vector<std::string> &all);
  Status barrier();

  /// Fails, naming the rank, as soon as a rank has failed or is gone without
  /// having called finish(). Cheap; may be called from any thread.
  virtual Status checkPeers() = 0;
  /// Tells the others that this rank fails; they end with `exitPeerFailed`.
  virtual void fail(const std::string &message) = 0;
  /// Tells the others that this rank may go away from now on.
  virtual void finish() = 0;
  /// True once rank `r` has called finish().
  virtual bool hasFinished(int r) { return false; }
  /// True for the first caller among the ranks of this host: who may print a
  /// message that every rank could print.
  virtual bool claimReport() = 0;

  /// A random number, the same on all ranks.
  uint64_t nonce() const { return random; }
  /// Start of the names of this job's shared-memory segments.
  std::string segmentStem() const;

  /// Brackets a wait for another rank, so that a circle of ranks waiting for
  /// each other (in different collectives, say) is found. `checkWait` is
  /// called while waiting and fails when a circle is certain.
  virtual void beginWait(int target, const std::string &call) {}
  virtual Status checkWait() { return Status::success(); }
  virtual void endWait() {}

protected:
  explicit World(const RankInfo &info) : me(info) {}
  RankInfo me;
  uint64_t random = 0;
};

/// The single job of this process, for the collectives. Not owned.
World *currentWorld();
void setCurrentWorld(World *world);

/// Ends this process because of another rank: prints `message` unless a peer
/// (or `tessera run`, which sees more) reports it, and exits with
/// `exitPeerFailed`.
[[noreturn]] void fatalPeer(World &world, const std::string &message);

/// A thread that ends the process within about 0.2 s after a peer failed or
/// died. Stops when destroyed.
class Watchdog {
public:
  explicit Watchdog(World &world);
  ~Watchdog();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_WORLD_H
