//===- NcclLibrary.h - the real NCCL, opened at run time --------*- C++ -*-===//
//
// The entry points of libnccl.so.2 that are forwarded to.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_COLLECTIVES_NCCLLIBRARY_H
#define TESSERA_LIB_RUNTIME_COLLECTIVES_NCCLLIBRARY_H

#include "tessera/Runtime/Nccl.h"
#include "tessera/Runtime/Status.h"

namespace tessera::rt {

struct NcclLibrary {
#define TESSERA_NCCL_FUNCTIONS(F)                                              \
  F(ncclGetUniqueId)                                                           \
  F(ncclCommInitRank)                                                          \
  F(ncclCommSplit)                                                             \
  F(ncclCommDestroy)                                                           \
  F(ncclCommAbort)                                                             \
  F(ncclCommCount)                                                             \
  F(ncclCommUserRank)                                                          \
  F(ncclGetErrorString)                                                        \
  F(ncclGetLastError)                                                          \
  F(ncclAllReduce)                                                             \
  F(ncclAllGather)                                                             \
  F(ncclReduceScatter)                                                         \
  F(ncclBroadcast)                                                             \
  F(ncclSend)                                                                  \
  F(ncclRecv)                                                                  \
  F(ncclGroupStart)                                                            \
  F(ncclGroupEnd)
#define TESSERA_NCCL_MEMBER(name) decltype(&::name) name = nullptr;
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_MEMBER)
#undef TESSERA_NCCL_MEMBER
};

/// Opens libnccl.so.2 once.
Expected<const NcclLibrary *> openNccl();

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_COLLECTIVES_NCCLLIBRARY_H
