//===- KernelTest.h - trying kernels against plain loops --------*- C++ -*-===//
//
// Builds one kernel from its spec, runs it on the virtual GPU (checking mode,
// several seeds) and compares with a reference that the test computes in double
// precision. A NaN where the reference has none is a difference.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_KERNELS_KERNELTEST_H
#define TEST_UNIT_KERNELS_KERNELTEST_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"
#include "tessera/Target/KernelHarness.h"
#include "test/Support/BFloat16.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace tessera::kernels::test {

using tessera::test::fromBF16;
using tessera::test::toBF16;

/// A tensor in the element type of the kernel, with its values as doubles.
class Buffer {
public:
  Buffer(Element type, size_t size) : type(type), bytes(size * sizeOf(type)) {
    std::memset(bytes.data(), 0xff, bytes.size()); // NaN in both types
  }
  static Buffer random(Element type, size_t size, uint32_t seed,
                       double scale = 1.0) {
    Buffer buffer(type, size);
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0.0, scale);
    for (size_t i = 0; i < size; ++i)
      buffer.set(i, normal(generator));
    return buffer;
  }
  size_t size() const { return bytes.size() / sizeOf(type); }
  void *data() { return bytes.data(); }
  void set(size_t i, double value) {
    if (type == Element::F32) {
      float f = static_cast<float>(value);
      std::memcpy(&bytes[i * 4], &f, 4);
    } else {
      uint16_t h = toBF16(static_cast<float>(value));
      std::memcpy(&bytes[i * 2], &h, 2);
    }
  }
  double operator[](size_t i) const {
    if (type == Element::F32) {
      float f;
      std::memcpy(&f, &bytes[i * 4], 4);
      return f;
    }
    uint16_t h;
    std::memcpy(&h, &bytes[i * 2], 2);
    return fromBF16(h);
  }

private:
  Element type;
  std::vector<char> bytes;
};

/// Compiles the kernel that `emit` appends to a gpu.module.
inline std::unique_ptr<KernelHarness> compileKernel(
    llvm::function_ref<void(mlir::OpBuilder &, mlir::gpu::GPUModuleOp)> emit,
    bool instrument = true) {
  static mlir::MLIRContext context(KernelHarness::registry());
  context.loadAllAvailableDialects();
  mlir::OpBuilder builder(&context);
  auto loc = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto gpuModule = mlir::gpu::GPUModuleOp::create(builder, loc, "kernels");
  emit(builder, gpuModule);
  HarnessOptions options;
  options.instrument = instrument;
  std::string error;
  auto harness = KernelHarness::create(*module, error, options);
  EXPECT_TRUE(harness) << error;
  return harness;
}

inline tessera::LaunchShape toHarness(const LaunchShape &shape) {
  tessera::LaunchShape result;
  for (int i = 0; i < 3; ++i) {
    result.grid[i] = shape.grid[i];
    result.block[i] = shape.block[i];
  }
  result.dynamicSharedBytes = shape.dynamicSharedBytes;
  return result;
}

/// Builds `spec` with the family's own `build`, and runs it under the checker
/// with two seeds.
template <typename Spec>
void runSpec(const Spec &spec, std::vector<KernelArg> arguments) {
  std::string why;
  ASSERT_TRUE(check(spec, why)) << why;
  auto harness = compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        build(builder, module, "k", spec);
      });
  ASSERT_TRUE(harness);
  for (uint64_t seed : {0, 7}) {
    LaunchOptions options;
    options.seed = seed;
    options.check = true;
    ASSERT_EQ(
        harness->launch("k", toHarness(launchShape(spec)), arguments, options),
        "");
  }
}

/// Every element within `relative` of the expected value (or `absolute`).
inline void expectClose(const Buffer &got,
                        const std::function<double(size_t)> &expected,
                        double relative, double absolute) {
  int shown = 0;
  for (size_t i = 0; i < got.size() && shown < 5; ++i) {
    double want = expected(i), have = got[i];
    bool close = std::abs(have - want) <= absolute + relative * std::abs(want);
    if (!close) { // also where either is NaN
      ADD_FAILURE() << "element " << i << ": expected " << want << ", got "
                    << have;
      ++shown;
    }
  }
}

/// Tolerances for results stored in `type`: one rounding of the result.
inline double relativeError(Element type) {
  return type == Element::F32 ? 2e-6 : 4.0e-3;
}

} // namespace tessera::kernels::test

#endif // TEST_UNIT_KERNELS_KERNELTEST_H
