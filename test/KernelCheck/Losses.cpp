//===- Losses.cpp - cross-entropy and means over tokens in plain loops ----===//
#include "Problem.h"

#include <algorithm>

using namespace tessera::kernels;

namespace tessera::check {

constexpr int32_t kIgnored = -100;

/// Labels over the vocabulary, one of them not counted.
static std::vector<int32_t> someLabels(int64_t rows, int64_t vocab) {
  std::vector<int32_t> labels(rows);
  for (int64_t r = 0; r < rows; ++r)
    labels[r] = r == 1 ? kIgnored : static_cast<int32_t>((r * 37 + 5) % vocab);
  return labels;
}

/// Statistics (maximum, sum of exp(x - maximum), logit of the label or 0) of
/// the columns below `end`; `first` is the label of column 0.
static void statistics(const Tensor &logits, int64_t row, int64_t cols,
                       int64_t end, int64_t first, int32_t label,
                       double out[3]) {
  double maximum = -INFINITY, sum = 0, own = 0;
  for (int64_t c = 0; c < end; ++c)
    maximum = std::max(maximum, logits[row * cols + c]);
  for (int64_t c = 0; c < end; ++c) {
    sum += std::exp(logits[row * cols + c] - maximum);
    if (first + c == label)
      own = logits[row * cols + c];
  }
  out[0] = maximum, out[1] = sum, out[2] = own;
}

void makeProblem(const CrossEntropySpec &s, Problem &problem) {
  const Tensor &logits =
      problem.input(Tensor::random(s.type, s.rows * s.cols, 1, 5.0));
  std::vector<int32_t> labels = someLabels(s.rows, s.vocab);
  problem.input(Tensor::ids(labels));
  // The second of two parts of the vocabulary, the last columns being padding.
  int64_t offset = s.statsOnly ? s.cols : 0;
  int64_t end = std::min(s.cols, s.vocab - offset);
  problem.output(Element::F32, s.rows, s.statsOnly ? 3 : 1,
                 [=, &logits](int64_t row, Expected *out) {
                   double three[3];
                   statistics(logits, row, s.cols, end, offset, labels[row],
                              three);
                   if (s.statsOnly) {
                     for (int i = 0; i < 3; ++i)
                       out[i] = {three[i], 4e-6 * (1 + std::abs(three[i]))};
                     return;
                   }
                   double nll = labels[row] == kIgnored
                                    ? 0
                                    : std::log(three[1]) + three[0] - three[2];
                   out[0] = {nll, 4e-6 * (2 + std::abs(three[0]))};
                 });
  if (s.statsOnly)
    problem.scalar = offset;
}

void makeProblem(const CrossEntropyCombineSpec &s, Problem &problem) {
  const int64_t cols = 13, vocab = cols * s.ranks;
  const Tensor logits = Tensor::random(Element::F32, s.rows * vocab, 1, 5.0);
  std::vector<int32_t> labels = someLabels(s.rows, vocab);
  Tensor stats(Element::F32, s.rows * s.ranks * 3);
  for (int64_t r = 0; r < s.rows; ++r)
    for (int64_t rank = 0; rank < s.ranks; ++rank) {
      Tensor part(Element::F32, cols);
      for (int64_t c = 0; c < cols; ++c)
        part.set(c, logits[r * vocab + rank * cols + c]);
      double three[3];
      statistics(part, 0, cols, cols, rank * cols, labels[r], three);
      for (int i = 0; i < 3; ++i)
        stats.set((r * s.ranks + rank) * 3 + i, three[i]);
    }
  problem.input(std::move(stats));
  problem.input(Tensor::ids(labels));
  problem.output(Element::F32, s.rows, 1, [=](int64_t row, Expected *out) {
    double three[3];
    statistics(logits, row, vocab, vocab, 0, labels[row], three);
    double nll =
        labels[row] == kIgnored ? 0 : std::log(three[1]) + three[0] - three[2];
    out[0] = {nll, 4e-6 * (2 + std::abs(three[0]))};
  });
}

void makeProblem(const TokenSumSpec &s, Problem &problem) {
  const Tensor &nll = problem.input(Tensor::random(Element::F32, s.rows, 1));
  std::vector<int32_t> labels = someLabels(s.rows, 50);
  problem.input(Tensor::ids(labels));
  problem.output(Element::F32, 1, 2, [=, &nll](int64_t, Expected *out) {
    double sum = 0, count = 0;
    for (int64_t r = 0; r < s.rows; ++r)
      if (labels[r] != kIgnored)
        sum += nll[r], count += 1;
    out[0] = {sum, 1e-4};
    out[1] = {count, 0};
  });
}

void makeProblem(const TokenMeanSpec &, Problem &problem) {
  Tensor sum(Element::F32, 2);
  sum.set(0, 531.25), sum.set(1, 77);
  problem.input(std::move(sum));
  problem.output(Element::F32, 1, 1,
                 [](int64_t, Expected *out) { out[0] = {531.25 / 77, 1e-6}; });
}

} // namespace tessera::check
