//===- Device.cpp - Memory of the virtual device --------------------------===//
//
// Device memory is host memory. The allocations are kept in an ordered map, so
// a free of something else is an error and not a crash, and the checker can
// ask which allocation an address lies in.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Memory.h"
#include "Options.h"

#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

using namespace tessera::vgpu;

namespace {
constexpr uint64_t Alignment = 256; // cuMemAlloc's

struct Block {
  uint64_t bytes;
  /// One flag per byte; empty if checking was off at the allocation.
  std::vector<bool> initialised;
};

struct Registry {
  std::mutex mutex;
  std::map<uintptr_t, Block> allocations;

  /// The block that holds the address, or end.
  std::map<uintptr_t, Block>::iterator find(const void *address) {
    auto key = reinterpret_cast<uintptr_t>(address);
    auto it = allocations.upper_bound(key);
    if (it == allocations.begin())
      return allocations.end();
    --it;
    return key - it->first < it->second.bytes ? it : allocations.end();
  }
};

Registry &registry() {
  static Registry *instance = new Registry; // outlives every caller
  return *instance;
}

int failWith(const std::string &text) {
  lastErrorText() = text;
  return 1;
}
} // namespace

Allocation tessera::vgpu::findAllocation(const void *address) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto it = r.find(address);
  if (it == r.allocations.end())
    return {};
  return {reinterpret_cast<const char *>(it->first), it->second.bytes};
}

bool tessera::vgpu::isInitialised(const void *address, uint64_t bytes) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto it = r.find(address);
  if (it == r.allocations.end() || it->second.initialised.empty())
    return true;
  uint64_t first = reinterpret_cast<uintptr_t>(address) - it->first;
  uint64_t end = std::min(first + bytes, it->second.bytes);
  for (uint64_t i = first; i < end; ++i)
    if (!it->second.initialised[i])
      return false;
  return true;
}

void tessera::vgpu::noteInitialised(const void *address, uint64_t bytes) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto it = r.find(address);
  if (it == r.allocations.end() || it->second.initialised.empty())
    return;
  uint64_t first = reinterpret_cast<uintptr_t>(address) - it->first;
  uint64_t end = std::min(first + bytes, it->second.bytes);
  std::fill(it->second.initialised.begin() + static_cast<int64_t>(first),
            it->second.initialised.begin() + static_cast<int64_t>(end), true);
}

extern "C" {

void *tessera_virtual_malloc(uint64_t bytes) {
  uint64_t rounded = (bytes + Alignment - 1) / Alignment * Alignment;
  if (rounded < bytes || rounded > (uint64_t(1) << 46)) {
    failWith("cannot allocate " + std::to_string(bytes) +
             " bytes of virtual device memory");
    return nullptr;
  }
  if (!rounded)
    rounded = Alignment;
  void *pointer = std::aligned_alloc(Alignment, rounded);
  if (!pointer) {
    failWith("out of memory allocating " + std::to_string(bytes) +
             " bytes of virtual device memory");
    return nullptr;
  }
  std::memset(pointer, 0xff, rounded);
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::string ignored;
  bool check = currentOptions(ignored).check;
  r.allocations[reinterpret_cast<uintptr_t>(pointer)] = {
      bytes, std::vector<bool>(check ? bytes : 0)};
  return pointer;
}

int tessera_virtual_free(void *pointer) {
  if (!pointer)
    return 0;
  {
    Registry &r = registry();
    std::lock_guard<std::mutex> lock(r.mutex);
    if (!r.allocations.erase(reinterpret_cast<uintptr_t>(pointer)))
      return failWith("freeing a pointer that is no virtual device memory");
  }
  std::free(pointer);
  return 0;
}

int tessera_virtual_memcpy(void *to, const void *from, uint64_t bytes) {
  if (bytes && (!to || !from))
    return failWith("copying " + std::to_string(bytes) +
                    " bytes through a null pointer");
  std::memmove(to, from, bytes);
  tessera_virtual_note_write(to, bytes);
  return 0;
}

int tessera_virtual_memset(void *to, int byte, uint64_t bytes) {
  if (bytes && !to)
    return failWith("setting " + std::to_string(bytes) +
                    " bytes through a null pointer");
  std::memset(to, byte, bytes);
  tessera_virtual_note_write(to, bytes);
  return 0;
}

void tessera_virtual_note_write(const void *pointer, uint64_t bytes) {
  noteInitialised(pointer, bytes);
}
}
