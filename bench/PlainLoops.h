//===- PlainLoops.h - what kernels on the virtual GPU are timed against ---===//
//
// Straightforward loop nests as one writes them first, compiled with -O3 for
// this machine.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_BENCH_PLAINLOOPS_H
#define TESSERA_BENCH_PLAINLOOPS_H

#include <cstdint>
#include <cstring>

namespace tessera::bench {

/// Storage only; arithmetic is f32.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    wide += 0x7fff + ((wide >> 16) & 1); // to nearest even
    bits = static_cast<uint16_t>(wide >> 16);
  }
  operator float() const {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};

struct AttentionShape {
  int64_t batch, seqQ, seqKV, heads, kvHeads, headDim;
  float scale;
  bool causal;
};

template <typename T>
void plainAttention(const AttentionShape &shape, const T *q, const T *k,
                    const T *v, T *out);

} // namespace tessera::bench

#endif // TESSERA_BENCH_PLAINLOOPS_H
