//===- MatmulTest.h - trying matmul kernels against plain loops -*- C++ -*-===//
//
// A product with random operands, its reference in double precision by three
// loops, and launches of a kernel under the checker.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_UNIT_KERNELS_MATMULTEST_H
#define TEST_UNIT_KERNELS_MATMULTEST_H

#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/Matmul.h"

namespace tessera::kernels::test {

inline double referenceActivation(Activation activation, double x) {
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Gelu:
    return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  case Activation::GeluTanh:
    return 0.5 * x *
           (1.0 +
            std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::Silu:
    return x / (1.0 + std::exp(-x));
  case Activation::Relu:
    return std::max(x, 0.0);
  }
  return NAN;
}

struct MatmulProblem {
  MatmulSpec spec;
  Buffer a, weight, bias, gate, residual, out;
  std::vector<double> expected;

  explicit MatmulProblem(const MatmulSpec &s)
      : spec(s), a(Buffer::random(s.type, s.m * s.k, 1)),
        weight(Buffer::random(s.type, s.n * s.k, 2)),
        bias(Buffer::random(s.type, s.n, 3)),
        gate(Buffer::random(s.type, s.m * s.n, 4)),
        residual(Buffer::random(s.type, s.m * s.n, 5)),
        out(s.outType, s.m * s.n), expected(s.m * s.n) {
    // One pass over plain doubles: Buffer's conversions are slow.
    std::vector<double> rows(s.m * s.k), cols(s.n * s.k);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = a[i];
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t l = 0; l < s.k; ++l)
        cols[j * s.k + l] = weight[s.weightOutIn ? j * s.k + l : l * s.n + j];
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < s.k; ++l)
          sum += rows[i * s.k + l] * cols[j * s.k + l];
        int64_t at = i * s.n + j;
        if (s.hasBias)
          sum += bias[j];
        sum = referenceActivation(s.activation, sum);
        if (s.hasGate)
          sum *= referenceActivation(s.gateActivation, gate[at]);
        if (s.hasResidual)
          sum += residual[at];
        expected[at] = sum;
      }
  }

  std::vector<KernelArg> arguments() {
    std::vector<KernelArg> list{a.data(), weight.data()};
    if (spec.hasBias)
      list.push_back(bias.data());
    if (spec.hasGate)
      list.push_back(gate.data());
    if (spec.hasResidual)
      list.push_back(residual.data());
    list.push_back(out.data());
    return list;
  }

  /// Runs `kernel` with several orders of lanes, warps and blocks.
  void run(KernelHarness &harness, llvm::StringRef kernel,
           const MatmulConfig &config) {
    for (uint64_t seed : {0, 3, 11}) {
      out = Buffer(spec.outType, spec.m * spec.n);
      LaunchOptions options;
      options.seed = seed;
      options.check = true;
      ASSERT_EQ(harness.launch(kernel,
                               toHarness(matmulLaunchShape(spec, config)),
                               arguments(), options),
                "")
          << describe(config) << ", seed " << seed;
      // Inputs are about N(0, 1), so sums grow like sqrt(k); each addition in
      // f32 rounds at 2^-24. The gate may scale the error of the sum.
      double absolute = 1e-6 * std::sqrt(double(spec.k)) * 8;
      if (spec.outType == Element::BF16)
        absolute += 1e-4;
      expectClose(
          out, [&](size_t i) { return expected[i]; },
          relativeError(spec.outType), absolute);
      ASSERT_FALSE(testing::Test::HasFailure())
          << describe(config) << ", seed " << seed;
    }
  }

  std::string describe(const MatmulConfig &c) const {
    return describe(spec, c);
  }
  static std::string describe(const MatmulSpec &spec, const MatmulConfig &c) {
    return (spec.type == Element::BF16 ? "bf16 " : "f32 ") +
           std::to_string(spec.m) + " x " + std::to_string(spec.n) + " x " +
           std::to_string(spec.k) + (spec.weightOutIn ? " [n, k]" : " [k, n]") +
           ", tile " + std::to_string(c.blockM) + " x " +
           std::to_string(c.blockN) + " x " + std::to_string(c.blockK) +
           ", warps " + std::to_string(c.warpsM) + " x " +
           std::to_string(c.warpsN) + ", stages " + std::to_string(c.stages);
  }
};

/// Compiles and runs one product.
inline void tryMatmul(const MatmulSpec &spec, const MatmulConfig &config) {
  std::string error;
  ASSERT_TRUE(succeeded(checkMatmul(spec, config, *chipLimits(90), error)))
      << error;
  auto harness = compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        ASSERT_TRUE(
            succeeded(buildMatmul(builder, module, "matmul", spec, config)));
      });
  ASSERT_TRUE(harness);
  MatmulProblem(spec).run(*harness, "matmul", config);
}

inline MatmulSpec product(Element type, int64_t m, int64_t n, int64_t k,
                          bool weightOutIn = true) {
  MatmulSpec spec;
  spec.m = m, spec.n = n, spec.k = k;
  spec.type = spec.outType = type;
  spec.weightOutIn = weightOutIn;
  return spec;
}

} // namespace tessera::kernels::test

#endif // TEST_UNIT_KERNELS_MATMULTEST_H
