//===- Memory.h - Allocations of the virtual device -------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_MEMORY_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace tessera {
namespace vgpu {

/// An allocation of tessera_virtual_malloc; `base` null if there is none.
struct Allocation {
  const char *base = nullptr;
  uint64_t bytes = 0;
};

/// The allocation that holds `address`.
Allocation findAllocation(const void *address);

/// Whether every byte was written by somebody. Memory that is no allocation
/// of the device (host memory in a test), or was allocated while checking was
/// off, counts as initialised.
bool isInitialised(const void *address, uint64_t bytes);
void noteInitialised(const void *address, uint64_t bytes);

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_MEMORY_H
