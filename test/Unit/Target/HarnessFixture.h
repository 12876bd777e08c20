//===- HarnessFixture.h - Kernels from text for the tests -------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_TARGET_HARNESSFIXTURE_H
#define TESSERA_TEST_UNIT_TARGET_HARNESSFIXTURE_H

#include "tessera/Target/KernelHarness.h"
#include "test/Support/BFloat16.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tessera::test {

/// Parses `source` (the body of a gpu.module) and compiles it.
class HarnessTest : public ::testing::Test {
protected:
  HarnessTest() : context(KernelHarness::registry()) {}

  std::unique_ptr<KernelHarness> compile(const std::string &source,
                                         HarnessOptions options = {}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "gpu.module @kernels {\n" + source + "\n}", &context);
    EXPECT_TRUE(module) << "the kernel does not parse";
    if (!module)
      return nullptr;
    return KernelHarness::create(*module, error, options);
  }

  mlir::MLIRContext context;
  std::string error;
};

inline std::vector<float> randomFloats(size_t n, unsigned seed,
                                       float scale = 1.0f) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-scale, scale);
  std::vector<float> values(n);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

/// |a - b| <= tolerance * max(1, |b|), and false if either is NaN.
inline bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_TARGET_HARNESSFIXTURE_H
