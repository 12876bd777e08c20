//===- AttentionTest.h - attention against plain loops ----------*- C++ -*-===//
//
// The reference follows the definition of `tessera.attention` directly: for
// each query all visible scores, their softmax, the weighted sum, in double.
// Beside each value it gives what bounds the error that rounding may cause: the
// sum of |p v| for errors of the probabilities, and the largest sum of
// |scale q k| for errors of the scores.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_KERNELS_ATTENTIONTEST_H
#define TEST_UNIT_KERNELS_ATTENTIONTEST_H

#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/Attention.h"

namespace tessera::kernels::test {

struct Expected {
  std::vector<double> value, magnitude, score;
};

/// q, k and v as AttentionSpec says. Queries without a visible key give 0.
inline Expected attentionReference(const AttentionSpec &s, const Buffer &q,
                                   const Buffer &k, const Buffer &v) {
  size_t size = s.batch * s.seqQ * s.heads * s.headDim;
  Expected out{std::vector<double>(size), std::vector<double>(size),
               std::vector<double>(size)};
  std::vector<double> p(s.seqKV);
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h) {
      int64_t g = h / (s.heads / s.kvHeads);
      for (int64_t i = 0; i < s.seqQ; ++i) {
        auto visible = [&](int64_t j) {
          return (!s.causal || j <= i) && (s.window == 0 || j > i - s.window);
        };
        auto query = [&](int64_t d) {
          return q[((b * s.seqQ + i) * s.heads + h) * s.headDim + d];
        };
        auto keyAt = [&](int64_t j, int64_t d) {
          return ((b * s.seqKV + j) * s.kvHeads + g) * s.headDim + d;
        };
        double largest = -INFINITY, sum = 0, score = 0;
        for (int64_t j = 0; j < s.seqKV; ++j) {
          if (!visible(j))
            continue;
          p[j] = 0;
          double terms = 0;
          for (int64_t d = 0; d < s.headDim; ++d) {
            p[j] += query(d) * k[keyAt(j, d)];
            terms += std::abs(s.scale * query(d) * k[keyAt(j, d)]);
          }
          p[j] *= s.scale;
          score = terms > score ? terms : score;
          largest = p[j] > largest ? p[j] : largest;
        }
        for (int64_t j = 0; j < s.seqKV; ++j)
          if (visible(j))
            sum += p[j] = std::exp(p[j] - largest);
        for (int64_t d = 0; d < s.headDim; ++d) {
          double value = 0, magnitude = 0;
          for (int64_t j = 0; j < s.seqKV; ++j)
            if (visible(j)) {
              value += p[j] / sum * v[keyAt(j, d)];
              magnitude += std::abs(p[j] / sum * v[keyAt(j, d)]);
            }
          size_t at = ((b * s.seqQ + i) * s.heads + h) * s.headDim + d;
          out.value[at] = value;
          out.magnitude[at] = magnitude;
          out.score[at] = score;
        }
      }
    }
  return out;
}

struct Inputs {
  Buffer q, k, v;
};

inline Inputs randomInputs(const AttentionSpec &s, uint32_t seed) {
  size_t queries = s.batch * s.seqQ * s.heads * s.headDim;
  size_t keys = s.batch * s.seqKV * s.kvHeads * s.headDim;
  return {Buffer::random(s.type, queries, seed),
          Buffer::random(s.type, keys, seed + 1),
          Buffer::random(s.type, keys, seed + 2)};
}

inline std::unique_ptr<KernelHarness>
compileAttention(const AttentionSpec &spec, const AttentionConfig &config,
                 bool instrument) {
  return compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        EXPECT_TRUE(mlir::succeeded(
            buildAttention(builder, module, "attention", spec, config)));
      },
      instrument);
}

/// bf16: each probability and the result are rounded once, 2^-8 relative. Both
/// types: a score is off by a few f32 roundings (2^-24) of its terms, and its
/// power by as much.
inline void expectAttention(const AttentionSpec &spec, const Buffer &out,
                            const Expected &expected) {
  double stored = spec.type == Element::BF16 ? 0x1.1p-8 : 0x1p-22;
  int shown = 0;
  for (size_t i = 0; i < out.size() && shown < 5; ++i) {
    double want = expected.value[i], got = out[i];
    double rounding = stored + 0x1p-20 * (1 + expected.score[i]);
    double tolerance = rounding * (std::abs(want) + expected.magnitude[i]);
    bool same =
        std::isnan(want) ? std::isnan(got) : std::abs(got - want) <= tolerance;
    if (!same) {
      ADD_FAILURE() << "element " << i << ": expected " << want << ", got "
                    << got << ", tolerance " << tolerance;
      ++shown;
    }
  }
}

/// Runs under the checker, in index order and in two random ones.
inline void runAttention(const AttentionSpec &spec,
                         const AttentionConfig &config, Inputs inputs) {
  auto harness = compileAttention(spec, config, /*instrument=*/true);
  ASSERT_TRUE(harness);
  Expected expected = attentionReference(spec, inputs.q, inputs.k, inputs.v);
  for (uint64_t seed : {0, 1, 2026}) {
    Buffer out(spec.type, inputs.q.size());
    LaunchOptions options;
    options.seed = seed;
    options.check = true;
    ASSERT_EQ(harness->launch("attention",
                              toHarness(attentionLaunchShape(spec, config)),
                              {inputs.q.data(), inputs.k.data(),
                               inputs.v.data(), out.data()},
                              options),
              "");
    expectAttention(spec, out, expected);
  }
}

inline void runAttention(const AttentionSpec &spec,
                         const AttentionConfig &config) {
  runAttention(spec, config, randomInputs(spec, 17));
}

} // namespace tessera::kernels::test

#endif // TEST_UNIT_KERNELS_ATTENTIONTEST_H
