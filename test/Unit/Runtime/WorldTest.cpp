//===- WorldTest.cpp - rank detection and meeting -------------------------===//
//
// The environments are those that the starters document; the meeting is tried
// with forked processes.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include <arpa/inet.h>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
Expected<RankInfo> detect(std::map<std::string, std::string> variables) {
  return detectRank([=](const std::string &name) -> std::optional<std::string> {
    auto it = variables.find(name);
    if (it == variables.end())
      return std::nullopt;
    return it->second;
  });
}
} // namespace

TEST(RankInfo, NobodyStartedUs) {
  auto info = detect({});
  ASSERT_TRUE(info);
  EXPECT_EQ(info->rank, 0);
  EXPECT_EQ(info->worldSize, 1);
  EXPECT_EQ(info->starter, "");
}

TEST(RankInfo, EachStarter) {
  auto info = detect({{"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "8"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                      {"PMIX_NAMESPACE", "77"},
                      {"SLURM_PROCID", "0"},
                      {"SLURM_STEP_NUM_TASKS", "1"}});
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->starter, "mpirun");
  EXPECT_EQ(info->rank, 3);
  EXPECT_EQ(info->worldSize, 8);
  EXPECT_EQ(info->localRank, 1);
  EXPECT_EQ(info->localSize, 2);
  EXPECT_FALSE(info->oneHost());

  info = detect({{"RANK", "2"},
                 {"WORLD_SIZE", "4"},
                 {"LOCAL_RANK", "2"},
                 {"LOCAL_WORLD_SIZE", "4"},
                 {"MASTER_ADDR", "node7"},
                 {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->starter, "torchrun");
  EXPECT_TRUE(info->oneHost());
  EXPECT_EQ(info->masterAddress, "node7");
  EXPECT_EQ(info->masterPort, 29501);

  info = detect({{"SLURM_PROCID", "5"},
                 {"SLURM_STEP_NUM_TASKS", "7"},
                 {"SLURM_LOCALID", "1"},
                 {"SLURM_NODEID", "2"},
                 {"SLURM_STEP_TASKS_PER_NODE", "2(x2),3"}});
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->starter, "srun");
  EXPECT_EQ(info->localSize, 3);

  // Inside salloc, but not started by srun.
  info = detect({{"SLURM_JOB_ID", "9"}, {"SLURM_NTASKS", "4"}});
  ASSERT_TRUE(info);
  EXPECT_EQ(info->worldSize, 1);

  info = detect({{"PMI_RANK", "1"},
                 {"PMI_SIZE", "2"},
                 {"MPI_LOCALRANKID", "1"},
                 {"MPI_LOCALNRANKS", "2"}});
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->localRank, 1);

  info = detect({{"TESSERA_RANK", "1"},
                 {"TESSERA_WORLD_SIZE", "3"},
                 {"TESSERA_LOCAL_RANK", "1"},
                 {"TESSERA_LOCAL_SIZE", "3"},
                 {"TESSERA_RENDEZVOUS", "x"},
                 {"RANK", "0"},
                 {"WORLD_SIZE", "1"},
                 {"LOCAL_RANK", "0"}});
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->starter, "tessera run");
  EXPECT_EQ(info->rank, 1);
}

TEST(RankInfo, NamesTheBadVariable) {
  auto message = [](std::map<std::string, std::string> v) {
    auto info = detect(v);
    return info ? std::string() : info.message();
  };
  EXPECT_EQ(message({{"TESSERA_RANK", "4"}, {"TESSERA_WORLD_SIZE", "4"}}),
            "environment variable TESSERA_RANK is '4', expected a number from "
            "0 to 3");
  EXPECT_NE(message({{"TESSERA_RANK", "1x"}, {"TESSERA_WORLD_SIZE", "4"}})
                .find("TESSERA_RANK is '1x'"),
            std::string::npos);
  EXPECT_NE(message({{"RANK", "1"}, {"WORLD_SIZE", ""}}).find("WORLD_SIZE is"),
            std::string::npos);
  EXPECT_NE(message({{"SLURM_PROCID", "0"},
                     {"SLURM_STEP_NUM_TASKS", "4"},
                     {"SLURM_NODEID", "3"},
                     {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}})
                .find("covering node 3"),
            std::string::npos);
}

TEST(World, ExchangesDataOfAnyLength) {
  auto results = runRanks(4, [](World &world) -> std::string {
    std::string mine(size_t(world.rank()) * 20'000, char('a' + world.rank()));
    std::vector<std::string> all;
    for (int round = 0; round < 3; ++round) {
      if (Status s = world.gather(mine, all))
        return s.message();
      for (int r = 0; r < 4; ++r)
        if (all[r] != std::string(size_t(r) * 20'000, char('a' + r)))
          return "wrong data of rank " + std::to_string(r);
    }
    return "";
  });
  expectAllWell(results);
}

TEST(World, MissingRankIsNamed) {
  setenv("TESSERA_JOIN_TIMEOUT", "0.5", 1);
  RankInfo info;
  info.rank = 1;
  info.worldSize = info.localSize = 3;
  info.job = uniqueJob();
  auto world = World::join(info);
  ASSERT_FALSE(world);
  EXPECT_EQ(world.message(), "waited 0.5 s for rank 0, 2 of 3 to start (set by "
                             "TESSERA_JOIN_TIMEOUT)");
  setenv("TESSERA_JOIN_TIMEOUT", "soon", 1);
  auto again = World::join(info);
  unsetenv("TESSERA_JOIN_TIMEOUT");
  ASSERT_FALSE(again);
  EXPECT_NE(again.message().find("TESSERA_JOIN_TIMEOUT is 'soon'"),
            std::string::npos);
}

TEST(World, SpanningHostsNeedsAnAddress) {
  RankInfo info;
  info.worldSize = 4;
  info.localSize = 2;
  auto world = World::join(info);
  ASSERT_FALSE(world);
  EXPECT_NE(world.message().find("set MASTER_ADDR"), std::string::npos);
}

namespace {
/// A job over TCP on this host, as if it spanned hosts. Returns what each rank
/// wrote.
std::vector<std::string>
overTcp(int n, const std::function<std::string(World &)> &body) {
  static int port = 20000 + getpid() % 20000;
  ++port;
  std::vector<std::string> texts;
  std::vector<int> pipes;
  for (int r = 0; r < n; ++r) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    if (fork() == 0) {
      alarm(20);
      RankInfo info;
      info.rank = r;
      info.worldSize = n;
      info.localSize = 1;
      info.masterAddress = "localhost";
      info.masterPort = port;
      auto world = World::join(info);
      std::string text = world ? body(**world) : "join: " + world.message();
      if (world && text.empty())
        (*world)->finish();
      else if (world)
        (*world)->fail(text);
      ssize_t ignored = write(ends[1], text.data(), text.size());
      (void)ignored;
      _exit(0);
    }
    close(ends[1]);
    pipes.push_back(ends[0]);
  }
  for (int fd : pipes) {
    char buffer[4096];
    std::string text;
    for (ssize_t k; (k = read(fd, buffer, sizeof buffer)) > 0;)
      text.append(buffer, size_t(k));
    close(fd);
    texts.push_back(text);
  }
  while (wait(nullptr) > 0)
    ;
  return texts;
}
} // namespace

TEST(World, ExchangeOverTcp) {
  auto texts = overTcp(3, [](World &world) -> std::string {
    std::vector<std::string> all;
    std::string mine(100'000 * size_t(world.rank()), char('0' + world.rank()));
    if (Status s = world.gather(mine, all))
      return s.message();
    if (all[2] != std::string(200'000, '2') || !all[0].empty())
      return "wrong data";
    uint64_t nonce = world.nonce(), nonces[3];
    if (Status s = world.allGather(&nonce, 8, nonces))
      return s.message();
    return nonces[0] == nonces[1] && nonces[1] == nonces[2] ? "" : "nonce";
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"", "", ""}));
}

TEST(World, DeathOverTcp) {
  auto texts = overTcp(3, [](World &world) -> std::string {
    if (world.rank() == 1)
      raise(SIGKILL);
    if (Status s = world.barrier())
      return s.message();
    return "";
  });
  EXPECT_NE(texts[0].find("rank 1 closed its connection"), std::string::npos)
      << texts[0];
  EXPECT_NE(texts[2].find("rank 1 closed its connection"), std::string::npos)
      << texts[2];
}

// A segment of a run that died before all had joined must not disturb.
TEST(World, LeftoverOfADeadRunIsReused) {
  RankInfo info;
  info.worldSize = info.localSize = 2;
  info.job = uniqueJob();
  info.starter = "test";
  pid_t pid = fork();
  if (pid == 0) {
    std::thread([] {
      usleep(400'000);
      raise(SIGKILL);
    }).detach();
    (void)World::join(info);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  pid = fork();
  if (pid == 0) {
    info.rank = info.localRank = 1;
    auto world = World::join(info);
    _exit(world && !(*world)->barrier() ? 0 : 1);
  }
  auto world = World::join(info);
  ASSERT_TRUE(world) << world.message();
  EXPECT_EQ((*world)->barrier().message(), "");
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(World, WatchdogEndsTheProcess) {
  std::string job = uniqueJob();
  auto start = [&](int rank) {
    pid_t pid = fork();
    if (pid != 0)
      return pid;
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    RankInfo info;
    info.rank = info.localRank = rank;
    info.worldSize = info.localSize = 2;
    info.job = job;
    auto world = World::join(info);
    if (!world)
      _exit(9);
    Watchdog dog(**world);
    if (rank == 1)
      raise(SIGSEGV);
    sleep(20); // busy elsewhere, not looking at peers
    _exit(0);
  };
  pid_t survivor = start(0), victim = start(1);
  int status = 0;
  waitpid(victim, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  auto begin = std::chrono::steady_clock::now();
  waitpid(survivor, &status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), exitPeerFailed);
}
