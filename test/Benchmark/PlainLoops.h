//===- PlainLoops.h - What the virtual GPU is timed against -----*- C++ -*-===//
//
// The loops that somebody would write down first, compiled with -O3 and without
// relaxed floating point. In a file of their own, so that the compiler knows
// nothing of the callers.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_BENCHMARK_PLAINLOOPS_H
#define TESSERA_TEST_BENCHMARK_PLAINLOOPS_H

namespace tessera::benchmark {

/// c[m][n] = a[m][k] b[k][n], i-j-k.
void matmul(const float *a, const float *b, float *c, int m, int n, int k);
/// Rows of x divided by their root mean square, times weight.
void rmsNorm(const float *x, const float *weight, float *out, int rows,
             int cols, float eps);
/// Causal attention of [batch][seq][heads * dim], one head after another, with
/// the scores of one query in a buffer.
void attention(const float *q, const float *k, const float *v, float *out,
               int batch, int seq, int heads, int dim, float scale);
/// out = silu(gate) * x.
void swiglu(const float *x, const float *gate, float *out, int n);
/// Negative log-likelihood of each row's label.
void crossEntropy(const float *logits, const int *labels, float *out, int rows,
                  int cols);

} // namespace tessera::benchmark

#endif // TESSERA_TEST_BENCHMARK_PLAINLOOPS_H
