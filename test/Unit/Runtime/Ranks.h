//===- Ranks.h - forked ranks for unit tests --------------------*- C++ -*-===//
//
// Runs a function as several processes that form one job, and collects what
// each returned and how it ended.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_UNIT_RUNTIME_RANKS_H
#define TESSERA_TEST_UNIT_RUNTIME_RANKS_H

#include "tessera/Runtime/Collectives.h"
#include "tessera/Runtime/World.h"
#include "gtest/gtest.h"
#include <csignal>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::test {

struct RankResult {
  std::string text; ///< what the function returned
  int status = 0;   ///< as waitpid gives it
};

/// The job made last; tests look for its leftovers.
inline std::string &lastJob() {
  static std::string job;
  return job;
}
inline std::string uniqueJob() {
  static int number = 0;
  return lastJob() = "unit-test" + std::to_string(getpid()) + "." +
                     std::to_string(number++);
}

/// Starts `n` ranks; each joins and calls `body`. A rank that takes over
/// `seconds` is ended by SIGALRM.
inline std::vector<RankResult>
runRanks(int n, const std::function<std::string(rt::World &)> &body,
         unsigned seconds = 60) {
  std::string job = uniqueJob();
  std::vector<RankResult> results(static_cast<size_t>(n));
  std::vector<pid_t> pids;
  std::vector<int> pipes;
  for (int r = 0; r < n; ++r) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      alarm(seconds);
      rt::RankInfo info;
      info.rank = info.localRank = r;
      info.worldSize = info.localSize = n;
      info.starter = "test";
      info.job = job;
      std::string text;
      {
        auto world = rt::World::join(info);
        if (!world) {
          text = "join: " + world.message();
        } else {
          rt::setCurrentWorld(world->get());
          rt::Status s = rt::selectCollectives(rt::DeviceKind::Virtual);
          text = s ? s.message() : body(**world);
          if (text.empty())
            (*world)->finish();
          else
            (*world)->fail(text);
        }
        ssize_t ignored = write(ends[1], text.data(), text.size());
        (void)ignored;
        _exit(0);
      }
    }
    close(ends[1]);
    pids.push_back(pid);
    pipes.push_back(ends[0]);
  }
  for (int r = 0; r < n; ++r) {
    char buffer[4096];
    for (ssize_t k; (k = read(pipes[r], buffer, sizeof buffer)) > 0;)
      results[r].text.append(buffer, static_cast<size_t>(k));
    close(pipes[r]);
    waitpid(pids[r], &results[r].status, 0);
  }
  return results;
}

/// All ranks ended normally and returned "".
inline void expectAllWell(const std::vector<RankResult> &results) {
  for (size_t r = 0; r < results.size(); ++r) {
    EXPECT_EQ(results[r].text, "") << "rank " << r;
    EXPECT_EQ(results[r].status, 0) << "rank " << r;
  }
}

/// A communicator of all ranks, exchanged through the world.
inline ncclComm_t worldComm(rt::World &world) {
  ncclUniqueId id;
  std::vector<ncclUniqueId> all(static_cast<size_t>(world.size()));
  ncclComm_t comm = nullptr;
  if (ncclGetUniqueId(&id) != ncclSuccess ||
      world.allGather(&id, sizeof id, all.data()) ||
      ncclCommInitRank(&comm, world.size(), all[0], world.rank()) !=
          ncclSuccess)
    return nullptr;
  rt::nameCommunicator(comm, 0, "[all]");
  return comm;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_RUNTIME_RANKS_H
