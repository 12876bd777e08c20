//===- Counters.cpp - The counting mode -----------------------------------===//

#include "Counters.h"

#include "LaunchState.h"
#include "Worker.h"

#include <algorithm>
#include <set>

using namespace tessera::vgpu;

Counters &Counters::get() {
  static Counters *instance = new Counters; // outlives every caller
  return *instance;
}

void Counters::add(const tessera_virtual_counters &part) {
  // The structure holds nothing but 64-bit counts.
  constexpr size_t n = sizeof(tessera_virtual_counters) / sizeof(uint64_t);
  std::lock_guard<std::mutex> lock(mutex);
  auto *sum = reinterpret_cast<uint64_t *>(&total);
  auto *more = reinterpret_cast<const uint64_t *>(&part);
  for (size_t i = 0; i < n; ++i)
    sum[i] += more[i];
}

void Counters::addLaunch(uint64_t blocks, uint64_t threadsPerBlock) {
  tessera_virtual_counters part = {};
  part.launches = 1;
  part.blocks = blocks;
  part.threads = blocks * threadsPerBlock;
  add(part);
}

tessera_virtual_counters Counters::read() {
  std::lock_guard<std::mutex> lock(mutex);
  return total;
}

void Counters::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  total = {};
}

void Counter::endBlock() {
  for (uint32_t warp = 0; warp < MaxWarps; ++warp)
    flush(warp);
}

void Counter::blockBarrier() {
  ++counts.barriers;
  for (uint32_t warp = 0; warp < MaxWarps; ++warp)
    flush(warp);
}

void Counter::record(const Thread &thread, uint64_t key, uint64_t address,
                     uint32_t bytes, bool store, Space space) {
  Instruction &instruction = pending[thread.warp][key];
  uint32_t turn = instruction.progress[thread.lane]++;
  if (turn >= instruction.requests.size())
    instruction.requests.resize(turn + 1);
  Request &request = instruction.requests[turn];
  request.addresses[thread.lane] = address;
  request.lanes |= 1u << thread.lane;
  request.bytes = bytes;
  request.store = store;
  request.space = space;
}

void Counter::access(Thread &thread, const void *address, uint32_t bytes,
                     uint32_t flags, uint32_t argument, uint32_t location) {
  auto place = reinterpret_cast<uint64_t>(address);
  auto base = reinterpret_cast<uint64_t>(worker.block.shared);
  uint64_t sharedBytes =
      static_cast<uint64_t>(worker.block.dynamic_shared -
                            worker.block.shared) +
      worker.launch->dynamicSharedBytes;
  bool isShared = (flags & AccessShared) ||
                  (!(flags & AccessGlobal) && place - base < sharedBytes);
  // Fewer bytes (a copy that is partly zero-filled) are the same instruction.
  record(thread, location, place, bytes, flags & AccessStore,
         isShared ? Space::Shared : Space::Global);
}

void Counter::loadMatrix(Thread &runner, const char *const *rows,
                         uint32_t matrices, uint32_t location) {
  // One wavefront per matrix if its eight rows touch all banks once.
  for (uint32_t m = 0; m < matrices; ++m) {
    Request request;
    request.bytes = 16;
    request.space = Space::Shared;
    for (uint32_t r = 0; r < 8; ++r) {
      request.addresses[r] = reinterpret_cast<uint64_t>(rows[8 * m + r]);
      request.lanes |= 1u << r;
    }
    counts.shared_load_bytes += 128;
    counts.shared_bank_conflicts += wavefronts(request) - 1;
  }
  ++counts.shared_load_requests;
}

void Counter::copyIssued(Thread &thread, const AsyncCopy &copy) {
  counts.async_copy_bytes += copy.bytes;
  // The shared-memory side; the global side comes as an access. A copy's two
  // sides are different requests of one location.
  record(thread, (uint64_t(1) << 32) | copy.location,
         reinterpret_cast<uint64_t>(copy.to), copy.bytes, /*store=*/true,
         Space::Shared);
}

void Counter::count(uint32_t pipe, uint32_t operations) {
  switch (static_cast<Pipe>(pipe)) {
  case Pipe::F32:
    counts.flops_f32 += operations;
    break;
  case Pipe::F64:
    counts.flops_f64 += operations;
    break;
  case Pipe::F16:
    counts.flops_f16 += operations;
    break;
  case Pipe::Special:
    counts.ops_special += operations;
    break;
  case Pipe::Integer:
    counts.ops_integer += operations;
    break;
  case Pipe::Shuffle:
    counts.shuffles += operations;
    break;
  }
}

void Counter::flush(uint32_t warp) {
  for (auto &entry : pending[warp])
    for (const Request &request : entry.second.requests)
      countRequest(request);
  pending[warp].clear();
}

void Counter::countRequest(const Request &request) {
  uint64_t lanes = static_cast<uint64_t>(__builtin_popcount(request.lanes));
  if (!lanes)
    return;
  uint64_t bytes = lanes * request.bytes;
  if (request.space == Space::Shared) {
    (request.store ? counts.shared_store_bytes : counts.shared_load_bytes) +=
        bytes;
    ++(request.store ? counts.shared_store_requests
                     : counts.shared_load_requests);
    uint64_t ideal = request.bytes <= 4 ? 1 : (bytes + 127) / 128;
    uint64_t needed = wavefronts(request);
    counts.shared_bank_conflicts += needed > ideal ? needed - ideal : 0;
    return;
  }
  std::set<uint64_t> sectors;
  for (uint32_t lane = 0; lane < WarpSize; ++lane)
    if (request.lanes >> lane & 1)
      for (uint64_t s = request.addresses[lane] / 32;
           s <= (request.addresses[lane] + request.bytes - 1) / 32; ++s)
        sectors.insert(s);
  if (request.store) {
    counts.global_store_bytes += bytes;
    ++counts.global_store_requests;
    counts.global_store_sectors += sectors.size();
  } else {
    counts.global_load_bytes += bytes;
    ++counts.global_load_requests;
    counts.global_load_sectors += sectors.size();
  }
}

uint64_t Counter::wavefronts(const Request &request) const {
  uint32_t group = request.bytes <= 4 ? 32 : request.bytes <= 8 ? 16 : 8;
  uint64_t total = 0;
  for (uint32_t first = 0; first < WarpSize; first += group) {
    std::set<uint64_t> words[32];
    size_t most = 0;
    for (uint32_t lane = first; lane < first + group; ++lane) {
      if (!(request.lanes >> lane & 1))
        continue;
      uint64_t address = request.addresses[lane];
      for (uint64_t w = address / 4; w <= (address + request.bytes - 1) / 4;
           ++w) {
        words[w % 32].insert(w);
        most = std::max(most, words[w % 32].size());
      }
    }
    total += most;
  }
  return total;
}

extern "C" void
tessera_virtual_get_counters(tessera_virtual_counters *counters) {
  *counters = Counters::get().read();
}

extern "C" void tessera_virtual_reset_counters(void) {
  Counters::get().reset();
}
