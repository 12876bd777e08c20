//===- Nccl.cpp - the nccl* symbols ---------------------------------------===//
//
// Definitions of NCCL's own entry points, each a few lines over Dispatch.
//
//===----------------------------------------------------------------------===//
#include "Communicator.h"

#include <algorithm>
#include <cstring>

using namespace tessera::rt;

namespace {
Status forwardFailure(const char *what, ncclResult_t r) {
  return failure(what, ": ", collectiveState().library->ncclGetErrorString(r));
}

/// Meets the others under `name` on virtual devices.
Status attach(ncclComm &comm, const std::string &name) {
  if (comm.nranks == 1)
    return Status::success();
  World *world = currentWorld();
  if (!world)
    return failure("a communicator of ", comm.nranks,
                   " ranks needs a job that was joined");
  if (!world->info().oneHost())
    return failure("virtual devices need all ranks on one host (",
                   world->info().localSize, " of ", world->size(),
                   " are here); use --device=cuda");
  auto shared = ShmComm::create(*world, name, comm.nranks, comm.rank);
  if (!shared)
    return shared.status();
  comm.shared = std::move(*shared);
  comm.shared->label = comm.label;
  return Status::success();
}

ncclResult_t splitOnCuda(ncclComm &comm, int color, int key, ncclComm &result) {
  const NcclLibrary &library = *collectiveState().library;
  ncclResult_t r =
      library.ncclCommSplit(comm.real, color, key, &result.real, nullptr);
  if (r == ncclSuccess && result.real)
    r = library.ncclCommCount(result.real, &result.nranks);
  if (r == ncclSuccess && result.real)
    r = library.ncclCommUserRank(result.real, &result.rank);
  if (r != ncclSuccess)
    return finishCall(forwardFailure("ncclCommSplit", r), r);
  return r;
}

/// The members tell each other color and key; a part is ordered by key, then by
/// rank in the old communicator.
ncclResult_t splitShared(ncclComm &comm, int color, int key, ncclComm &result) {
  struct Wish {
    int32_t color, key, rank;
  };
  if (!comm.shared)
    return ncclSuccess; // one rank splits into itself
  std::vector<Wish> wishes(static_cast<size_t>(comm.nranks));
  Wish mine{color, key, comm.rank};
  CollectiveCall call{CollectiveOp::AllGather, &mine, wishes.data(),
                      sizeof mine, ncclInt8};
  if (Status s = comm.shared->collective(call))
    return finishCall(s, ncclInvalidUsage);
  int split = comm.splits++;
  if (color == -1)
    return ncclSuccess;
  wishes.erase(std::remove_if(wishes.begin(), wishes.end(),
                              [&](const Wish &w) { return w.color != color; }),
               wishes.end());
  std::sort(wishes.begin(), wishes.end(), [](const Wish &a, const Wish &b) {
    return std::make_pair(a.key, a.rank) < std::make_pair(b.key, b.rank);
  });
  result.nranks = static_cast<int>(wishes.size());
  for (size_t i = 0; i < wishes.size(); ++i)
    if (wishes[i].rank == comm.rank)
      result.rank = static_cast<int>(i);
  if (Status s =
          attach(result, comm.shared->name() + "." + std::to_string(split) +
                             "." + std::to_string(color)))
    return finishCall(s, ncclSystemError);
  return ncclSuccess;
}
} // namespace

void tessera::rt::nameCommunicator(ncclComm_t comm, int index,
                                   const std::string &name) {
  comm->index = index;
  comm->label = name;
  if (comm->shared)
    comm->shared->label = name;
}

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  CollectiveState &state = collectiveState();
  if (state.kind == DeviceKind::Cuda) {
    ncclResult_t r = state.library->ncclGetUniqueId(id);
    return r == ncclSuccess
               ? r
               : finishCall(forwardFailure("ncclGetUniqueId", r), r);
  }
  std::memset(id, 0, sizeof *id);
  World *world = currentWorld();
  std::string name =
      (world ? world->segmentStem() : "/" + segmentPrefix() + "lone.") +
      std::to_string(world ? world->rank() : 0) + "." +
      std::to_string(state.ids++);
  if (name.size() >= sizeof id->internal)
    return finishCall(failure("name of a communicator is too long"),
                      ncclInternalError);
  std::memcpy(id->internal, name.data(), name.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id,
                              int rank) {
  CollectiveState &state = collectiveState();
  if (nranks < 1 || rank < 0 || rank >= nranks)
    return finishCall(
        failure("ncclCommInitRank: no rank ", rank, " of ", nranks),
        ncclInvalidArgument);
  auto handle = std::make_unique<ncclComm>();
  handle->nranks = nranks;
  handle->rank = rank;
  handle->label = "#" + std::to_string(state.created++);
  if (state.kind == DeviceKind::Cuda) {
    ncclResult_t r =
        state.library->ncclCommInitRank(&handle->real, nranks, id, rank);
    if (r != ncclSuccess)
      return finishCall(forwardFailure("ncclCommInitRank", r), r);
  } else {
    id.internal[sizeof id.internal - 1] = 0;
    if (Status s = attach(*handle, id.internal))
      return finishCall(s, ncclSystemError);
  }
  *comm = handle.release();
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *newcomm, void *config) {
  *newcomm = nullptr;
  if (!comm || config || color < -1)
    return finishCall(failure("ncclCommSplit: expected a communicator, a color "
                              "of at least -1 and no config"),
                      ncclInvalidArgument);
  auto handle = std::make_unique<ncclComm>();
  handle->label = comm->label + "/" + std::to_string(color);
  ncclResult_t result = collectiveState().kind == DeviceKind::Cuda
                            ? splitOnCuda(*comm, color, key, *handle)
                            : splitShared(*comm, color, key, *handle);
  if (result == ncclSuccess && color != -1)
    *newcomm = handle.release();
  return result;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ncclResult_t r = ncclSuccess;
  if (comm && comm->real)
    r = collectiveState().library->ncclCommDestroy(comm->real);
  delete comm;
  return r == ncclSuccess ? r
                          : finishCall(forwardFailure("ncclCommDestroy", r), r);
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ncclResult_t r = ncclSuccess;
  if (comm && comm->real)
    r = collectiveState().library->ncclCommAbort(comm->real);
  delete comm;
  return r;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
  *count = comm->nranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  *rank = comm->rank;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclUnhandledCudaError:
    return "unhandled cuda error";
  case ncclSystemError:
    return "system error";
  case ncclInternalError:
    return "internal error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclRemoteError:
    return "another rank failed";
  case ncclInProgress:
    return "in progress";
  }
  return "unknown result code";
}

const char *ncclGetLastError(ncclComm_t) { return lastErrorText(); }

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(comm, {CollectiveOp::AllReduce, send, recv, count, type, op},
               stream);
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(comm, {CollectiveOp::AllGather, send, recv, count, type},
               stream);
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return issue(comm, {CollectiveOp::ReduceScatter, send, recv, count, type, op},
               stream);
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(
      comm, {CollectiveOp::Broadcast, send, recv, count, type, ncclSum, root},
      stream);
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return issue(comm,
               {CollectiveOp::Send, send, nullptr, count, type, ncclSum, peer},
               stream);
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return issue(comm,
               {CollectiveOp::Recv, nullptr, recv, count, type, ncclSum, peer},
               stream);
}

ncclResult_t ncclGroupStart(void) { return groupStart(); }
ncclResult_t ncclGroupEnd(void) { return groupEnd(); }

} // extern "C"
