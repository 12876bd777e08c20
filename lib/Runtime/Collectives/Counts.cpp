//===- Counts.cpp - what collectives were called --------------------------===//
//
// A table of equal calls. It is compared with what the compiler put into the
// manifest, so it counts calls as they were issued, on every backend.
//
//===----------------------------------------------------------------------===//
#include "Communicator.h"
#include "Reduce.h"

#include <map>
#include <tuple>

namespace tessera::rt {

namespace {
using Key =
    std::tuple<int, int, int, uint64_t>; // communicator, op, type, count
struct Entry {
  uint64_t calls = 0, bytes = 0;
};
std::map<Key, Entry> &table() {
  static auto *t = new std::map<Key, Entry>();
  return *t;
}

DType dtypeOf(ncclDataType_t type) {
  static constexpr DType types[] = {
      DType::I8,  DType::U8,  DType::I32, DType::U32, DType::I64,
      DType::U64, DType::F16, DType::F32, DType::F64, DType::BF16};
  return types[type];
}
const char *opName(int op) {
  static const char *const names[] = {"all_reduce",     "all_gather",
                                      "reduce_scatter", "broadcast",
                                      "send",           "recv"};
  return names[op];
}
} // namespace

void countCall(const ncclComm &comm, const CollectiveCall &call) {
  bool scaled = call.op == CollectiveOp::AllGather ||
                call.op == CollectiveOp::ReduceScatter;
  Entry &e =
      table()[{comm.index, static_cast<int>(call.op), call.type, call.count}];
  ++e.calls;
  e.bytes = call.count * bytesOf(call.type) *
            (scaled ? static_cast<uint64_t>(comm.nranks) : 1);
}

std::vector<CollectiveCount> collectiveCounts() {
  std::vector<CollectiveCount> counts;
  for (const auto &[key, entry] : table()) {
    auto [communicator, op, type, count] = key;
    counts.push_back({opName(op), communicator,
                      dtypeOf(static_cast<ncclDataType_t>(type)), count,
                      entry.calls, entry.bytes});
  }
  return counts;
}

void resetCollectiveCounts() { table().clear(); }

} // namespace tessera::rt
