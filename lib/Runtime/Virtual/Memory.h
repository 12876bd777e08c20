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

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_MEMORY_H
