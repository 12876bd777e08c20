//===- World.cpp - what all kinds of world share --------------------------===//
//
// Choosing a kind, strings of any length, the watchdog.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/World.h"

#include "SharedMemory.h"
#include "Worlds.h"
#include "tessera/Runtime/Fatal.h"
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace tessera::rt {

namespace {
World *current = nullptr;

/// A single process has no peers.
class LoneWorld final : public World {
public:
  explicit LoneWorld(const RankInfo &info) : World(info) {
    random = randomNonce();
  }
  Status allGather(const void *mine, uint64_t bytes, void *all) override {
    std::memcpy(all, mine, bytes);
    return Status::success();
  }
  Status checkPeers() override { return Status::success(); }
  void fail(const std::string &) override {}
  void finish() override {}
  bool claimReport() override { return true; }
};

std::string hexOf(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(value));
  return text;
}
} // namespace

World *currentWorld() { return current; }
void setCurrentWorld(World *world) { current = world; }

std::string jobSegmentStem(const std::string &job) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (unsigned char c : job)
    hash = (hash ^ c) * 0x100000001b3u;
  return segmentPrefix() + hexOf(hash) + ".";
}

uint64_t randomNonce() {
  uint64_t value = 0;
  if (FILE *f = std::fopen("/dev/urandom", "rb")) {
    size_t got = std::fread(&value, sizeof value, 1, f);
    std::fclose(f);
    if (got == 1)
      return value;
  }
  return static_cast<uint64_t>(
             std::chrono::system_clock::now().time_since_epoch().count()) ^
         (static_cast<uint64_t>(getpid()) << 40);
}

Expected<double> joinTimeout() {
  const char *text = std::getenv("TESSERA_JOIN_TIMEOUT");
  if (!text)
    return 60.0;
  char *end = nullptr;
  double seconds = std::strtod(text, &end);
  if (end == text || *end != 0 || !(seconds > 0))
    return failure("environment variable TESSERA_JOIN_TIMEOUT is '", text,
                   "', expected seconds");
  return seconds;
}

Expected<std::unique_ptr<World>> World::join(const RankInfo &info) {
  try {
    if (info.worldSize == 1)
      return std::unique_ptr<World>(new LoneWorld(info));
    auto seconds = joinTimeout();
    if (!seconds)
      return seconds.status();
    return info.oneHost() ? joinSharedMemory(info, *seconds)
                          : joinTcp(info, *seconds);
  } catch (const std::exception &e) {
    return failure("cannot join the job: ", e.what());
  }
}

std::string World::segmentStem() const {
  return "/" + jobSegmentStem(me.job) + hexOf(random) + ".";
}

Status World::barrier() {
  char mine = 0;
  std::vector<char> all(static_cast<size_t>(size()));
  return allGather(&mine, 1, all.data());
}

Status World::gather(const std::string &mine, std::vector<std::string> &all) {
  uint64_t length = mine.size(), longest = 0;
  std::vector<uint64_t> lengths(static_cast<size_t>(size()));
  if (Status s = allGather(&length, sizeof length, lengths.data()))
    return s;
  for (uint64_t l : lengths)
    longest = std::max(longest, l);
  std::string padded = mine;
  padded.resize(longest);
  std::vector<char> bytes(longest * lengths.size());
  if (longest)
    if (Status s = allGather(padded.data(), longest, bytes.data()))
      return s;
  all.clear();
  for (size_t r = 0; r < lengths.size(); ++r)
    all.emplace_back(bytes.data() + r * longest, lengths[r]);
  return Status::success();
}

void fatalPeer(World &world, const std::string &message) {
  if (world.info().starter != "tessera run" && world.claimReport()) {
    std::string line = "error: " + message + "\n";
    ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
    (void)ignored;
  }
  _exit(exitPeerFailed);
}

struct Watchdog::Impl {
  std::mutex mutex;
  std::condition_variable stop;
  bool stopping = false;
  std::thread thread;
};

Watchdog::Watchdog(World &world) : impl(new Impl()) {
  if (world.size() == 1)
    return;
  impl->thread = std::thread([this, &world] {
    std::unique_lock<std::mutex> lock(impl->mutex);
    while (!impl->stop.wait_for(lock, std::chrono::milliseconds(100),
                                [&] { return impl->stopping; }))
      if (Status s = world.checkPeers())
        fatalPeer(world, s.message());
  });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(impl->mutex);
    impl->stopping = true;
  }
  impl->stop.notify_all();
  if (impl->thread.joinable())
    impl->thread.join();
}

} // namespace tessera::rt
