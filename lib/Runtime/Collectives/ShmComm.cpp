//===- ShmComm.cpp - a communicator in shared memory ----------------------===//
//
// Every rank owns a staging area in the segment. A collective goes through in
// pieces of at most that size, with two meetings per piece: all have filled
// their area; all have reduced their share (where there is a reduction). Areas
// are filled again only after the second meeting, results only written after
// the first of the next piece, so one set of buffers is enough. Each rank
// reduces 1/n of a piece, over ranks 0..n-1 in this order: the result does not
// depend on timing.
//
// Before the first piece the ranks compare what they were asked to do; the
// comparison uses the same first meeting, so calls that differ are found
// whatever they are.
//
//===----------------------------------------------------------------------===//
#include "ShmComm.h"

#include "Reduce.h"
#include "ShmLayout.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tessera::rt {

namespace {
const char *typeName(ncclDataType_t type) {
  static const char *const names[] = {"i8",  "u8",  "i32", "u32", "i64",
                                      "u64", "f16", "f32", "f64", "bf16"};
  return names[type];
}
const char *redOpName(ncclRedOp_t op) {
  static const char *const names[] = {"sum", "prod", "max", "min", "avg"};
  return names[op];
}
const char *functionName(CollectiveOp op) {
  static const char *const names[] = {"ncclAllReduce",     "ncclAllGather",
                                      "ncclReduceScatter", "ncclBroadcast",
                                      "ncclSend",          "ncclRecv"};
  return names[static_cast<int>(op)];
}
bool reduces(CollectiveOp op) {
  return op == CollectiveOp::AllReduce || op == CollectiveOp::ReduceScatter;
}
} // namespace

std::string CollectiveCall::describe() const {
  std::ostringstream text;
  text << functionName(op) << "(count " << count << ", " << typeName(type);
  if (reduces(op))
    text << ", " << redOpName(redOp);
  if (op == CollectiveOp::Broadcast)
    text << ", root " << peer;
  if (op == CollectiveOp::Send)
    text << ", to " << peer;
  if (op == CollectiveOp::Recv)
    text << ", from " << peer;
  text << ")";
  return text.str();
}

ShmComm::ShmComm(World &world, int nranks, int rank)
    : world(world), nranks(nranks), me(rank) {
  // Some MiB per communicator: containers often have 64 MiB of /dev/shm.
  uint64_t n = static_cast<uint64_t>(nranks);
  stageBytes =
      std::clamp<uint64_t>((16u << 20) / (n + 1) & ~4095ull, 1 << 16, 1 << 20);
  mailBytes =
      std::clamp<uint64_t>((4u << 20) / (n * n) & ~4095ull, 4096, 256 << 10);
}

ShmComm::Header &ShmComm::header() {
  return *reinterpret_cast<Header *>(segment.data());
}
ShmComm::Member &ShmComm::member(int r) {
  return reinterpret_cast<Member *>(segment.data() + sizeof(Header))[r];
}
ShmComm::Mail &ShmComm::mail(int from, int to) {
  return reinterpret_cast<Mail *>(segment.data() + sizeof(Header) +
                                  sizeof(Member) * nranks)[from * nranks + to];
}
uint64_t ShmComm::mailOffset() const {
  uint64_t n = static_cast<uint64_t>(nranks);
  uint64_t end = sizeof(Header) + sizeof(Member) * n + sizeof(Mail) * n * n;
  return (end + 4095) & ~4095ull;
}
uint64_t ShmComm::stageOffset(int r) const {
  uint64_t n = static_cast<uint64_t>(nranks);
  return mailOffset() + n * n * mailBytes +
         static_cast<uint64_t>(r) * stageBytes;
}
char *ShmComm::mailData(int from, int to) {
  return segment.data() + mailOffset() +
         static_cast<uint64_t>(from * nranks + to) * mailBytes;
}
char *ShmComm::stage(int r) { return segment.data() + stageOffset(r); }

Expected<std::unique_ptr<ShmComm>>
ShmComm::create(World &world, const std::string &name, int nranks, int rank) {
  std::unique_ptr<ShmComm> comm(new ShmComm(world, nranks, rank));
  comm->segmentName = name;
  if (Status s = comm->segment.open(name))
    return s;
  // Proof of life for those who clear away leftovers.
  if (!comm->segment.tryLock(0, /*shared=*/true))
    return failure("cannot lock shared memory '", name, "'");
  if (Status s = comm->segment.map(comm->stageOffset(nranks + 1)))
    return s;
  Header &h = comm->header();
  uint32_t expected = 0;
  if (!h.nranks.compare_exchange_strong(expected,
                                        static_cast<uint32_t>(nranks)) &&
      expected != static_cast<uint32_t>(nranks))
    return failure("ranks disagree on the size of a communicator: ", nranks,
                   " here, ", expected, " elsewhere");
  int32_t nobody = 0;
  if (!comm->member(rank).worldRank.compare_exchange_strong(nobody,
                                                            world.rank() + 1))
    return failure("rank ", nobody - 1, " and rank ", world.rank(),
                   " both join a communicator as its rank ", rank);
  notifyShared(h.wake);
  auto absent = [&] {
    for (int r = 0; r < nranks; ++r)
      if (comm->member(r).worldRank == 0)
        return r;
    return -1;
  };
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  if (Status s = waitShared(
          h.wake, [&] { return absent() < 0; },
          [&]() -> Status {
            if (Status s = world.checkPeers())
              return s;
            if (std::chrono::steady_clock::now() > deadline)
              return failure("rank ", absent(), " of a communicator of ",
                             nranks, " did not call ncclCommInitRank for 60 s");
            return Status::success();
          }))
    return s;
  if (rank == 0)
    comm->segment.unlink();
  return comm;
}

ShmComm::~ShmComm() {
  if (!segment.data())
    return;
  if (member(me).worldRank != 0) {
    member(me).left = 1;
    notifyShared(header().wake);
  }
}

std::string ShmComm::where(const CollectiveCall &call) const {
  return call.describe() + ", call " + std::to_string(calls) +
         " on communicator " + label;
}

Status ShmComm::wait(const std::function<int()> &late,
                     const std::string &what) {
  Status s = waitShared(
      header().wake, [&] { return late() < 0; },
      [&]() -> Status {
        if (Status s = world.checkPeers())
          return s;
        int r = late();
        if (r < 0)
          return Status::success();
        int target = member(r).worldRank - 1;
        if (member(r).left)
          return failure("rank ", world.rank(), " waits in ", what,
                         ", but rank ", target,
                         " has destroyed its communicator");
        if (world.hasFinished(target))
          return failure("rank ", world.rank(), " waits in ", what,
                         ", but rank ", target, " has ended its program");
        world.beginWait(target, what);
        return world.checkWait();
      });
  world.endWait();
  return s;
}

Status ShmComm::barrier(const std::string &what) {
  uint64_t target = ++arrivals;
  member(me).arrivals.store(target, std::memory_order_seq_cst);
  notifyShared(header().wake);
  return wait(
      [&] {
        for (int r = 0; r < nranks; ++r)
          if (member(r).arrivals.load(std::memory_order_seq_cst) < target)
            return r;
        return -1;
      },
      what);
}

/// All have arrived: compares the calls with rank 0's. Every rank sees the same
/// records and so comes to the same result and text.
Status ShmComm::checkSameCall(const CollectiveCall &call) {
  auto callOf = [&](int r) {
    const Record &record = member(r).record;
    return CollectiveCall{static_cast<CollectiveOp>(record.op),
                          nullptr,
                          nullptr,
                          record.count,
                          static_cast<ncclDataType_t>(record.type),
                          static_cast<ncclRedOp_t>(record.redOp),
                          record.root};
  };
  const Record &first = member(0).record;
  for (int r = 1; r < nranks; ++r)
    if (std::memcmp(&member(r).record, &first, sizeof first) != 0)
      return failure("ranks differ in call ", calls, " on communicator ", label,
                     ": rank ", member(0).worldRank - 1, " calls ",
                     callOf(0).describe(), ", rank ", member(r).worldRank - 1,
                     " calls ", callOf(r).describe());
  return Status::success();
}

Status ShmComm::collective(const CollectiveCall &call) {
  ++calls;
  Record &record = member(me).record;
  std::memset(&record, 0, sizeof record);
  record.op = static_cast<uint32_t>(call.op);
  record.type = call.type;
  record.redOp = reduces(call.op) ? call.redOp : 0;
  record.root = call.op == CollectiveOp::Broadcast ? call.peer : 0;
  record.count = call.count;
  std::string what = where(call);
  if (Status s = barrier(what))
    return s;
  if (Status s = checkSameCall(call))
    return s;
  // Nobody may overwrite its record before all have read it; the meetings of
  // the pieces take care of that where there are any.
  if (call.count == 0)
    return barrier(what);
  switch (call.op) {
  case CollectiveOp::AllReduce:
    return allReduce(call, what);
  case CollectiveOp::AllGather:
    return allGather(call, what);
  case CollectiveOp::ReduceScatter:
    return reduceScatter(call, what);
  case CollectiveOp::Broadcast:
    return broadcast(call, what);
  default:
    return failure("a send or receive is no collective");
  }
}

Status ShmComm::allReduce(const CollectiveCall &call, const std::string &what) {
  const uint64_t unit = bytesOf(call.type), piece = stageBytes / unit;
  const uint64_t n = static_cast<uint64_t>(nranks);
  std::vector<const void *> inputs(n);
  for (uint64_t at = 0; at < call.count; at += piece) {
    uint64_t count = std::min(piece, call.count - at);
    std::memcpy(stage(me), static_cast<const char *>(call.send) + at * unit,
                count * unit);
    if (Status s = barrier(what))
      return s;
    uint64_t begin = count * static_cast<uint64_t>(me) / n;
    uint64_t end = count * static_cast<uint64_t>(me + 1) / n;
    for (int r = 0; r < nranks; ++r)
      inputs[r] = stage(r) + begin * unit;
    reduceInOrder(call.type, call.redOp, inputs.data(), nranks,
                  stage(nranks) + begin * unit, end - begin);
    if (Status s = barrier(what))
      return s;
    std::memcpy(static_cast<char *>(call.recv) + at * unit, stage(nranks),
                count * unit);
  }
  return Status::success();
}

Status ShmComm::allGather(const CollectiveCall &call, const std::string &what) {
  const uint64_t bytes = call.count * bytesOf(call.type);
  for (uint64_t at = 0; at < bytes; at += stageBytes) {
    uint64_t n = std::min(stageBytes, bytes - at);
    std::memcpy(stage(me), static_cast<const char *>(call.send) + at, n);
    if (Status s = barrier(what))
      return s;
    for (int r = 0; r < nranks; ++r)
      std::memcpy(static_cast<char *>(call.recv) +
                      static_cast<uint64_t>(r) * bytes + at,
                  stage(r), n);
    if (Status s = barrier(what))
      return s;
  }
  return Status::success();
}

Status ShmComm::reduceScatter(const CollectiveCall &call,
                              const std::string &what) {
  const uint64_t unit = bytesOf(call.type), n = static_cast<uint64_t>(nranks);
  const uint64_t piece = std::max<uint64_t>(1, stageBytes / n / unit);
  std::vector<const void *> inputs(n);
  for (uint64_t at = 0; at < call.count; at += piece) {
    uint64_t count = std::min(piece, call.count - at);
    for (uint64_t r = 0; r < n; ++r)
      std::memcpy(stage(me) + r * count * unit,
                  static_cast<const char *>(call.send) +
                      (r * call.count + at) * unit,
                  count * unit);
    if (Status s = barrier(what))
      return s;
    for (int r = 0; r < nranks; ++r)
      inputs[r] = stage(r) + static_cast<uint64_t>(me) * count * unit;
    // In a shared result area nothing would be gained: straight to `recv`. In
    // place (recv inside send) is safe: later pieces of `send` lie elsewhere.
    reduceInOrder(call.type, call.redOp, inputs.data(), nranks,
                  static_cast<char *>(call.recv) + at * unit, count);
    if (Status s = barrier(what))
      return s;
  }
  return Status::success();
}

Status ShmComm::broadcast(const CollectiveCall &call, const std::string &what) {
  const uint64_t bytes = call.count * bytesOf(call.type);
  for (uint64_t at = 0; at < bytes; at += stageBytes) {
    uint64_t n = std::min(stageBytes, bytes - at);
    if (me == call.peer)
      std::memcpy(stage(me), static_cast<const char *>(call.send) + at, n);
    if (Status s = barrier(what))
      return s;
    std::memcpy(static_cast<char *>(call.recv) + at, stage(call.peer), n);
    if (Status s = barrier(what))
      return s;
  }
  return Status::success();
}

} // namespace tessera::rt
