//===- PointToPoint.cpp - sends and receives of one group -----------------===//
//
// Every ordered pair of ranks has a mailbox for one piece. All transfers of a
// group are polled until each is complete, so no order of calls can block;
// between two ranks messages keep their order. A send is complete when it has
// been received: what would block on the device blocks here.
//
//===----------------------------------------------------------------------===//
#include "Reduce.h"
#include "ShmComm.h"
#include "ShmLayout.h"

#include <algorithm>
#include <cstring>

namespace tessera::rt {

void PointToPoint::add(ShmComm &comm, const CollectiveCall &call) {
  ++comm.calls;
  pending.push_back({&comm, call});
}

Status PointToPoint::step(Transfer &t, bool &moved) {
  ShmComm &comm = *t.comm;
  const bool sending = t.call.op == CollectiveOp::Send;
  const int from = sending ? comm.me : t.call.peer;
  const int to = sending ? t.call.peer : comm.me;
  ShmComm::Mail &box = comm.mail(from, to);
  const uint64_t bytes = t.call.count * bytesOf(t.call.type);
  const bool full = box.posted.load(std::memory_order_acquire) >
                    box.consumed.load(std::memory_order_acquire);
  if (full == sending)
    return Status::success();
  if (sending && t.started && t.done == bytes) {
    t.complete = moved = true; // the receiver has taken the last piece
    return Status::success();
  }
  t.started = true;
  if (sending) {
    uint64_t n = std::min(comm.mailBytes, bytes - t.done);
    box.count = t.call.count;
    box.type = t.call.type;
    box.pieceBytes = static_cast<uint32_t>(n);
    if (n)
      std::memcpy(comm.mailData(from, to),
                  static_cast<const char *>(t.call.send) + t.done, n);
    t.done += n;
    box.posted.fetch_add(1, std::memory_order_seq_cst);
  } else {
    if (box.count != t.call.count ||
        box.type != static_cast<uint32_t>(t.call.type)) {
      CollectiveCall sent{CollectiveOp::Send, nullptr, nullptr, box.count,
                          static_cast<ncclDataType_t>(box.type)};
      sent.peer = to;
      return failure("ranks differ on communicator ", comm.label, ": rank ",
                     comm.member(from).worldRank - 1, " calls ",
                     sent.describe(), ", rank ", comm.world.rank(), " calls ",
                     t.call.describe());
    }
    if (box.pieceBytes)
      std::memcpy(static_cast<char *>(t.call.recv) + t.done,
                  comm.mailData(from, to), box.pieceBytes);
    t.done += box.pieceBytes;
    box.consumed.fetch_add(1, std::memory_order_seq_cst);
  }
  t.complete = !sending && t.done == bytes;
  moved = true;
  notifyShared(comm.header().wake);
  return Status::success();
}

Status PointToPoint::run(World &world) {
  auto firstOpen = [&]() -> Transfer * {
    for (Transfer &t : pending)
      if (!t.complete)
        return &t;
    return nullptr;
  };
  // A transfer waits for earlier ones between the same ranks in the same
  // direction.
  auto blocked = [&](size_t i) {
    for (size_t j = 0; j < i; ++j)
      if (!pending[j].complete && pending[j].comm == pending[i].comm &&
          pending[j].call.op == pending[i].call.op &&
          pending[j].call.peer == pending[i].call.peer)
        return true;
    return false;
  };
  while (Transfer *open = firstOpen()) {
    Status failed;
    auto pass = [&] {
      bool moved = false;
      for (size_t i = 0; i < pending.size() && !failed; ++i)
        if (!pending[i].complete && !blocked(i))
          failed = step(pending[i], moved);
      return moved || failed || !firstOpen();
    };
    std::string what = open->comm->where(open->call);
    Status s = waitShared(open->comm->header().wake, pass, [&]() -> Status {
      if (Status s = world.checkPeers())
        return s;
      ShmComm::Member &peer = open->comm->member(open->call.peer);
      int target = peer.worldRank - 1;
      if (target != world.rank() && peer.left)
        return failure("rank ", world.rank(), " waits in ", what, ", but rank ",
                       target, " has destroyed its communicator");
      if (target != world.rank() && world.hasFinished(target))
        return failure("rank ", world.rank(), " waits in ", what, ", but rank ",
                       target, " has ended its program");
      world.beginWait(target, what);
      return world.checkWait();
    });
    world.endWait();
    if (s)
      return s;
    if (failed)
      return failed;
  }
  pending.clear();
  return Status::success();
}

} // namespace tessera::rt
