//===- Products.cpp - matrix products and attention in plain loops --------===//
#include "Problem.h"

#include <algorithm>

using namespace tessera::kernels;

namespace tessera::check {

/// Four uniform numbers make a bell (variance 1/3 each on [-1, 1)); the
/// sequence is SplitMix64 (Steele, Lea and Flood 2014), the same on every
/// machine.
Tensor Tensor::random(Element type, int64_t size, uint64_t seed, double scale) {
  Tensor tensor(type, size);
  uint64_t state = seed * 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < size; ++i) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    double sum = 0;
    for (int part = 0; part < 4; ++part)
      sum += double((z >> (16 * part)) & 0xffff) / 32768.0 - 1.0;
    tensor.set(i, sum * scale * 0.8660254037844386); // sqrt(3) / 2
  }
  return tensor;
}

void makeProblem(const MatmulSpec &s, Problem &problem) {
  const Tensor &a = problem.input(Tensor::random(s.type, s.m * s.k, 1));
  const Tensor &w = problem.input(Tensor::random(s.type, s.n * s.k, 2));
  const Tensor *bias = nullptr, *gate = nullptr, *residual = nullptr;
  if (s.hasBias)
    bias = &problem.input(Tensor::random(s.type, s.n, 3));
  if (s.hasGate)
    gate = &problem.input(Tensor::random(s.type, s.m * s.n, 4));
  if (s.hasResidual)
    residual = &problem.input(Tensor::random(s.type, s.m * s.n, 5));
  problem.flops = 2.0 * s.m * s.n * s.k;
  // Products are about N(0, 1), so sums grow like sqrt(k); each addition in
  // f32 rounds at 2^-24. The gate may scale the error of the sum.
  double absolute = 8e-6 * std::sqrt(double(s.k));
  if (s.outType == Element::BF16)
    absolute += 1e-4;
  problem.output(s.outType, s.m, s.n, [=, &a, &w](int64_t row, Expected *out) {
    std::vector<double> left(s.k);
    for (int64_t l = 0; l < s.k; ++l)
      left[l] = a[row * s.k + l];
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < s.k; ++l)
        sum += left[l] * w[s.weightOutIn ? j * s.k + l : l * s.n + j];
      if (bias)
        sum += (*bias)[j];
      sum = activate(s.activation, sum);
      if (gate)
        sum *= activate(s.gateActivation, (*gate)[row * s.n + j]);
      if (residual)
        sum += (*residual)[row * s.n + j];
      out[j] = {sum, absolute + storeError(s.outType) * std::abs(sum)};
    }
  });
}

/// A row is one query of one head: all visible scores, their softmax, the
/// weighted sum. bf16 rounds each probability and the result once (2^-8); a
/// score is off by a few f32 roundings of its terms, and its power by as much.
void makeProblem(const AttentionSpec &s, Problem &problem) {
  int64_t queries = s.batch * s.seqQ * s.heads;
  int64_t keys = s.batch * s.seqKV * s.kvHeads;
  const Tensor &q =
      problem.input(Tensor::random(s.type, queries * s.headDim, 1));
  const Tensor &k = problem.input(Tensor::random(s.type, keys * s.headDim, 2));
  const Tensor &v = problem.input(Tensor::random(s.type, keys * s.headDim, 3));
  auto visible = [s](int64_t i, int64_t j) {
    return (!s.causal || j <= i) && (s.window == 0 || j > i - s.window);
  };
  double pairs = 0;
  for (int64_t i = 0; i < s.seqQ; ++i)
    for (int64_t j = 0; j < s.seqKV; ++j)
      pairs += visible(i, j);
  problem.flops = 4.0 * pairs * s.headDim * s.heads * s.batch;
  problem.output(
      s.type, queries, s.headDim, [=, &q, &k, &v](int64_t row, Expected *out) {
        int64_t h = row % s.heads, i = row / s.heads % s.seqQ;
        int64_t b = row / s.heads / s.seqQ, g = h / (s.heads / s.kvHeads);
        auto key = [&](int64_t j) {
          return ((b * s.seqKV + j) * s.kvHeads + g) * s.headDim;
        };
        std::vector<double> p(s.seqKV, 0.0);
        double largest = -INFINITY, sum = 0, terms = 0;
        for (int64_t j = 0; j < s.seqKV; ++j) {
          if (!visible(i, j))
            continue;
          double size = 0;
          for (int64_t d = 0; d < s.headDim; ++d) {
            double term = s.scale * q[row * s.headDim + d] * k[key(j) + d];
            p[j] += term;
            size += std::abs(term);
          }
          terms = std::max(terms, size);
          largest = std::max(largest, p[j]);
        }
        for (int64_t j = 0; j < s.seqKV; ++j)
          sum += p[j] = visible(i, j) ? std::exp(p[j] - largest) : 0;
        double stored = s.type == Element::BF16 ? 0x1.1p-8 : 0x1p-22;
        double rounding = stored + 0x1p-20 * (1 + terms);
        for (int64_t d = 0; d < s.headDim; ++d) {
          double value = 0, magnitude = 0;
          for (int64_t j = 0; j < s.seqKV && sum > 0; ++j) {
            double part = p[j] / sum * v[key(j) + d];
            value += part;
            magnitude += std::abs(part);
          }
          out[d] = {value, rounding * (std::abs(value) + magnitude)};
        }
      });
}

} // namespace tessera::check
