//===- LaunchState.h - One launch, shared by its workers --------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCHSTATE_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCHSTATE_H

#include "Mma.h"
#include "Reports.h"

#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <atomic>
#include <mutex>
#include <string>

namespace tessera {
namespace vgpu {

class Counters;

/// Everything about a launch that its workers read. `nextBlock` hands out
/// blocks, `failed` stops the others after the first failure.
struct LaunchState {
  const tessera_virtual_kernel *kernel = nullptr;
  uint64_t grid[3], block[3];
  uint64_t blocks = 0;
  uint32_t threadsPerBlock = 0;
  uint32_t dynamicSharedBytes = 0;
  void *const *params = nullptr;
  tessera_virtual_options options = {};
  MmaFunction mma = nullptr;
  Reports *reports = nullptr;   ///< set if checking
  Counters *counters = nullptr; ///< set if counting

  mutable std::atomic<uint64_t> nextBlock{0};
  mutable std::atomic<bool> failed{false};
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCHSTATE_H
