//===- FakeKernel.h - the fake program's only kernel ------------*- C++ -*-===//
//
// Shared by the fake program, which runs it on the virtual GPU, and the fake
// CUDA driver.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_UNIT_RUNTIME_FAKEKERNEL_H
#define TESSERA_TEST_UNIT_RUNTIME_FAKEKERNEL_H

#include <cstdint>

namespace {
constexpr int64_t batch = 2, sequence = 6, vocab = 11, width = 4;
constexpr int64_t rows = batch / FAKE_DP, columns = width / FAKE_TP;
constexpr int64_t part = (vocab + FAKE_TP - 1) / FAKE_TP;
// Parameter arena.
constexpr int64_t wAt = 0, gAt = 1024, gStride = 64, vAt = 2048, tableAt = 3072;
// Arena.
constexpr int64_t tokensAt = 0, labelsAt = 256, nllAt = 512, lossAt = 1024,
                  sumsAt = 1088;

/// The whole local part, by one thread.
inline void localPartOfFake(void *const *arguments) {
  char *params = *static_cast<char *const *>(arguments[0]);
  char *arena = *static_cast<char *const *>(arguments[1]);
  int64_t tp = *static_cast<const int64_t *>(arguments[2]);
  const float *w = reinterpret_cast<const float *>(params + wAt);
  const float *g3 = reinterpret_cast<const float *>(params + gAt);
  const float *g4 = reinterpret_cast<const float *>(params + gAt + gStride);
  const float *v = reinterpret_cast<const float *>(params + vAt);
  const float *c = reinterpret_cast<const float *>(params + tableAt);
  const int32_t *tokens = reinterpret_cast<const int32_t *>(arena + tokensAt);
  float *nll = reinterpret_cast<float *>(arena + nllAt);
  for (int64_t i = 0; i < rows * sequence; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += w[tokens[i] * columns + j] * g3[j] * g4[j];
    int64_t row = tokens[i] - tp * part;
    if (row >= 0 && row < part)
      sum += v[row];
    // The rows past the vocabulary must be zero.
    for (int64_t past = vocab - tp * part; past < part; ++past)
      sum += v[past] * 1000;
    nll[i] = sum + (tp == 0 ? c[2 * (i % sequence)] : 0.0f);
  }
}
} // namespace

#endif // TESSERA_TEST_UNIT_RUNTIME_FAKEKERNEL_H
