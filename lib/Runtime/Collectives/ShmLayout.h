//===- ShmLayout.h - what lies in a communicator's segment ------*- C++ -*-===//
//
// Header, one Member per rank, one Mail per ordered pair of ranks, the data of
// the mails, n staging areas and a result area. A new segment is all zero,
// which is the right initial state of everything.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_COLLECTIVES_SHMLAYOUT_H
#define TESSERA_LIB_RUNTIME_COLLECTIVES_SHMLAYOUT_H

#include "ShmComm.h"
#include <atomic>

namespace tessera::rt {

/// What a rank was asked to do; compared bytewise.
struct Record {
  uint32_t op, type, redOp;
  int32_t root;
  uint64_t count;
};

struct ShmComm::Header {
  std::atomic<uint32_t> wake;
  std::atomic<uint32_t> nranks;
  char fill[56];
};

struct alignas(64) ShmComm::Member {
  std::atomic<int32_t> worldRank; ///< + 1; 0: not here yet
  std::atomic<uint32_t> left;     ///< the communicator was destroyed
  std::atomic<uint64_t> arrivals; ///< meetings reached
  Record record;
};

/// A mailbox holds one piece of one message. Full when posted > consumed.
struct alignas(64) ShmComm::Mail {
  std::atomic<uint64_t> posted, consumed;
  uint64_t count;      ///< of the whole message, in elements
  uint32_t type;       ///< of the whole message
  uint32_t pieceBytes; ///< in the box now
};

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_COLLECTIVES_SHMLAYOUT_H
