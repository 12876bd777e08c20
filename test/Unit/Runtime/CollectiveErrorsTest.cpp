//===- CollectiveErrorsTest.cpp - what must be an error, never a hang -----===//
//
// Ranks that disagree, wait in a circle, leave or die. Every test is bounded by
// the alarm of runRanks; a hang ends a rank by SIGALRM and fails the test.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include "lib/Runtime/Launch/Worlds.h"
#include <chrono>
#include <dirent.h>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
/// Shared-memory segments of the last job.
std::vector<std::string> segments() {
  std::vector<std::string> names;
  std::string prefix = jobSegmentStem(lastJob());
  DIR *folder = opendir("/dev/shm");
  while (dirent *e = readdir(folder))
    if (std::string(e->d_name).rfind(prefix, 0) == 0)
      names.push_back(e->d_name);
  closedir(folder);
  return names;
}

void expectAllSay(const std::vector<RankResult> &results,
                  const std::vector<std::string> &parts) {
  for (size_t r = 0; r < results.size(); ++r) {
    EXPECT_TRUE(WIFEXITED(results[r].status)) << "rank " << r << " hung";
    for (const std::string &part : parts)
      EXPECT_NE(results[r].text.find(part), std::string::npos)
          << "rank " << r << " wants '" << part << "', says '"
          << results[r].text << "'";
  }
}
} // namespace

TEST(CollectiveErrors, DifferentOperations) {
  auto results = runRanks(3, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    std::vector<float> a(8), b(24);
    ncclAllReduce(a.data(), a.data(), 8, ncclFloat32, ncclSum, comm, nullptr);
    ncclResult_t r =
        world.rank() == 2
            ? ncclAllGather(a.data(), b.data(), 8, ncclFloat32, comm, nullptr)
            : ncclAllReduce(a.data(), a.data(), 8, ncclFloat32, ncclSum, comm,
                            nullptr);
    return r == ncclInvalidUsage ? ncclGetLastError(comm) : "";
  });
  expectAllSay(results, {"call 2 on communicator [all]",
                         "rank 0 calls ncclAllReduce(count 8, f32, sum)",
                         "rank 2 calls ncclAllGather(count 8, f32)"});
}

TEST(CollectiveErrors, DifferentCountsTypesReductionsRoots) {
  struct Case {
    size_t count[2];
    ncclDataType_t type[2];
    ncclRedOp_t op[2];
    const char *first, *second;
  } cases[] = {
      {{4, 5},
       {ncclFloat32, ncclFloat32},
       {ncclSum, ncclSum},
       "count 4",
       "count 5"},
      {{4, 4}, {ncclFloat32, ncclInt32}, {ncclSum, ncclSum}, "f32", "i32"},
      {{4, 4}, {ncclFloat32, ncclFloat32}, {ncclSum, ncclMax}, "sum", "max"},
      {{4, 0},
       {ncclFloat32, ncclFloat32},
       {ncclSum, ncclSum},
       "count 4",
       "count 0"},
  };
  for (const Case &c : cases) {
    auto results = runRanks(2, [&](World &world) -> std::string {
      ncclComm_t comm = worldComm(world);
      std::vector<float> a(8);
      int me = world.rank();
      ncclAllReduce(a.data(), a.data(), c.count[me], c.type[me], c.op[me], comm,
                    nullptr);
      return ncclGetLastError(comm);
    });
    expectAllSay(results, {"rank 0 calls", "rank 1 calls", c.first, c.second});
  }
  auto results = runRanks(2, [&](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float a = 0;
    ncclBroadcast(&a, &a, 1, ncclFloat32, world.rank(), comm, nullptr);
    return ncclGetLastError(comm);
  });
  expectAllSay(results, {"root 0", "root 1"});
}

TEST(CollectiveErrors, SendAndReceiveOfDifferentLength) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    std::vector<float> a(8);
    if (world.rank() == 0)
      ncclSend(a.data(), 8, ncclFloat32, 1, comm, nullptr);
    else
      ncclRecv(a.data(), 6, ncclFloat32, 0, comm, nullptr);
    return ncclGetLastError(comm);
  });
  EXPECT_NE(results[1].text.find("rank 0 calls ncclSend(count 8, f32, to 1), "
                                 "rank 1 calls ncclRecv(count 6, f32, from 0)"),
            std::string::npos)
      << results[1].text;
  expectAllSay(results, {"count 8"});
}

// Rank 0 waits on one communicator, rank 1 on another.
TEST(CollectiveErrors, CircleAcrossCommunicators) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t first = worldComm(world), second = worldComm(world);
    nameCommunicator(second, 1, "[second]");
    float x = 0;
    ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum,
                  world.rank() ? second : first, nullptr);
    return ncclGetLastError(first);
  });
  for (const RankResult &r : results)
    EXPECT_TRUE(WIFEXITED(r.status));
  // The first to see it says it; the other may hear of that failure instead.
  std::string both = results[0].text + results[1].text;
  EXPECT_NE(both.find("ranks wait for each other: rank 0 for rank 1 in "
                      "ncclAllReduce(count 1, f32, sum), call 1 on "
                      "communicator [all], rank 1 for rank 0"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("communicator [second]"), std::string::npos) << both;
}

TEST(CollectiveErrors, SendsThatWaitForEachOther) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float x = 0;
    // Without a group, both wait for the other to receive.
    if (ncclSend(&x, 1, ncclFloat32, 1 - world.rank(), comm, nullptr))
      return ncclGetLastError(comm);
    ncclRecv(&x, 1, ncclFloat32, 1 - world.rank(), comm, nullptr);
    return "";
  });
  std::string both = results[0].text + results[1].text;
  EXPECT_NE(both.find("ranks wait for each other"), std::string::npos) << both;
  EXPECT_NE(both.find("ncclSend(count 1, f32, to 1)"), std::string::npos);
}

// A slow rank is no dead rank.
TEST(CollectiveErrors, SlowRanksAreWaitedFor) {
  auto results = runRanks(3, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float x = 1;
    if (world.rank() == 1)
      usleep(1'500'000);
    ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, comm, nullptr);
    return x == 3 ? "" : ncclGetLastError(comm);
  });
  expectAllWell(results);
}

TEST(CollectiveErrors, RankThatLeft) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float x = 1;
    if (world.rank() == 1) {
      ncclCommDestroy(comm);
      usleep(1'000'000);
      return "";
    }
    ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, comm, nullptr);
    return ncclGetLastError(comm);
  });
  EXPECT_NE(results[0].text.find("rank 1 has destroyed its communicator"),
            std::string::npos)
      << results[0].text;
}

TEST(CollectiveErrors, KilledRankIsNoticedWithinSeconds) {
  auto start = std::chrono::steady_clock::now();
  auto results = runRanks(3, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float x = 1;
    ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, comm, nullptr);
    if (world.rank() == 1)
      raise(SIGKILL);
    ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, comm, nullptr);
    return ncclGetLastError(comm);
  });
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  EXPECT_LT(seconds, 15);
  EXPECT_TRUE(WIFSIGNALED(results[1].status));
  for (int r : {0, 2})
    EXPECT_TRUE(results[r].text.find("rank 1 (process ") == 0 ||
                results[r].text.find("failed: rank 1 (process ") !=
                    std::string::npos)
        << results[r].text;
  EXPECT_TRUE(segments().empty());
}

TEST(CollectiveErrors, ArgumentsOutOfRange) {
  auto results = runRanks(2, [](World &world) -> std::string {
    ncclComm_t comm = worldComm(world);
    float x = 0;
    if (ncclBroadcast(&x, &x, 1, ncclFloat32, 2, comm, nullptr) !=
        ncclInvalidArgument)
      return "root 2 of 2 ranks was taken";
    if (ncclSend(&x, 1, ncclFloat32, -1, comm, nullptr) != ncclInvalidArgument)
      return "rank -1 was taken";
    if (ncclAllReduce(&x, &x, 1, ncclDataType_t(42), ncclSum, comm, nullptr) !=
        ncclInvalidArgument)
      return "type 42 was taken";
    if (ncclGroupEnd() != ncclInvalidUsage)
      return "group end without start was taken";
    return "";
  });
  expectAllWell(results);
}
