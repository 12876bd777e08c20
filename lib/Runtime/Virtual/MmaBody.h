//===- MmaBody.h - mma.sync for a whole warp --------------------*- C++ -*-===//
//
// Included by one file per CPU level, which defines TESSERA_MMA_NAME.
//
// Fragment maps are those of the PTX ISA document, "Matrix Fragments for
// mma.m16n8k16 / m16n8k8 / m16n8k4", with g = lane / 4 and t = lane % 4:
//   16-bit A: register r holds rows g + 8 (r & 1), columns 2t, 2t+1 + 8 (r/2);
//   16-bit B: register r holds k = 2t, 2t+1 + 8r of column g;
//   tf32 A: register r holds row g + 8 (r & 1), column t + 4 (r / 2);
//   tf32 B: register r holds k = t + 4r of column g;
//   C, D: registers 0, 1 hold row g, columns 2t, 2t+1; 2, 3 row g + 8.
// A register of the frame is 32 lanes in order, so 16-bit A rows lie end to
// end, and B registers are the rows of the transposed B.
//
// Operands are expanded to f32 once per program and shared by its mmas; each
// accumulator row is one 8-wide vector, fed by broadcasts of A. Sums run in k
// order with fused multiply-add where the CPU has it. (A GPU's tensor core
// rounds differently, so results are compared with a tolerance.)
//
//===----------------------------------------------------------------------===//

#include "Mma.h"

#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

using namespace tessera::vgpu;

namespace {

typedef float F8 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef uint16_t H8 __attribute__((vector_size(16)));
typedef uint32_t U8 __attribute__((vector_size(32)));

template <typename V>
inline V load(const void *from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

template <typename V>
inline void store(void *to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

/// Eight bf16 to f32: the upper half of the word.
inline F8 expandBF16(const char *from) {
  return (F8)(__builtin_convertvector(load<H8>(from), U8) << 16);
}

/// Eight IEEE half to f32.
inline F8 expandF16(const char *from) {
#if defined(__F16C__)
  return (F8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
  // Shift exponent and mantissa into place and scale by 2^112, which also
  // normalises subnormals; infinities and NaNs need their exponent back.
  U8 bits = __builtin_convertvector(load<H8>(from), U8);
  U8 sign = (bits & 0x8000u) << 16;
  U8 magnitude = (bits & 0x7fffu) << 13;
  F8 scaled = (F8)magnitude * 0x1p112f;
  U8 special = (U8)((bits & 0x7c00u) == 0x7c00u);
  U8 result = (U8)scaled | (special & 0x7f800000u);
  return (F8)(result | sign);
#endif
}

template <typename Expand>
inline void expandA16(char *frame, const uint32_t *registers, uint32_t depth,
                      float (*a)[16], Expand expand) {
  for (uint32_t r = 0; r < depth / 4; ++r) {
    const char *from = frame + registers[r];
    for (uint32_t g = 0; g < 8; ++g)
      store(&a[g + 8 * (r & 1)][8 * (r / 2)], expand(from + 16 * g));
  }
}

inline void transpose8(F8 rows[8]) {
  for (int round = 0; round < 3; ++round) {
    F8 next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2,
                                            10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5,
                                                13, 6, 14, 7, 15);
    }
    std::memcpy(rows, next, sizeof(next));
  }
}

template <typename Expand>
inline void expandB16(char *frame, const uint32_t *registers, uint32_t depth,
                      float (*b)[8], Expand expand) {
  for (uint32_t r = 0; r < depth / 8; ++r) {
    F8 rows[8]; // one per column of B
    for (uint32_t n = 0; n < 8; ++n)
      rows[n] = expand(frame + registers[r] + 16 * n);
    transpose8(rows);
    for (uint32_t k = 0; k < 8; ++k)
      store(&b[8 * r + k][0], rows[k]);
  }
}

/// tf32 keeps the upper 19 bits of a float; the hardware ignores the rest.
inline F4 expandTF32(const char *from) {
  typedef uint32_t U4 __attribute__((vector_size(16)));
  return (F4)(load<U4>(from) & 0xffffe000u);
}

inline void expandATF32(char *frame, const uint32_t *registers, uint32_t depth,
                        float (*a)[16]) {
  for (uint32_t r = 0; r < depth / 2; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      store(&a[g + 8 * (r & 1)][4 * (r / 2)],
            expandTF32(frame + registers[r] + 16 * g));
}

inline void expandBTF32(char *frame, const uint32_t *registers, uint32_t depth,
                        float (*b)[8]) {
  for (uint32_t r = 0; r < depth / 4; ++r)
    for (uint32_t n = 0; n < 8; ++n) {
      F4 column = expandTF32(frame + registers[r] + 16 * n);
      for (uint32_t k = 0; k < 4; ++k)
        b[4 * r + k][n] = column[k];
    }
}

/// Row g of an accumulator: registers `even`, `odd` interleaved.
inline F8 loadRow(const char *even, const char *odd, uint32_t g) {
  F4 e = load<F4>(even + 16 * g), o = load<F4>(odd + 16 * g);
  return __builtin_shufflevector(e, o, 0, 4, 1, 5, 2, 6, 3, 7);
}

inline void storeRow(char *even, char *odd, uint32_t g, F8 row) {
  store(even + 16 * g, __builtin_shufflevector(row, row, 0, 2, 4, 6));
  store(odd + 16 * g, __builtin_shufflevector(row, row, 1, 3, 5, 7));
}

inline F8 broadcast(float value) {
  return F8{value, value, value, value, value, value, value, value};
}

/// Eight rows (`half` 0: rows 0-7, 1: rows 8-15) of one mma. Eight
/// accumulators, one row of B and a broadcast fit the 16 vector registers of
/// AVX2.
template <uint32_t Depth>
inline void halfMma(char *frame, const float (*a)[16], const float (*b)[8],
                    const uint32_t *c, const uint32_t *d, uint32_t half) {
  F8 acc[8];
  const uint32_t *in = c + 2 * half, *out = d + 2 * half;
  for (uint32_t g = 0; g < 8; ++g)
    acc[g] = loadRow(frame + in[0], frame + in[1], g);
  const float (*rows)[16] = a + 8 * half;
  for (uint32_t k = 0; k < Depth; ++k) {
    F8 column = load<F8>(&b[k][0]);
#pragma clang loop unroll(full)
    for (uint32_t g = 0; g < 8; ++g)
      acc[g] += broadcast(rows[g][k]) * column;
  }
  for (uint32_t g = 0; g < 8; ++g)
    storeRow(frame + out[0], frame + out[1], g, acc[g]);
}

template <uint32_t Depth>
inline void runMmas(char *frame, const uint32_t *mma, uint32_t count,
                    const MmaScratch &scratch) {
  for (uint32_t i = 0; i < count; ++i, mma += MmaProgram::WordsPerMma)
    for (uint32_t half = 0; half < 2; ++half)
      halfMma<Depth>(frame, scratch.a[mma[0]], scratch.b[mma[1]], mma + 2,
                     mma + 6, half);
}

} // namespace

void tessera::vgpu::TESSERA_MMA_NAME(char *frame, const uint32_t *program,
                                     MmaScratch &scratch) {
  auto kind = MmaKind(program[0]);
  uint32_t countA = program[1], countB = program[2], count = program[3];
  uint32_t depth = mmaDepth(kind);
  const uint32_t *a = program + MmaProgram::Header;
  const uint32_t *b = a + MmaProgram::WordsPerA * countA;
  const uint32_t *mma = b + MmaProgram::WordsPerB * countB;
  switch (kind) {
  case MmaKind::BF16K16:
  case MmaKind::BF16K8:
    for (uint32_t i = 0; i < countA; ++i)
      expandA16(frame, a + 4 * i, depth, scratch.a[i], expandBF16);
    for (uint32_t i = 0; i < countB; ++i)
      expandB16(frame, b + 2 * i, depth, scratch.b[i], expandBF16);
    break;
  case MmaKind::F16K16:
  case MmaKind::F16K8:
    for (uint32_t i = 0; i < countA; ++i)
      expandA16(frame, a + 4 * i, depth, scratch.a[i], expandF16);
    for (uint32_t i = 0; i < countB; ++i)
      expandB16(frame, b + 2 * i, depth, scratch.b[i], expandF16);
    break;
  case MmaKind::TF32K8:
  case MmaKind::TF32K4:
    for (uint32_t i = 0; i < countA; ++i)
      expandATF32(frame, a + 4 * i, depth, scratch.a[i]);
    for (uint32_t i = 0; i < countB; ++i)
      expandBTF32(frame, b + 2 * i, depth, scratch.b[i]);
    break;
  }
  if (depth == 16)
    runMmas<16>(frame, mma, count, scratch);
  else if (depth == 8)
    runMmas<8>(frame, mma, count, scratch);
  else
    runMmas<4>(frame, mma, count, scratch);
}
