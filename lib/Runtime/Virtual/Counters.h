//===- Counters.h - The counting mode ---------------------------*- C++ -*-===//
//
// Counts what the cost model predicts: operations by pipe, bytes by memory
// level, 32-byte sectors and shared-memory wavefronts.
//
// Sectors and bank conflicts belong to warp-wide requests, but the lanes of a
// warp run one after another here. So the n-th time that a lane executes an
// instruction since the warp last stood together is taken to be part of the
// same request as the n-th time of the other lanes; when the warp stands
// together again (collective, barrier, end) the requests are complete and are
// counted. Lanes that leave a loop early are simply missing from its later
// requests, as on a GPU.
//
// Bank conflicts: 32 banks of 4 bytes. A request of 4-byte (or narrower)
// accesses is one wavefront per distinct word of the fullest bank; 8- and
// 16-byte accesses are served by half and quarter warps.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_COUNTERS_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_COUNTERS_H

#include "Observer.h"

#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera {
namespace vgpu {

class Worker;

/// Totals of the process.
class Counters {
public:
  static Counters &get();
  void add(const tessera_virtual_counters &part);
  void addLaunch(uint64_t blocks, uint64_t threadsPerBlock);
  tessera_virtual_counters read();
  void reset();

private:
  std::mutex mutex;
  tessera_virtual_counters total = {};
};

/// Counts for one worker and adds to the totals when it is destroyed.
class Counter : public Observer {
public:
  Counter(Worker &worker, Counters &totals) : worker(worker), totals(totals) {}
  ~Counter() override { totals.add(counts); }

  void beginBlock() override {}
  void endBlock() override;
  void access(Thread &thread, const void *address, uint32_t bytes,
              uint32_t flags, uint32_t argument, uint32_t location) override;
  void loadMatrix(Thread &runner, const char *const *rows, uint32_t matrices,
                  uint32_t location) override;
  void copyIssued(Thread &thread, const AsyncCopy &copy) override;
  void copyLanded(Thread &, const AsyncCopy &) override {}
  void blockBarrier() override;
  void warpBarrier(uint32_t) override {}
  void converged(uint32_t warp) override { flush(warp); }
  void mma(uint64_t flops) override { counts.flops_tensor += flops; }
  void count(uint32_t pipe, uint32_t operations) override;

private:
  enum class Space : uint8_t { Global, Shared };
  struct Request {
    uint64_t addresses[WarpSize];
    uint32_t lanes = 0; ///< mask
    uint32_t bytes = 0;
    bool store = false;
    Space space = Space::Global;
  };
  /// The requests of one instruction, and how far each lane is.
  struct Instruction {
    std::vector<Request> requests;
    uint32_t progress[WarpSize] = {};
  };

  void record(const Thread &thread, uint64_t key, uint64_t address,
              uint32_t bytes, bool store, Space space);
  void flush(uint32_t warp);
  void countRequest(const Request &request);
  uint64_t wavefronts(const Request &request) const;

  Worker &worker;
  Counters &totals;
  tessera_virtual_counters counts = {};
  std::unordered_map<uint64_t, Instruction> pending[32];
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_COUNTERS_H
