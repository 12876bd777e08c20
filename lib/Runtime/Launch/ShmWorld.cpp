//===- ShmWorld.cpp - the ranks of one host -------------------------------===//
//
// One segment per job: a header, and a slot per rank with its state, a bulletin
// for exchanged data, and what it is waiting for. Who comes first initialises
// it under a record lock; each rank then holds the lock on its own byte for
// life, so a rank that died is seen at once, whatever killed it. When all have
// joined the name is removed: nothing is left behind, however the ranks end.
//
// A circle of waits is certain when every rank in it has re-evaluated its
// condition twice since the circle was first seen and still waits for the same
// rank in the same call.
//
//===----------------------------------------------------------------------===//
#include "SharedMemory.h"
#include "Worlds.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace tessera::rt {

namespace {
constexpr uint32_t worldMagic = 0x54535752; // "TSWR"
constexpr uint64_t bulletinBytes = 16384;
enum RankState : uint32_t { Empty, Joined, Failed, Finished };

struct Header {
  std::atomic<uint32_t> magic;
  uint32_t worldSize;
  uint64_t nonce;
  std::atomic<uint32_t> wake;
  std::atomic<uint32_t> closed;   ///< all ranks have joined
  std::atomic<uint32_t> reported; ///< somebody has printed the failure
};

struct Slot {
  std::atomic<uint32_t> state;
  std::atomic<int32_t> pid;
  std::atomic<uint64_t> arrivals;   ///< barriers reached
  std::atomic<int32_t> waitTarget;  ///< rank waited for + 1, 0: none
  std::atomic<uint32_t> waitEpoch;  ///< changes with every wait and target
  std::atomic<uint32_t> waitChecks; ///< times the condition was looked at
  char waitCall[160];
  char message[1024];
  char bulletin[bulletinBytes];
};

/// Bytes of the segment's file used as locks.
constexpr uint64_t initLock = 0;
uint64_t lifeLock(int rank) { return 1 + static_cast<uint64_t>(rank); }

void copyText(char *to, size_t capacity, const std::string &text) {
  size_t n = std::min(capacity - 1, text.size());
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}
} // namespace

class ShmWorld final : public World {
public:
  explicit ShmWorld(const RankInfo &info) : World(info) {}
  ~ShmWorld() override {
    if (joined && slot(me.rank).state == Joined)
      finish();
  }

  Status join(double timeoutSeconds);
  Status allGather(const void *mine, uint64_t bytes, void *all) override;
  Status checkPeers() override;
  void fail(const std::string &message) override;
  void finish() override;
  bool hasFinished(int r) override { return slot(r).state == Finished; }
  bool claimReport() override { return header().reported.exchange(1) == 0; }
  void beginWait(int target, const std::string &call) override;
  Status checkWait() override;
  void endWait() override;

private:
  Header &header() { return *reinterpret_cast<Header *>(segment.data()); }
  Slot &slot(int r) {
    return reinterpret_cast<Slot *>(segment.data() + sizeof(Header))[r];
  }
  Expected<bool> attach();
  Status meet();
  std::string missingRanks();

  SharedSegment segment;
  bool joined = false;
  uint64_t arrivals = 0;
  /// The circle seen last: rank, epoch and checks of each member.
  struct Member {
    int rank;
    uint32_t epoch, checks;
  };
  std::vector<Member> circle;
};

/// Opens the segment and takes this rank's place in it. False: try again (the
/// segment belongs to a run that is just closing).
Expected<bool> ShmWorld::attach() {
  segment.close();
  if (Status s = segment.open("/" + jobSegmentStem(me.job) + "world"))
    return s;
  if (Status s = segment.lockExclusive(initLock))
    return s;
  if (segment.unlinked())
    return false;
  bool inUse = segment.holder(lifeLock(0), 0) != 0;
  if (!inUse)
    if (Status s = segment.reset())
      return s;
  if (Status s = segment.map(
          sizeof(Header) + sizeof(Slot) * static_cast<uint64_t>(me.worldSize)))
    return s;
  Header &h = header();
  if (!inUse) {
    h.worldSize = static_cast<uint32_t>(me.worldSize);
    h.nonce = randomNonce();
    h.magic = worldMagic;
  } else if (h.magic != worldMagic || h.closed) {
    return false;
  } else if (h.worldSize != static_cast<uint32_t>(me.worldSize)) {
    return failure("rank ", me.rank, " was started as one of ", me.worldSize,
                   " ranks, others of the same job as one of ", h.worldSize);
  }
  if (slot(me.rank).state != Empty || !segment.tryLock(lifeLock(me.rank)))
    return failure("rank ", me.rank,
                   " was started twice (the other is process ",
                   slot(me.rank).pid.load(), ")");
  slot(me.rank).pid = getpid();
  slot(me.rank).state = Joined;
  random = h.nonce;
  if (Status s = segment.unlock(initLock))
    return s;
  notifyShared(h.wake);
  return true;
}

std::string ShmWorld::missingRanks() {
  std::string text;
  int listed = 0;
  for (int r = 0; r < me.worldSize; ++r)
    if (slot(r).state == Empty && ++listed <= 8)
      text += (text.empty() ? "" : ", ") + std::to_string(r);
  return listed > 8 ? text + ", ..." : text;
}

Status ShmWorld::join(double timeoutSeconds) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  removeSegments(segmentPrefix(), /*onlyDead=*/true);
  for (;;) {
    auto attached = attach();
    if (!attached)
      return attached.status();
    if (*attached)
      break;
    if (Clock::now() > deadline)
      return failure("another run of the same job is still starting");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  joined = true;
  Status s = waitShared(
      header().wake,
      [&] {
        for (int r = 0; r < me.worldSize; ++r)
          if (slot(r).state == Empty)
            return false;
        return true;
      },
      [&]() -> Status {
        if (Status s = checkPeers())
          return s;
        if (Clock::now() > deadline)
          return failure("waited ", timeoutSeconds, " s for rank ",
                         missingRanks(), " of ", me.worldSize,
                         " to start (set by TESSERA_JOIN_TIMEOUT)");
        return Status::success();
      });
  if (s) {
    if (segment.holder(lifeLock(0), 0) == 0)
      segment.unlink(); // nobody else is here
    return s;
  }
  if (me.rank == 0) {
    header().closed = 1;
    segment.unlink();
  }
  // Nobody goes on before the name is gone: a leftover is impossible.
  return barrier();
}

Status ShmWorld::meet() {
  uint64_t target = ++arrivals;
  slot(me.rank).arrivals.store(target, std::memory_order_seq_cst);
  notifyShared(header().wake);
  auto late = [&]() -> int {
    for (int r = 0; r < me.worldSize; ++r)
      if (slot(r).arrivals.load(std::memory_order_seq_cst) < target)
        return r;
    return -1;
  };
  Status s = waitShared(
      header().wake, [&] { return late() < 0; },
      [&]() -> Status {
        if (Status s = checkPeers())
          return s;
        int r = late();
        if (r >= 0 && slot(r).state == Finished)
          return failure("rank ", r, " has ended its program while rank ",
                         me.rank, " waits for it");
        if (r >= 0)
          beginWait(r, "the exchange of host data");
        return r >= 0 ? checkWait() : Status::success();
      });
  endWait();
  return s;
}

Status ShmWorld::allGather(const void *mine, uint64_t bytes, void *all) {
  for (uint64_t at = 0; at < bytes; at += bulletinBytes) {
    uint64_t n = std::min(bulletinBytes, bytes - at);
    std::memcpy(slot(me.rank).bulletin, static_cast<const char *>(mine) + at,
                n);
    if (Status s = meet())
      return s;
    for (int r = 0; r < me.worldSize; ++r)
      std::memcpy(static_cast<char *>(all) + r * bytes + at, slot(r).bulletin,
                  n);
    if (Status s = meet())
      return s;
  }
  return Status::success();
}

Status ShmWorld::checkPeers() {
  if (!joined)
    return Status::success();
  for (int r = 0; r < me.worldSize; ++r) {
    if (r == me.rank)
      continue;
    uint32_t state = slot(r).state;
    if (state == Failed)
      return failure("rank ", r, " failed: ", slot(r).message);
    if (state != Joined || segment.holder(lifeLock(r)) != 0)
      continue;
    // It may have finished between the two looks.
    if (slot(r).state == Joined)
      return failure("rank ", r, " (process ", slot(r).pid.load(),
                     ") ended without a word; was it killed?");
  }
  return Status::success();
}

void ShmWorld::fail(const std::string &message) {
  if (!joined)
    return;
  copyText(slot(me.rank).message, sizeof(Slot::message), message);
  header().reported = 1;
  slot(me.rank).state = Failed;
  notifyShared(header().wake);
}

void ShmWorld::finish() {
  slot(me.rank).state = Finished;
  notifyShared(header().wake);
}

void ShmWorld::beginWait(int target, const std::string &call) {
  Slot &mine = slot(me.rank);
  if (mine.waitTarget != target + 1) {
    copyText(mine.waitCall, sizeof(Slot::waitCall), call);
    mine.waitTarget = target + 1;
    ++mine.waitEpoch;
  }
  ++mine.waitChecks;
}

void ShmWorld::endWait() {
  Slot &mine = slot(me.rank);
  if (mine.waitTarget == 0)
    return;
  mine.waitTarget = 0;
  ++mine.waitEpoch;
  circle.clear();
}

Status ShmWorld::checkWait() {
  std::vector<Member> now;
  int r = me.rank;
  do {
    Slot &s = slot(r);
    now.push_back({r, s.waitEpoch, s.waitChecks});
    r = s.waitTarget - 1;
  } while (r >= 0 && r != me.rank && int(now.size()) <= me.worldSize);
  if (r != me.rank) { // no circle through this rank
    circle.clear();
    return Status::success();
  }
  bool same = now.size() == circle.size();
  for (size_t i = 0; same && i < now.size(); ++i)
    same = now[i].rank == circle[i].rank && now[i].epoch == circle[i].epoch;
  if (!same) {
    circle = now;
    return Status::success();
  }
  for (size_t i = 0; i < now.size(); ++i)
    if (now[i].checks - circle[i].checks < 2)
      return Status::success();
  // All ranks of the circle come here; they say the same.
  std::rotate(now.begin(),
              std::min_element(now.begin(), now.end(),
                               [](const Member &a, const Member &b) {
                                 return a.rank < b.rank;
                               }),
              now.end());
  std::ostringstream text;
  text << "ranks wait for each other: ";
  for (size_t i = 0; i < now.size(); ++i)
    text << (i ? ", " : "") << "rank " << now[i].rank << " for rank "
         << slot(now[i].rank).waitTarget - 1 << " in "
         << slot(now[i].rank).waitCall;
  return Status::failure(text.str());
}

Expected<std::unique_ptr<World>> joinSharedMemory(const RankInfo &info,
                                                  double timeoutSeconds) {
  auto world = std::make_unique<ShmWorld>(info);
  if (Status s = world->join(timeoutSeconds))
    return s;
  return std::unique_ptr<World>(std::move(world));
}

} // namespace tessera::rt
