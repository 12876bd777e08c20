//===- FakeNccl.cpp - an NCCL that is none --------------------------------===//
//
// A libnccl.so.2 for tests: records every call as text, and sums f32 between
// processes through a file, enough for the fake program on the fake driver.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Nccl.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {
struct Shared {
  std::atomic<int> arrived;
  float data[16][1024];
};
std::string record;
template <typename... Args>
ncclResult_t log(const Args &...args) {
  std::ostringstream os;
  ((os << args << " "), ...);
  record += os.str() + "\n";
  return ncclSuccess;
}
} // namespace

struct ncclComm {
  int nranks, rank, meetings;
  Shared *shared;
  void meet() {
    ++shared->arrived;
    ++meetings;
    while (shared->arrived < nranks * meetings)
      usleep(100);
  }
};

extern "C" {
/// The calls since the last question.
const char *fakeNcclRecord() {
  static std::string last;
  last.swap(record);
  record.clear();
  return last.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::string name = "/dev/shm/fake-nccl-XXXXXX";
  int fd = mkstemp(name.data());
  if (std::getenv("FAKE_NCCL_FAIL"))
    unlink(name.c_str()); // for ranks that end before they use it
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0)
    return ncclSystemError;
  close(fd);
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, name.data(), name.size());
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id,
                              int rank) {
  if (std::getenv("FAKE_NCCL_FAIL")) {
    unlink(id.internal);
    return ncclUnhandledCudaError;
  }
  int fd = open(id.internal, O_RDWR);
  void *p =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  *comm = new ncclComm{nranks, rank, 0, static_cast<Shared *>(p)};
  (*comm)->meet();
  unlink(id.internal);
  return ncclSuccess;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *newcomm, void *) {
  *newcomm = comm;
  return log("split", color, key);
}
ncclResult_t ncclCommDestroy(ncclComm_t) { return log("destroy"); }
ncclResult_t ncclCommAbort(ncclComm_t) { return log("abort"); }
ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
  *count = comm->nranks;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return "fake error"; }
const char *ncclGetLastError(ncclComm_t) { return "as asked"; }
ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  if (type != ncclFloat32 || count > 1024)
    return ncclInvalidArgument;
  std::memcpy(comm->shared->data[comm->rank], send, count * 4);
  comm->meet();
  std::vector<float> sum(count);
  for (int r = 0; r < comm->nranks; ++r)
    for (size_t i = 0; i < count; ++i)
      sum[i] += comm->shared->data[r][i];
  comm->meet();
  std::memcpy(recv, sum.data(), count * 4);
  return log("all_reduce", send, recv, count, type, op, stream);
}
ncclResult_t ncclAllGather(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclComm_t,
                           cudaStream_t stream) {
  return log("all_gather", send, recv, count, type, stream);
}
ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t,
                               cudaStream_t stream) {
  return log("reduce_scatter", send, recv, count, type, op, stream);
}
ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count,
                           ncclDataType_t type, int root, ncclComm_t,
                           cudaStream_t stream) {
  return log("broadcast", send, recv, count, type, root, stream);
}
ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t, cudaStream_t stream) {
  return log("send", send, count, type, peer, stream);
}
ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t, cudaStream_t stream) {
  return log("recv", recv, count, type, peer, stream);
}
ncclResult_t ncclGroupStart() { return log("group_start"); }
ncclResult_t ncclGroupEnd() { return log("group_end"); }
}
