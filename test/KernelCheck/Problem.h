//===- Problem.h - one kernel's arguments and what it should give -*- C++ -*-=//
//
// A problem holds the arguments of a kernel in its order (KernelSpec.h) and,
// for each of its outputs, a reference: plain loops in double precision that
// compute one row of the result.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_KERNELCHECK_PROBLEM_H
#define TEST_KERNELCHECK_PROBLEM_H

#include "Cases.h"
#include "Tensor.h"
#include "test/Support/ActivationReference.h"

#include <deque>
#include <functional>
#include <optional>

namespace tessera::check {

/// A value and how far off a result may be.
struct Expected {
  double value = 0, tolerance = 0;
};

/// Computes row `row` of an output into `out[0 .. width)`.
using RowReference = std::function<void(int64_t row, Expected *out)>;

struct Output {
  size_t argument; ///< index in Problem::tensors
  int64_t rows, width;
  RowReference reference;
};

struct Problem {
  /// Tensor arguments in order. A deque: references capture its elements.
  std::deque<Tensor> tensors;
  /// The i64 argument behind them.
  std::optional<int64_t> scalar;
  std::vector<Output> outputs;
  /// Of one launch: floating-point operations and the bytes that must at least
  /// move; for rates.
  double flops = 0, bytes = 0;

  Tensor &input(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    bytes += double(tensors.back().byteSize());
    return tensors.back();
  }
  void output(kernels::Element type, int64_t rows, int64_t width,
              RowReference reference) {
    tensors.push_back(Tensor(type, rows * width));
    bytes += double(tensors.back().byteSize());
    outputs.push_back({tensors.size() - 1, rows, width, std::move(reference)});
  }
};

/// By family; `problem` must stay where it is while it is used.
void makeProblem(const kernels::MatmulSpec &spec, Problem &problem);
void makeProblem(const kernels::AttentionSpec &spec, Problem &problem);
void makeProblem(const kernels::NormSpec &spec, Problem &problem);
void makeProblem(const kernels::RotarySpec &spec, Problem &problem);
void makeProblem(const kernels::ElementwiseSpec &spec, Problem &problem);
void makeProblem(const kernels::EmbeddingSpec &spec, Problem &problem);
void makeProblem(const kernels::PositionsSpec &spec, Problem &problem);
void makeProblem(const kernels::CrossEntropySpec &spec, Problem &problem);
void makeProblem(const kernels::CrossEntropyCombineSpec &spec,
                 Problem &problem);
void makeProblem(const kernels::TokenSumSpec &spec, Problem &problem);
void makeProblem(const kernels::TokenMeanSpec &spec, Problem &problem);
void makeProblem(const CopyCase &spec, Problem &problem);

using test::activate;

/// Relative error of storing in `type`: half a unit in the last place of bf16
/// (2^-8) and what precedes it, or a few roundings of f32.
inline double storeError(kernels::Element type) {
  return type == kernels::Element::F32 ? 2e-6 : 4e-3;
}

} // namespace tessera::check

#endif // TEST_KERNELCHECK_PROBLEM_H
