//===- MatmulBench.cpp - matmul on the virtual GPU against a plain loop ---===//
//
// One core, process CPU time (so that other work on the machine counts less),
// all in one run. The yardstick is the i-j-k loop over f32 that one would write
// first, compiled at the level this file is (-O3).
//
//   matmul-bench [size = 512] [repetitions = 3]
//
// Prints, per kernel: milliseconds to build and compile it, GFLOP/s (best and
// worst of the repetitions) and the ratio to the plain loop. Exit status 1 if
// the default bf16 configuration is not at least twice as fast as the loop.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/Matmul.h"
#include "tessera/Target/KernelHarness.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <random>

using namespace mlir;
using namespace tessera::kernels;

namespace {

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

struct Timing {
  double best, worst;
};
template <typename Function>
Timing measure(int repetitions, Function &&function) {
  Timing timing{1e30, 0};
  for (int i = 0; i < repetitions; ++i) {
    double start = cpuSeconds();
    function();
    double seconds = cpuSeconds() - start;
    timing.best = std::min(timing.best, seconds);
    timing.worst = std::max(timing.worst, seconds);
  }
  return timing;
}

/// out = a * b with b [k, n].
__attribute__((noinline)) void plainLoop(int64_t m, int64_t n, int64_t k,
                                         const float *a, const float *b,
                                         float *out) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      out[i * n + j] = sum;
    }
}

struct Kernel {
  const char *name;
  Element type;
  bool outIn;
  MatmulConfig config;
};

} // namespace

int main(int argc, char **argv) {
  int64_t size = argc > 1 ? std::atoll(argv[1]) : 512;
  int repetitions = argc > 2 ? std::atoi(argv[2]) : 3;
  if (size < 1 || repetitions < 1) {
    llvm::errs() << "usage: matmul-bench [size] [repetitions]\n";
    return 2;
  }
  double flops = 2.0 * size * size * size;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(size * size), b(size * size), out(size * size);
  for (float &x : a)
    x = normal(generator);
  for (float &x : b)
    x = normal(generator);
  std::vector<uint16_t> a16(size * size), b16(size * size), out16(size * size);
  auto narrow = [](const std::vector<float> &from, std::vector<uint16_t> &to) {
    for (size_t i = 0; i < from.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &from[i], 4);
      to[i] = bits >> 16;
    }
  };
  narrow(a, a16);
  narrow(b, b16);

  Timing plain = measure(repetitions, [&] {
    plainLoop(size, size, size, a.data(), b.data(), out.data());
  });
  llvm::outs() << llvm::formatv("{0}^3, one core\nplain i-j-k loop, f32: "
                                "{1:f2} - {2:f2} GFLOP/s\n",
                                size, flops / plain.worst / 1e9,
                                flops / plain.best / 1e9);

  const Kernel kernels[] = {
      {"bf16 default", Element::BF16, true, {}},
      {"bf16 [k, n]", Element::BF16, false, {128, 128, 32, 2, 2, 3, 8}},
      {"bf16", Element::BF16, true, {128, 128, 32, 2, 2, 3, 8}},
      {"bf16", Element::BF16, true, {128, 128, 64, 2, 2, 2, 8}},
      {"bf16", Element::BF16, true, {64, 64, 64, 2, 2, 3, 8}},
      {"f32 default", Element::F32, true, {}},
      {"f32", Element::F32, true, {128, 128, 16, 4, 2, 2, 8}},
      {"f32 [k, n]", Element::F32, false, {128, 128, 32, 4, 2, 2, 8}},
  };
  double defaultRatio = 0;
  MLIRContext context(tessera::KernelHarness::registry());
  context.loadAllAvailableDialects();
  for (Kernel kernel : kernels) {
    MatmulSpec spec;
    spec.m = spec.n = spec.k = size;
    spec.type = spec.outType = kernel.type;
    spec.weightOutIn = kernel.outIn;
    bool isDefault = StringRef(kernel.name).ends_with("default");
    if (isDefault)
      kernel.config = defaultMatmulConfig(spec, *chipLimits(80));

    double start = cpuSeconds();
    OpBuilder builder(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto gpuModule =
        gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(), "kernels");
    if (failed(buildMatmul(builder, gpuModule, "matmul", spec, kernel.config)))
      return 2;
    std::string error;
    auto harness = tessera::KernelHarness::create(*module, error);
    if (!harness) {
      llvm::errs() << error;
      return 2;
    }
    double compile = cpuSeconds() - start;

    LaunchShape shape = matmulLaunchShape(spec, kernel.config);
    tessera::LaunchShape launch;
    for (int i = 0; i < 3; ++i) {
      launch.grid[i] = shape.grid[i];
      launch.block[i] = shape.block[i];
    }
    launch.dynamicSharedBytes = shape.dynamicSharedBytes;
    bool bf16 = kernel.type == Element::BF16;
    Timing timing = measure(repetitions, [&] {
      if (bf16)
        error = harness->launch("matmul", launch,
                                {a16.data(), b16.data(), out16.data()});
      else
        error =
            harness->launch("matmul", launch, {a.data(), b.data(), out.data()});
    });
    if (!error.empty()) {
      llvm::errs() << error << "\n";
      return 2;
    }
    const MatmulConfig &c = kernel.config;
    double ratio = plain.best / timing.best;
    llvm::outs() << llvm::formatv(
        "{0,-14} {1}x{2}x{3} warps {4}x{5} stages {6}: {7:f2} - {8:f2} "
        "GFLOP/s, {9:f2} x plain, compiled in {10:f0} ms\n",
        kernel.name, c.blockM, c.blockN, c.blockK, c.warpsM, c.warpsN, c.stages,
        flops / timing.worst / 1e9, flops / timing.best / 1e9, ratio,
        compile * 1e3);
    if (bf16 && isDefault)
      defaultRatio = ratio;
  }
  if (defaultRatio < 2) {
    llvm::outs() << "the default bf16 kernel is less than twice as fast as the "
                    "plain loop\n";
    return 1;
  }
  return 0;
}
