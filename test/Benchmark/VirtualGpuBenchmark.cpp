//===- VirtualGpuBenchmark.cpp - Kernels against plain loops --------------===//
//
// Times the compiler's own kernels on one core of the virtual GPU against plain
// C++ loops of the same shape, in one run, by process CPU time (the best of a
// few rounds, the two sides taking turns). Ends with 1 if tensor-core matmul is
// not at least 2 times faster than its loop, or another kernel more than 5
// times slower than its own.
//
//===----------------------------------------------------------------------===//

#include "PlainLoops.h"

#include "tessera/Conversion/KernelToGPU/Attention.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"
#include "tessera/Conversion/KernelToGPU/RowKernels.h"
#include "tessera/Target/KernelHarness.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>

using namespace tessera;
using namespace tessera::kernels;

namespace {

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Values in [-1, 1] as f32, or rounded to bf16.
struct Data {
  explicit Data(size_t n, unsigned seed = 0) : f32(n), bf16(n) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (size_t i = 0; i < n; ++i) {
      uint32_t bits;
      f32[i] = uniform(random);
      std::memcpy(&bits, &f32[i], 4);
      bf16[i] = static_cast<uint16_t>((bits + 0x8000) >> 16);
    }
  }
  void *pointer(Element type) {
    return type == Element::F32 ? static_cast<void *>(f32.data())
                                : static_cast<void *>(bf16.data());
  }
  std::vector<float> f32;
  std::vector<uint16_t> bf16;
};

class Bench {
public:
  Bench() : context(KernelHarness::registry()) {
    context.loadAllAvailableDialects();
  }

  using Build = std::function<void(mlir::OpBuilder &, mlir::gpu::GPUModuleOp)>;

  /// `bound`: most time that the kernel may take, in times of the loop.
  void run(const char *name, double bound, double flops, const Build &build,
           const kernels::LaunchShape &shape, std::vector<KernelArg> args,
           const std::function<void()> &loop) {
    mlir::OpBuilder builder(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto device = mlir::gpu::GPUModuleOp::create(
        builder, builder.getUnknownLoc(), "kernels");
    build(builder, device);
    std::string error;
    auto harness = KernelHarness::create(*module, error);
    if (!harness) {
      std::printf("%s: %s\n", name, error.c_str());
      failed = true;
      return;
    }
    tessera::LaunchShape launch;
    for (int d = 0; d < 3; ++d) {
      launch.grid[d] = static_cast<uint64_t>(shape.grid[d]);
      launch.block[d] = static_cast<uint64_t>(shape.block[d]);
    }
    launch.dynamicSharedBytes = static_cast<uint32_t>(shape.dynamicSharedBytes);
    double kernel = INFINITY, plain = INFINITY;
    for (int round = 0; round < rounds; ++round) {
      double start = cpuSeconds();
      error = harness->launch("k", launch, args);
      double middle = cpuSeconds();
      loop();
      kernel = std::min(kernel, middle - start);
      plain = std::min(plain, cpuSeconds() - middle);
      if (!error.empty()) {
        std::printf("%s: %s\n", name, error.c_str());
        failed = true;
        return;
      }
    }
    bool good = kernel <= bound * plain;
    failed |= !good;
    std::printf("%-34s %9.2f ms %7.2f GFLOP/s %9.2f ms %7.2f GFLOP/s  "
                "%5.2fx %s\n",
                name, 1e3 * kernel, flops / kernel * 1e-9, 1e3 * plain,
                flops / plain * 1e-9, plain / kernel, good ? "" : "TOO SLOW");
    std::fflush(stdout);
  }

  mlir::MLIRContext context;
  int rounds = 5;
  bool failed = false;
};

void matmul(Bench &bench, Element type, int64_t n, double bound) {
  MatmulSpec spec;
  spec.m = spec.n = spec.k = n;
  spec.type = type;
  spec.outType = Element::F32;
  spec.weightOutIn = false;
  MatmulConfig config = defaultMatmulConfig(spec, *chipLimits(80));
  Data a(n * n, 1), b(n * n, 2), c(n * n), reference(n * n);
  std::string name = std::string("matmul ") +
                     (type == Element::F32 ? "f32 " : "bf16 ") +
                     std::to_string(n) + "^3";
  bench.run(
      name.c_str(), bound, 2.0 * double(n) * double(n) * double(n),
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        (void)buildMatmul(builder, module, "k", spec, config);
      },
      matmulLaunchShape(spec, config),
      {a.pointer(type), b.pointer(type), c.f32.data()},
      [&] {
        benchmark::matmul(a.f32.data(), b.f32.data(), reference.f32.data(),
                          int(n), int(n), int(n));
      });
}

void attention(Bench &bench, Element type) {
  AttentionSpec spec;
  spec.batch = 1;
  spec.seqQ = spec.seqKV = 256;
  spec.heads = spec.kvHeads = 4;
  spec.headDim = 64;
  spec.type = type;
  spec.scale = 0.125;
  AttentionConfig config = defaultAttentionConfig(spec, *chipLimits(80));
  size_t size = 256 * 4 * 64;
  Data q(size, 1), k(size, 2), v(size, 3), out(size), reference(size);
  bench.run(
      type == Element::F32 ? "attention f32 256x4x64 causal"
                           : "attention bf16 256x4x64 causal",
      5, 2.0 * 4 * 256 * 256 * 64,
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        (void)buildAttention(builder, module, "k", spec, config);
      },
      attentionLaunchShape(spec, config),
      {q.pointer(type), k.pointer(type), v.pointer(type), out.pointer(type)},
      [&] {
        benchmark::attention(q.f32.data(), k.f32.data(), v.f32.data(),
                             reference.f32.data(), 1, 256, 4, 64, 0.125f);
      });
}

template <typename Spec>
Bench::Build rowKernel(const Spec &spec) {
  return [spec](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
    (void)build(builder, module, "k", spec);
  };
}

void rowKernels(Bench &bench, Element type) {
  const char *suffix = type == Element::F32 ? "f32" : "bf16";
  constexpr int rows = 128, cols = 1024, vocab = 8192;
  Data x(rows * cols, 1), gate(rows * cols, 2), weight(cols, 3),
      out(rows * cols), reference(rows * cols);
  NormSpec norm;
  norm.rows = rows;
  norm.cols = cols;
  norm.type = type;
  bench.run((std::string("rms norm 128x1024 ") + suffix).c_str(), 5,
            4.0 * rows * cols, rowKernel(norm), launchShape(norm),
            {x.pointer(type), weight.pointer(type), out.pointer(type)}, [&] {
              benchmark::rmsNorm(x.f32.data(), weight.f32.data(),
                                 reference.f32.data(), rows, cols, 1e-5f);
            });
  ElementwiseSpec swiglu;
  swiglu.rows = rows;
  swiglu.cols = cols;
  swiglu.type = type;
  swiglu.hasGate = true;
  swiglu.gateActivation = Activation::Silu;
  bench.run((std::string("swiglu 128x1024 ") + suffix).c_str(), 5,
            5.0 * rows * cols, rowKernel(swiglu), launchShape(swiglu),
            {x.pointer(type), gate.pointer(type), out.pointer(type)}, [&] {
              benchmark::swiglu(x.f32.data(), gate.f32.data(),
                                reference.f32.data(), rows * cols);
            });
  CrossEntropySpec loss;
  loss.rows = 32;
  loss.cols = loss.vocab = vocab;
  loss.type = type;
  Data logits(32 * vocab, 4), nll(32), plainNll(32);
  std::vector<int> labels(32, 7);
  bench.run((std::string("cross-entropy 32x8192 ") + suffix).c_str(), 5,
            3.0 * 32 * vocab, rowKernel(loss), launchShape(loss),
            {logits.pointer(type), labels.data(), nll.f32.data()}, [&] {
              benchmark::crossEntropy(logits.f32.data(), labels.data(),
                                      plainNll.f32.data(), 32, vocab);
            });
}

} // namespace

int main(int argc, char **argv) {
  Bench bench;
  std::string only = argc > 1 ? argv[1] : "";
  std::printf("%-34s %12s %15s %12s %15s\n", "one core", "virtual GPU", "",
              "plain loop", "");
  if (only.empty() || only == "matmul") {
    matmul(bench, Element::BF16, 512, 0.5);
    matmul(bench, Element::F32, 256, 5);
  }
  if (only.empty() || only == "attention") {
    attention(bench, Element::BF16);
    attention(bench, Element::F32);
  }
  if (only.empty() || only == "rows") {
    rowKernels(bench, Element::BF16);
    rowKernels(bench, Element::F32);
  }
  return bench.failed;
}
