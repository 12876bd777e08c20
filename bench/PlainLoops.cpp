//===- PlainLoops.cpp - what kernels on the virtual GPU are timed against -===//
#include "PlainLoops.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tessera::bench;

template <typename T>
void tessera::bench::plainAttention(const AttentionShape &s, const T *q,
                                    const T *k, const T *v, T *out) {
  std::vector<float> p(s.seqKV), sum(s.headDim);
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < s.seqQ; ++i) {
        int64_t group = h / (s.heads / s.kvHeads);
        int64_t keys = s.causal ? std::min(s.seqKV, i + 1) : s.seqKV;
        const T *query = q + ((b * s.seqQ + i) * s.heads + h) * s.headDim;
        float largest = -INFINITY, total = 0;
        for (int64_t j = 0; j < keys; ++j) {
          const T *key =
              k + ((b * s.seqKV + j) * s.kvHeads + group) * s.headDim;
          float dot = 0;
          for (int64_t d = 0; d < s.headDim; ++d)
            dot += float(query[d]) * float(key[d]);
          p[j] = dot * s.scale;
          largest = std::max(largest, p[j]);
        }
        for (int64_t d = 0; d < s.headDim; ++d)
          sum[d] = 0;
        for (int64_t j = 0; j < keys; ++j) {
          const T *value =
              v + ((b * s.seqKV + j) * s.kvHeads + group) * s.headDim;
          float weight = std::exp(p[j] - largest);
          total += weight;
          for (int64_t d = 0; d < s.headDim; ++d)
            sum[d] += weight * float(value[d]);
        }
        T *row = out + ((b * s.seqQ + i) * s.heads + h) * s.headDim;
        for (int64_t d = 0; d < s.headDim; ++d)
          row[d] = T(sum[d] / total);
      }
}

template void tessera::bench::plainAttention(const AttentionShape &,
                                             const float *, const float *,
                                             const float *, float *);
template void tessera::bench::plainAttention(const AttentionShape &,
                                             const BFloat16 *, const BFloat16 *,
                                             const BFloat16 *, BFloat16 *);
