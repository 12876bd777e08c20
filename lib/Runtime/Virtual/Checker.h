//===- Checker.h - The checking mode ----------------------------*- C++ -*-===//
//
// Watches every access of a block. For shared memory each byte has a cell with
// its last write, two last reads and the asynchronous copy in flight to it. Two
// accesses are ordered if they are by one thread, or a block barrier lies
// between them, or both are by one warp and a warp barrier (bar.warp.sync) lies
// between them; that other warp collectives happen to order lanes here does not
// count, since they do not order memory on a GPU. Unordered accesses of which
// one writes are a race, whatever order they ran in.
//
// The idea is that of happens-before detectors (Flanagan, Freund, "FastTrack",
// PLDI 2009) with barrier counts instead of vector clocks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_CHECKER_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_CHECKER_H

#include "Observer.h"
#include "Reports.h"

#include <string>
#include <vector>

namespace tessera {
namespace vgpu {

class Worker;

class Checker : public Observer {
public:
  Checker(Worker &worker, Reports &reports);

  void beginBlock() override;
  void endBlock() override {}
  void access(Thread &thread, const void *address, uint32_t bytes,
              uint32_t flags, uint32_t argument, uint32_t location) override;
  void loadMatrix(Thread &runner, const char *const *rows, uint32_t matrices,
                  uint32_t location) override;
  void copyIssued(Thread &thread, const AsyncCopy &copy) override;
  void copyLanded(Thread &thread, const AsyncCopy &copy) override;
  void blockBarrier() override { ++blockEpoch; }
  void warpBarrier(uint32_t warp) override { ++warpEpochs[warp]; }
  void converged(uint32_t) override {}
  void mma(uint64_t) override {}
  void count(uint32_t, uint32_t) override {}

private:
  /// One access, as a cell remembers it. Thread ~0: none.
  struct Event {
    uint16_t thread = 0xffff;
    uint16_t pad = 0;
    uint32_t blockEpoch = 0;
    uint32_t warpEpoch = 0;
    uint32_t location = 0;
    bool exists() const { return thread != 0xffff; }
  };
  struct Cell {
    Event write, read, otherRead, copy;
    bool initialised = false;
  };
  /// A pointer argument of the launch.
  struct Extent {
    const char *base;
    uint64_t bytes;
    uint32_t argument;
  };

  Event eventOf(const Thread &thread, uint32_t location) const;
  bool ordered(const Event &before, const Event &now) const;
  void sharedAccess(Thread &thread, const char *address, uint32_t bytes,
                    bool store, bool atomic, uint32_t location);
  void globalAccess(Thread &thread, const char *address, uint32_t bytes,
                    bool store, uint32_t argument, uint32_t location);
  void checkAlignment(Thread &thread, const void *address, uint32_t alignment,
                      uint32_t location);
  void race(Thread &thread, const char *what, const Event &before,
            uint64_t offset, uint32_t location);
  void outOfBounds(Thread &thread, const std::string &text, uint32_t location);
  std::string offsetText(uint64_t offset) const;

  Worker &worker;
  Reports &reports;
  std::vector<Cell> cells; ///< per byte of shared memory
  const char *shared = nullptr;
  std::vector<Extent> extents;
  uint32_t blockEpoch = 0;
  std::vector<uint32_t> warpEpochs;
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_CHECKER_H
