//===- PlainLoops.cpp - What the virtual GPU is timed against -------------===//

#include "PlainLoops.h"

#include <cmath>
#include <vector>

void tessera::benchmark::matmul(const float *a, const float *b, float *c, int m,
                                int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}

void tessera::benchmark::rmsNorm(const float *x, const float *weight,
                                 float *out, int rows, int cols, float eps) {
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int j = 0; j < cols; ++j)
      sum += x[i * cols + j] * x[i * cols + j];
    float scale = 1.0f / std::sqrt(sum / float(cols) + eps);
    for (int j = 0; j < cols; ++j)
      out[i * cols + j] = x[i * cols + j] * scale * weight[j];
  }
}

void tessera::benchmark::attention(const float *q, const float *k,
                                   const float *v, float *out, int batch,
                                   int seq, int heads, int dim, float scale) {
  int width = heads * dim;
  std::vector<float> scores(static_cast<size_t>(seq));
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < seq; ++i) {
        auto at = [&](int row) { return (b * seq + row) * width + h * dim; };
        float most = -INFINITY;
        for (int j = 0; j <= i; ++j) {
          float sum = 0;
          for (int d = 0; d < dim; ++d)
            sum += q[at(i) + d] * k[at(j) + d];
          scores[j] = sum * scale;
          most = std::fmax(most, scores[j]);
        }
        float total = 0;
        for (int j = 0; j <= i; ++j) {
          scores[j] = std::exp(scores[j] - most);
          total += scores[j];
        }
        for (int d = 0; d < dim; ++d) {
          float sum = 0;
          for (int j = 0; j <= i; ++j)
            sum += scores[j] * v[at(j) + d];
          out[at(i) + d] = sum / total;
        }
      }
}

void tessera::benchmark::swiglu(const float *x, const float *gate, float *out,
                                int n) {
  for (int i = 0; i < n; ++i)
    out[i] = x[i] * gate[i] / (1.0f + std::exp(-gate[i]));
}

void tessera::benchmark::crossEntropy(const float *logits, const int *labels,
                                      float *out, int rows, int cols) {
  for (int i = 0; i < rows; ++i) {
    const float *row = logits + i * cols;
    float most = -INFINITY;
    for (int j = 0; j < cols; ++j)
      most = std::fmax(most, row[j]);
    float sum = 0;
    for (int j = 0; j < cols; ++j)
      sum += std::exp(row[j] - most);
    out[i] = std::log(sum) + most - row[labels[i]];
  }
}
