//===- Collectives.h - set-up and counts of the collectives -----*- C++ -*-===//
//
// Beside the nccl* entry points (Nccl.h): which backend they use, names of
// communicators for messages, and what was called.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_H
#define TESSERA_RUNTIME_COLLECTIVES_H

#include "tessera/Runtime/DType.h"
#include "tessera/Runtime/Device.h"
#include "tessera/Runtime/Nccl.h"
#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::rt {

/// Chooses what the nccl* entry points do from now on. Cuda opens libnccl.so.2
/// and fails with one message if it cannot.
Status selectCollectives(DeviceKind kind);

/// Whether a failing nccl* call ends the process (true in executables, whose
/// emitted code ignores results) or returns a code.
void setCollectivesFatal(bool fatal);

/// Gives a communicator its number in the manifest and a name for messages.
/// Calls on unnumbered communicators count under -1.
void nameCommunicator(ncclComm_t comm, int index, const std::string &name);

/// Called after a virtual collective wrote device memory.
void setWriteObserver(void (*observer)(const void *pointer, uint64_t bytes));

/// Equal calls of this rank since the last reset.
struct CollectiveCount {
  std::string op;   ///< "all_reduce", "all_gather", "reduce_scatter",
                    ///< "broadcast", "send", "recv"
  int communicator; ///< number in the manifest
  DType dtype;
  uint64_t count; ///< the `count` argument of the call
  uint64_t calls;
  /// Size of the message as nccl-tests counts it: count * element size, times
  /// the number of ranks for all_gather and reduce_scatter (the larger side).
  uint64_t bytesPerCall;
};

/// Sorted by communicator, op, type and count.
std::vector<CollectiveCount> collectiveCounts();
void resetCollectiveCounts();

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_COLLECTIVES_H
