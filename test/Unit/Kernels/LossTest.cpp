//===- LossTest.cpp - cross-entropy and the mean over tokens --------------===//
#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/RowKernels.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

/// -log softmax(row)[label] over the first `vocab` columns, in double.
double referenceNll(const Buffer &logits, int64_t row, int64_t cols,
                    int64_t vocab, int32_t label) {
  if (label == -100)
    return 0;
  double maximum = -INFINITY, sum = 0;
  for (int64_t c = 0; c < vocab; ++c)
    maximum = std::max(maximum, logits[row * cols + c]);
  for (int64_t c = 0; c < vocab; ++c)
    sum += std::exp(logits[row * cols + c] - maximum);
  return std::log(sum) + maximum - logits[row * cols + label];
}

std::vector<int32_t> someLabels(int64_t rows, int64_t vocab) {
  std::vector<int32_t> labels(rows);
  for (int64_t r = 0; r < rows; ++r)
    labels[r] = r == 1 ? -100 : static_cast<int32_t>((r * 37 + 5) % vocab);
  return labels;
}

TEST(CrossEntropy, WholeVocabulary) {
  for (Element type : {Element::F32, Element::BF16})
    for (auto [cols, vocab] : {std::pair<int64_t, int64_t>{1, 1}, {97, 97},
                               {104, 101}, {9000, 8999}}) {
      CrossEntropySpec spec;
      spec.rows = 5, spec.cols = cols, spec.vocab = vocab, spec.type = type;
      Buffer logits = Buffer::random(type, spec.rows * cols, 1, 8.0);
      Buffer out(Element::F32, spec.rows);
      std::vector<int32_t> labels = someLabels(spec.rows, vocab);
      ASSERT_NO_FATAL_FAILURE(
          runSpec(spec, std::vector<tessera::KernelArg>{
                            logits.data(), labels.data(), out.data()}));
      expectClose(
          out,
          [&, cols = cols, vocab = vocab](size_t r) {
            return referenceNll(logits, r, cols, vocab, labels[r]);
          },
          2e-6, 4e-6);
    }
}

/// Splits the vocabulary over `ranks`, the last rank being padded, and
/// combines the statistics: the result is that of the whole row.
TEST(CrossEntropy, SplitVocabularyAgrees) {
  const int64_t rows = 6, vocab = 53;
  Buffer whole = Buffer::random(Element::F32, rows * vocab, 3, 5.0);
  std::vector<int32_t> labels = someLabels(rows, vocab);
  for (int64_t ranks : {1, 2, 4, 9}) {
    int64_t cols = (vocab + ranks - 1) / ranks;
    Buffer gathered(Element::F32, rows * 3 * ranks);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      CrossEntropySpec spec;
      spec.rows = rows, spec.cols = cols, spec.vocab = vocab;
      spec.statsOnly = true;
      int64_t offset = rank * cols;
      // Padding holds large numbers: they must not count.
      Buffer part(Element::F32, rows * cols), stats(Element::F32, rows * 3);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < cols; ++c)
          part.set(r * cols + c, offset + c < vocab
                                     ? whole[r * vocab + offset + c]
                                     : 1e6);
      ASSERT_NO_FATAL_FAILURE(runSpec(
          spec, std::vector<tessera::KernelArg>{part.data(), labels.data(),
                                                stats.data(), offset}));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < 3; ++i)
          gathered.set((r * ranks + rank) * 3 + i, stats[r * 3 + i]);
    }
    CrossEntropyCombineSpec combine;
    combine.rows = rows, combine.ranks = ranks;
    Buffer out(Element::F32, rows);
    ASSERT_NO_FATAL_FAILURE(
        runSpec(combine, std::vector<tessera::KernelArg>{
                             gathered.data(), labels.data(), out.data()}));
    expectClose(
        out,
        [&](size_t r) { return referenceNll(whole, r, vocab, vocab, labels[r]); },
        2e-6, 4e-6);
  }
}

TEST(Loss, SumAndMeanSkipIgnoredTokens) {
  const int64_t rows = 777;
  Buffer nll = Buffer::random(Element::F32, rows, 5);
  std::vector<int32_t> labels = someLabels(rows, 50);
  labels[700] = -100;
  double sum = 0, count = 0;
  for (int64_t r = 0; r < rows; ++r)
    if (labels[r] != -100)
      sum += nll[r], count += 1;
  Buffer sums(Element::F32, 2), mean(Element::F32, 1);
  TokenSumSpec spec;
  spec.rows = rows;
  ASSERT_NO_FATAL_FAILURE(runSpec(
      spec, std::vector<tessera::KernelArg>{nll.data(), labels.data(),
                                            sums.data()}));
  EXPECT_NEAR(sums[0], sum, 1e-4);
  EXPECT_EQ(sums[1], count);
  ASSERT_NO_FATAL_FAILURE(runSpec(
      TokenMeanSpec(),
      std::vector<tessera::KernelArg>{sums.data(), mean.data()}));
  EXPECT_NEAR(mean[0], sum / count, 1e-6);

  sums.set(0, 0), sums.set(1, 0);
  ASSERT_NO_FATAL_FAILURE(runSpec(
      TokenMeanSpec(),
      std::vector<tessera::KernelArg>{sums.data(), mean.data()}));
  EXPECT_EQ(mean[0], 0.0);
}

} // namespace
