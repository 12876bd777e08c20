//===- Rows.cpp - norms, rotary, chains, tables, copies in plain loops ----===//
#include "Problem.h"

using namespace tessera::kernels;

namespace tessera::check {

void makeProblem(const NormSpec &s, Problem &problem) {
  int64_t size = s.rows * s.cols;
  const Tensor &x = problem.input(Tensor::random(s.type, size, 1));
  const Tensor *residual = nullptr, *bias = nullptr;
  if (s.hasResidual)
    residual = &problem.input(Tensor::random(s.type, size, 2));
  const Tensor &weight = problem.input(Tensor::random(s.type, s.cols, 3));
  if (s.hasBias)
    bias = &problem.input(Tensor::random(s.type, s.cols, 4));
  auto input = [=, &x](int64_t row, int64_t c) {
    double value = x[row * s.cols + c];
    return residual ? value + (*residual)[row * s.cols + c] : value;
  };
  if (residual)
    problem.output(s.type, s.rows, s.cols, [=](int64_t row, Expected *out) {
      for (int64_t c = 0; c < s.cols; ++c) {
        double sum = input(row, c);
        out[c] = {sum, 1e-6 + storeError(s.type) * std::abs(sum)};
      }
    });
  // The sum's own rounding to bf16 is within the absolute tolerance.
  double absolute = s.type == Element::F32 ? 3e-6 : 2e-2;
  problem.output(
      s.type, s.rows, s.cols, [=, &weight](int64_t row, Expected *out) {
        double mean = 0, squares = 0;
        for (int64_t c = 0; c < s.cols && s.kind == NormSpec::Kind::Layer; ++c)
          mean += input(row, c) / double(s.cols);
        for (int64_t c = 0; c < s.cols; ++c)
          squares += (input(row, c) - mean) * (input(row, c) - mean);
        double scale = 1 / std::sqrt(squares / double(s.cols) + s.eps);
        for (int64_t c = 0; c < s.cols; ++c) {
          double y = (input(row, c) - mean) * scale * weight[c];
          if (bias)
            y += (*bias)[c];
          out[c] = {y, absolute + storeError(s.type) * std::abs(y)};
        }
      });
}

/// Rows are positions of one sequence; the base is that of Llama.
void makeProblem(const RotarySpec &s, Problem &problem) {
  int64_t width = s.heads * s.headDim, half = s.rotaryDim / 2;
  const Tensor &x =
      problem.input(Tensor::random(s.type, s.batch * s.seq * width, 1));
  Tensor table(Element::F32, s.positions * s.rotaryDim);
  auto angle = [=](int64_t position, int64_t i) {
    return double(position) *
           std::pow(10000.0, -2.0 * double(i) / double(s.rotaryDim));
  };
  for (int64_t p = 0; p < s.positions; ++p)
    for (int64_t i = 0; i < half; ++i) {
      table.set((p * half + i) * 2, std::cos(angle(p, i)));
      table.set((p * half + i) * 2 + 1, std::sin(angle(p, i)));
    }
  problem.input(std::move(table));
  double absolute = s.type == Element::F32 ? 1e-6 : 1e-2;
  problem.output(
      s.type, s.batch * s.seq, width, [=, &x](int64_t row, Expected *out) {
        for (int64_t c = 0; c < width; ++c) {
          int64_t d = c % s.headDim, at = row * width + c;
          double y = x[at];
          if (d < s.rotaryDim) {
            double a = angle(row % s.seq, d % half);
            y = d < half ? y * std::cos(a) - x[at + half] * std::sin(a)
                         : y * std::cos(a) + x[at - half] * std::sin(a);
          }
          out[c] = {y, absolute + storeError(s.type) * std::abs(y)};
        }
      });
}

void makeProblem(const ElementwiseSpec &s, Problem &problem) {
  int64_t size = s.rows * s.cols;
  const Tensor &x = problem.input(Tensor::random(s.type, size, 1, 3.0));
  const Tensor *bias = nullptr, *gate = nullptr, *residual = nullptr;
  if (s.hasBias)
    bias = &problem.input(Tensor::random(s.type, s.cols, 2));
  if (s.hasGate)
    gate = &problem.input(Tensor::random(s.type, size, 3));
  if (s.hasResidual)
    residual = &problem.input(Tensor::random(s.type, size, 4));
  problem.output(s.type, s.rows, s.cols, [=, &x](int64_t row, Expected *out) {
    for (int64_t c = 0; c < s.cols; ++c) {
      int64_t at = row * s.cols + c;
      double y = activate(s.activation, x[at] + (bias ? (*bias)[c] : 0));
      if (gate)
        y *= activate(s.gateActivation, (*gate)[at]);
      if (residual)
        y += (*residual)[at];
      out[c] = {y, 2e-6 + storeError(s.type) * std::abs(y)};
    }
  });
}

/// With an offset, ids before, inside and behind the rows that the rank holds.
void makeProblem(const EmbeddingSpec &s, Problem &problem) {
  int64_t offset = s.hasOffset ? 2 * s.rows : 0;
  int64_t known = s.hasOffset ? 5 * s.rows : s.rows;
  std::vector<int32_t> ids(s.count);
  for (int64_t i = 0; i < s.count; ++i)
    ids[i] = static_cast<int32_t>((i * 7919 + 3) % known);
  problem.input(Tensor::ids(ids));
  const Tensor &table =
      problem.input(Tensor::random(s.type, s.rows * s.cols, 1));
  problem.output(
      s.type, s.count, s.cols, [=, &table](int64_t row, Expected *out) {
        int64_t id = ids[row] - offset;
        for (int64_t c = 0; c < s.cols; ++c)
          out[c] = {id >= 0 && id < s.rows ? table[id * s.cols + c] : 0.0, 0};
      });
  // Read are the rows that are looked up, not the table.
  problem.bytes = double(s.count) * (4 + 2.0 * double(s.cols * sizeOf(s.type)));
  if (s.hasOffset)
    problem.scalar = offset;
}

void makeProblem(const PositionsSpec &s, Problem &problem) {
  const Tensor &x =
      problem.input(Tensor::random(s.type, s.batch * s.seq * s.cols, 1));
  const Tensor &table =
      problem.input(Tensor::random(s.type, s.positions * s.cols, 2));
  int64_t offset = s.hasOffset ? 5 : 0;
  problem.output(s.type, s.batch * s.seq, s.cols,
                 [=, &x, &table](int64_t row, Expected *out) {
                   int64_t position = row % s.seq + s.first + offset;
                   for (int64_t c = 0; c < s.cols; ++c) {
                     double y =
                         x[row * s.cols + c] + table[position * s.cols + c];
                     out[c] = {y, 1e-6 + storeError(s.type) * std::abs(y)};
                   }
                 });
  if (s.hasOffset)
    problem.scalar = offset;
}

void makeProblem(const CopyCase &s, Problem &problem) {
  const Tensor &x =
      problem.input(Tensor::random(s.type, s.rows * s.cols * s.inner, 1));
  if (s.slice) {
    const int64_t index = s.cols - 1;
    problem.output(s.type, s.rows, s.inner, [=, &x](int64_t r, Expected *out) {
      for (int64_t i = 0; i < s.inner; ++i)
        out[i] = {x[(r * s.cols + index) * s.inner + i], 0};
    });
    problem.scalar = index;
    return;
  }
  problem.output(
      s.type, s.cols, s.rows * s.inner, [=, &x](int64_t c, Expected *out) {
        for (int64_t r = 0; r < s.rows; ++r)
          for (int64_t i = 0; i < s.inner; ++i)
            out[r * s.inner + i] = {x[(r * s.cols + c) * s.inner + i], 0};
      });
}

} // namespace tessera::check
