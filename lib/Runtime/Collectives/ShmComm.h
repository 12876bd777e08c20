//===- ShmComm.h - a communicator in shared memory --------------*- C++ -*-===//
//
// The virtual devices' communicator: ranks of one host move bytes through a
// segment of their own.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_COLLECTIVES_SHMCOMM_H
#define TESSERA_LIB_RUNTIME_COLLECTIVES_SHMCOMM_H

#include "../Launch/SharedMemory.h"
#include "tessera/Runtime/Nccl.h"
#include "tessera/Runtime/Status.h"
#include "tessera/Runtime/World.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::rt {

enum class CollectiveOp : uint32_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Send,
  Recv,
};

/// One call, as its caller issued it.
struct CollectiveCall {
  CollectiveOp op;
  const void *send;
  void *recv;
  uint64_t count;
  ncclDataType_t type;
  ncclRedOp_t redOp = ncclSum;
  int peer = 0; ///< root, destination or source

  /// "ncclAllReduce(count 8, f32, sum)"
  std::string describe() const;
};

class ShmComm {
public:
  /// Meets the other ranks in the segment `name`.
  static Expected<std::unique_ptr<ShmComm>>
  create(World &world, const std::string &name, int nranks, int rank);
  ~ShmComm();

  int size() const { return nranks; }
  int rank() const { return me; }
  const std::string &name() const { return segmentName; }
  /// What messages call it.
  std::string label;

  /// Runs one collective that is no send or receive.
  Status collective(const CollectiveCall &call);

private:
  friend class PointToPoint;
  struct Header;
  struct Member;
  struct Mail;
  ShmComm(World &world, int nranks, int rank);

  Header &header();
  Member &member(int r);
  Mail &mail(int from, int to);
  /// Offsets in the segment.
  uint64_t mailOffset() const;
  uint64_t stageOffset(int r) const;
  char *mailData(int from, int to);
  /// Rank r's staging area, and the result area for r == nranks.
  char *stage(int r);

  /// Waits until nobody is missing; `late` gives a missing member or -1.
  Status wait(const std::function<int()> &late, const std::string &what);
  Status barrier(const std::string &what);
  Status checkSameCall(const CollectiveCall &call);
  Status allReduce(const CollectiveCall &call, const std::string &what);
  Status allGather(const CollectiveCall &call, const std::string &what);
  Status reduceScatter(const CollectiveCall &call, const std::string &what);
  Status broadcast(const CollectiveCall &call, const std::string &what);
  std::string where(const CollectiveCall &call) const;

  World &world;
  SharedSegment segment;
  std::string segmentName;
  int nranks, me;
  uint64_t stageBytes = 0, mailBytes = 0;
  uint64_t arrivals = 0, calls = 0;
};

/// Sends and receives of one group, over any communicators, making progress
/// together.
class PointToPoint {
public:
  void add(ShmComm &comm, const CollectiveCall &call);
  bool empty() const { return pending.empty(); }
  Status run(World &world);

private:
  struct Transfer {
    ShmComm *comm;
    CollectiveCall call;
    uint64_t done = 0; ///< bytes moved
    bool started = false, complete = false;
  };
  /// Moves what can be moved now; `moved` if anything was.
  Status step(Transfer &transfer, bool &moved);
  std::vector<Transfer> pending;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_COLLECTIVES_SHMCOMM_H
