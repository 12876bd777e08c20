//===- Communicator.h - what an ncclComm_t points to ------------*- C++ -*-===//
//
// Our handle around NCCL's or around shared memory, and the state of the nccl*
// layer.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define TESSERA_LIB_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "NcclLibrary.h"
#include "ShmComm.h"
#include "tessera/Runtime/Collectives.h"
#include <memory>

struct ncclComm {
  ncclComm_t real = nullptr;                    ///< NCCL's own, on CUDA
  std::unique_ptr<tessera::rt::ShmComm> shared; ///< on virtual, if nranks > 1
  int nranks = 1, rank = 0;
  int index = -1; ///< number in the manifest
  std::string label;
  int splits = 0;
};

namespace tessera::rt {

struct CollectiveState {
  DeviceKind kind = DeviceKind::Virtual;
  const NcclLibrary *library = nullptr; ///< on CUDA
  bool fatal = false;
  void (*observer)(const void *, uint64_t) = nullptr;
  /// Numbers for new communicators and unique ids of this process.
  uint64_t created = 0, ids = 0;
};
CollectiveState &collectiveState();

/// Adds one call to the counts.
void countCall(const ncclComm &comm, const CollectiveCall &call);

/// Ends an nccl* entry: success, or the code after noting the text (or the end
/// of the process).
ncclResult_t finishCall(const Status &status, ncclResult_t code);

/// Runs `call` now, or when the group that is open ends.
ncclResult_t issue(ncclComm_t comm, const CollectiveCall &call,
                   cudaStream_t stream);
ncclResult_t groupStart();
ncclResult_t groupEnd();

/// This thread's last failure.
const char *lastErrorText();

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_COLLECTIVES_COMMUNICATOR_H
