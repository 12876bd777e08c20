//===- Random.h - Small seeded generator ------------------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_RANDOM_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_RANDOM_H

#include <cstdint>

namespace tessera {
namespace vgpu {

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014): any seed is good, and state is one word.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform enough for an order: below `bound`, which is at most 2^32.
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(((next() >> 32) * bound) >> 32);
  }

private:
  uint64_t state;
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_RANDOM_H
