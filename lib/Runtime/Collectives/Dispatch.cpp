//===- Dispatch.cpp - groups, backends and errors of nccl* calls ----------===//
//
// Checks the arguments, counts, then forwards to NCCL or runs the call on
// shared memory. On virtual devices a group keeps its calls until it ends: then
// sends and receives first, all together, and the collectives in their order.
//
//===----------------------------------------------------------------------===//
#include "Communicator.h"
#include "Reduce.h"
#include "tessera/Runtime/Fatal.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace tessera::rt {

namespace {
struct Group {
  int depth = 0;
  struct Item {
    ncclComm_t comm;
    CollectiveCall call;
  };
  std::vector<Item> items;
};
thread_local Group group;
thread_local std::string lastError;

bool isPointToPoint(const CollectiveCall &call) {
  return call.op == CollectiveOp::Send || call.op == CollectiveOp::Recv;
}

Status checkArguments(ncclComm_t comm, const CollectiveCall &call) {
  if (!comm)
    return failure("nccl call on a null communicator");
  if (bytesOf(call.type) == 0)
    return failure("nccl call with unknown data type ", int(call.type));
  if (call.redOp < ncclSum || call.redOp > ncclAvg)
    return failure("nccl call with unknown reduction ", int(call.redOp));
  if (call.peer < 0 || call.peer >= comm->nranks)
    return failure(call.describe(), " on communicator ", comm->label,
                   ": no such rank, it has ", comm->nranks);
  return Status::success();
}

void observe(ncclComm_t comm, const CollectiveCall &call) {
  if (!collectiveState().observer || !call.recv)
    return;
  uint64_t bytes = call.count * bytesOf(call.type);
  if (call.op == CollectiveOp::AllGather)
    bytes *= static_cast<uint64_t>(comm->nranks);
  collectiveState().observer(call.recv, bytes);
}

/// A collective of one rank is a copy (an average too), and so is a message to
/// itself.
void copyAlone(const CollectiveCall &call) {
  if (call.send != call.recv && call.count)
    std::memmove(call.recv, call.send, call.count * bytesOf(call.type));
}

/// Sends of a single rank to itself meet its receives in order.
Status exchangeAlone(std::vector<Group::Item> &items) {
  std::vector<Group::Item> sends, receives;
  for (const auto &item : items)
    (item.call.op == CollectiveOp::Send ? sends : receives).push_back(item);
  for (size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i >= sends.size() || i >= receives.size() ||
        sends[i].call.count != receives[i].call.count ||
        sends[i].call.type != receives[i].call.type)
      return failure("a send of a rank to itself has no matching receive in "
                     "its group");
    copyAlone({CollectiveOp::Send, sends[i].call.send, receives[i].call.recv,
               sends[i].call.count, sends[i].call.type});
    observe(receives[i].comm, receives[i].call);
  }
  return Status::success();
}

Status runVirtual(std::vector<Group::Item> items) {
  PointToPoint transfers;
  std::vector<Group::Item> alone;
  for (const auto &item : items)
    if (isPointToPoint(item.call)) {
      if (item.comm->shared)
        transfers.add(*item.comm->shared, item.call);
      else
        alone.push_back(item);
    }
  if (Status s = exchangeAlone(alone))
    return s;
  if (!transfers.empty())
    if (Status s = transfers.run(*currentWorld()))
      return s;
  for (const auto &item : items) {
    if (isPointToPoint(item.call)) {
      if (item.comm->shared)
        observe(item.comm, item.call);
      continue;
    }
    if (item.comm->shared) {
      if (Status s = item.comm->shared->collective(item.call))
        return s;
    } else {
      copyAlone(item.call);
    }
    observe(item.comm, item.call);
  }
  return Status::success();
}

ncclResult_t forward(ncclComm_t comm, const CollectiveCall &c,
                     cudaStream_t stream) {
  const NcclLibrary &l = *collectiveState().library;
  switch (c.op) {
  case CollectiveOp::AllReduce:
    return l.ncclAllReduce(c.send, c.recv, c.count, c.type, c.redOp, comm->real,
                           stream);
  case CollectiveOp::AllGather:
    return l.ncclAllGather(c.send, c.recv, c.count, c.type, comm->real, stream);
  case CollectiveOp::ReduceScatter:
    return l.ncclReduceScatter(c.send, c.recv, c.count, c.type, c.redOp,
                               comm->real, stream);
  case CollectiveOp::Broadcast:
    return l.ncclBroadcast(c.send, c.recv, c.count, c.type, c.peer, comm->real,
                           stream);
  case CollectiveOp::Send:
    return l.ncclSend(c.send, c.count, c.type, c.peer, comm->real, stream);
  case CollectiveOp::Recv:
    return l.ncclRecv(c.recv, c.count, c.type, c.peer, comm->real, stream);
  }
  return ncclInternalError;
}

/// A failure that other ranks see in the same words is printed once per host.
[[noreturn]] void endProcess(const std::string &message) {
  World *world = currentWorld();
  if (world && world->size() > 1) {
    if (Status s = world->checkPeers())
      fatalPeer(*world, s.message());
    if (!world->claimReport())
      _exit(exitPeerFailed);
  }
  fatal(message);
}
} // namespace

CollectiveState &collectiveState() {
  static CollectiveState state;
  return state;
}

void setCollectivesFatal(bool fatal) { collectiveState().fatal = fatal; }
void setWriteObserver(void (*observer)(const void *, uint64_t)) {
  collectiveState().observer = observer;
}

Status selectCollectives(DeviceKind kind) {
  CollectiveState &state = collectiveState();
  if (kind == DeviceKind::Cuda) {
    auto library = openNccl();
    if (!library)
      return library.status();
    state.library = *library;
  }
  state.kind = kind;
  return Status::success();
}

ncclResult_t finishCall(const Status &status, ncclResult_t code) {
  if (!status)
    return ncclSuccess;
  if (collectiveState().fatal)
    endProcess(status.message());
  lastError = status.message();
  return code;
}

ncclResult_t issue(ncclComm_t comm, const CollectiveCall &call,
                   cudaStream_t stream) {
  if (Status s = checkArguments(comm, call))
    return finishCall(s, ncclInvalidArgument);
  countCall(*comm, call);
  if (collectiveState().kind == DeviceKind::Cuda) {
    ncclResult_t r = forward(comm, call, stream);
    if (r == ncclSuccess || r == ncclInProgress)
      return r;
    const NcclLibrary &l = *collectiveState().library;
    return finishCall(failure(call.describe(), " on communicator ", comm->label,
                              ": ", l.ncclGetErrorString(r), ": ",
                              l.ncclGetLastError(comm->real)),
                      r);
  }
  if (group.depth > 0) {
    group.items.push_back({comm, call});
    return ncclSuccess;
  }
  return finishCall(runVirtual({{comm, call}}), ncclInvalidUsage);
}

const char *lastErrorText() { return lastError.c_str(); }

ncclResult_t groupStart() {
  if (collectiveState().kind == DeviceKind::Cuda)
    return collectiveState().library->ncclGroupStart();
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t groupEnd() {
  if (collectiveState().kind == DeviceKind::Cuda) {
    const NcclLibrary &l = *collectiveState().library;
    ncclResult_t r = l.ncclGroupEnd();
    if (r == ncclSuccess || r == ncclInProgress)
      return r;
    return finishCall(failure("ncclGroupEnd: ", l.ncclGetErrorString(r), ": ",
                              l.ncclGetLastError(nullptr)),
                      r);
  }
  if (group.depth == 0)
    return finishCall(failure("ncclGroupEnd without ncclGroupStart"),
                      ncclInvalidUsage);
  if (--group.depth > 0)
    return ncclSuccess;
  return finishCall(runVirtual(std::exchange(group.items, {})),
                    ncclInvalidUsage);
}

} // namespace tessera::rt
