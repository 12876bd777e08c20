//===- NcclForwardTest.cpp - nccl* calls on CUDA --------------------------===//
//
// Every call must reach NCCL with its arguments unchanged; the fake NCCL
// records them. It is loaded by path first, so that the runtime's dlopen by
// name finds it.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Collectives.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <sstream>

using namespace tessera::rt;

namespace {
template <typename... Args>
std::string line(const Args &...args) {
  std::ostringstream os;
  ((os << args << " "), ...);
  return os.str() + "\n";
}
} // namespace

TEST(NcclForward, ArgumentsArriveUnchanged) {
  void *fake = dlopen(FAKE_DRIVER "/libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(fake, nullptr) << dlerror();
  auto calls = [&] {
    auto f = reinterpret_cast<const char *(*)()>(dlsym(fake, "fakeNcclRecord"));
    return std::string(f());
  };
  Status s = selectCollectives(DeviceKind::Cuda);
  ASSERT_EQ(s.message(), "");
  ncclUniqueId id;
  ncclComm_t comm = nullptr, part = nullptr;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  nameCommunicator(comm, 4, "[tp]");
  resetCollectiveCounts();
  float data[8] = {1, 2, 3};
  const void *from = data;
  void *to = data + 4;
  auto *stream = reinterpret_cast<cudaStream_t>(0x50);

  EXPECT_EQ(ncclAllReduce(from, to, 3, ncclFloat32, ncclSum, comm, stream), 0);
  EXPECT_EQ(calls(), line("all_reduce", from, to, 3, 7, 0, stream));
  EXPECT_EQ(data[6], 3);
  EXPECT_EQ(ncclAllGather(from, to, 5, ncclBfloat16, comm, stream), 0);
  EXPECT_EQ(calls(), line("all_gather", from, to, 5, 9, stream));
  EXPECT_EQ(ncclReduceScatter(from, to, 6, ncclFloat16, ncclMax, comm, stream),
            0);
  EXPECT_EQ(calls(), line("reduce_scatter", from, to, 6, 6, 2, stream));
  EXPECT_EQ(ncclBroadcast(from, to, 7, ncclInt32, 0, comm, stream), 0);
  EXPECT_EQ(calls(), line("broadcast", from, to, 7, 2, 0, stream));
  ncclGroupStart();
  ncclSend(from, 8, ncclInt8, 0, comm, stream);
  ncclRecv(to, 8, ncclInt8, 0, comm, stream);
  ncclGroupEnd();
  EXPECT_EQ(calls(), "group_start \n" + line("send", from, 8, 0, 0, stream) +
                         line("recv", to, 8, 0, 0, stream) + "group_end \n");
  EXPECT_EQ(ncclCommSplit(comm, 2, 9, &part, nullptr), 0);
  EXPECT_EQ(calls(), "split 2 9 \n");

  // What NCCL refuses comes back with its code and text.
  EXPECT_EQ(ncclAllReduce(from, to, 3, ncclInt8, ncclSum, comm, stream),
            ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(comm),
               "ncclAllReduce(count 3, i8, sum) on communicator [tp]: fake "
               "error: as asked");
  uint64_t counted = 0;
  for (const CollectiveCount &c : collectiveCounts()) {
    EXPECT_EQ(c.communicator, 4);
    counted += c.calls;
  }
  EXPECT_EQ(counted, 7u);
  EXPECT_EQ(ncclCommDestroy(part), 0);
  EXPECT_EQ(ncclCommAbort(comm), 0);
  EXPECT_EQ(calls(), "destroy \nabort \n");
}
