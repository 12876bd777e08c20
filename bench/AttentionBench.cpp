//===- AttentionBench.cpp - attention on the virtual GPU, timed -----------===//
//
// Emulation must stay usable: an attention kernel on the virtual GPU may take
// at most five times as long as plain C++ loops over the same shape, both on
// one core, in one run. Prints a table; with --check exits with 1 if a shape is
// slower than that, with --candidates times every configuration.
//
//===----------------------------------------------------------------------===//
#include "PlainLoops.h"

#include "tessera/Conversion/KernelToGPU/Attention.h"
#include "tessera/Target/KernelHarness.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

using namespace tessera::kernels;

static constexpr double kLimit = 5.0;

/// Process CPU time, so that other work on the machine counts less.
static double cpuMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

static double millisecondsOf(llvm::function_ref<void()> run) {
  double best = INFINITY;
  for (int repetition = 0; repetition < 3; ++repetition) {
    double start = cpuMilliseconds();
    run();
    best = std::min(best, cpuMilliseconds() - start);
  }
  return best;
}

template <typename T>
static std::vector<T> randomTensor(size_t size, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<T> tensor(size);
  for (T &element : tensor)
    element = T(normal(generator));
  return tensor;
}

/// Returns how many times slower than plain loops the kernel is.
template <typename T>
static double measure(const AttentionSpec &spec,
                      const AttentionConfig &config) {
  mlir::MLIRContext context(tessera::KernelHarness::registry());
  context.loadAllAvailableDialects();
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto gpuModule = mlir::gpu::GPUModuleOp::create(
      builder, builder.getUnknownLoc(), "kernels");
  if (failed(buildAttention(builder, gpuModule, "attention", spec, config)))
    std::exit(1);
  std::string error;
  double compile = cpuMilliseconds();
  auto harness = tessera::KernelHarness::create(*module, error);
  compile = cpuMilliseconds() - compile;
  if (!harness) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(1);
  }

  size_t queries = spec.batch * spec.seqQ * spec.heads * spec.headDim;
  size_t keys = spec.batch * spec.seqKV * spec.kvHeads * spec.headDim;
  auto q = randomTensor<T>(queries, 1), k = randomTensor<T>(keys, 2),
       v = randomTensor<T>(keys, 3);
  std::vector<T> out(queries), plain(queries);

  LaunchShape shape = attentionLaunchShape(spec, config);
  tessera::LaunchShape launch;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = shape.grid[i];
    launch.block[i] = shape.block[i];
  }
  launch.dynamicSharedBytes = shape.dynamicSharedBytes;
  double emulated = millisecondsOf([&] {
    error = harness->launch("attention", launch,
                            {q.data(), k.data(), v.data(), out.data()});
    if (!error.empty()) {
      std::fprintf(stderr, "%s\n", error.c_str());
      std::exit(1);
    }
  });
  tessera::bench::AttentionShape loops{spec.batch,
                                       spec.seqQ,
                                       spec.seqKV,
                                       spec.heads,
                                       spec.kvHeads,
                                       spec.headDim,
                                       static_cast<float>(spec.scale),
                                       spec.causal};
  double reference = millisecondsOf([&] {
    tessera::bench::plainAttention(loops, q.data(), k.data(), v.data(),
                                   plain.data());
  });
  double ratio = emulated / reference;
  std::printf(
      "%-5s %6ld %6ld %6ld %6ld  %3ldx%-3ld %ld  %ld %10.0f %10.1f %10.1f "
      "%8.2f\n",
      spec.type == Element::BF16 ? "bf16" : "f32", long(spec.seqQ),
      long(spec.heads), long(spec.kvHeads), long(spec.headDim),
      long(config.blockQ), long(config.blockKV), long(config.warps),
      long(config.stages), compile, emulated, reference, ratio);
  std::fflush(stdout);
  return ratio;
}

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  bool check = mode == "--check", all = mode == "--candidates";
  if (argc > 2 || (argc == 2 && !check && !all)) {
    std::fprintf(stderr, "usage: attention-bench [--check | --candidates]\n");
    return 2;
  }
  bool slow = false;
  std::printf("type   seqQ  heads     kv    dim  tile  warps stages compile "
              "virtual/ms   loops/ms    ratio\n");
  for (Element type : {Element::BF16, Element::F32})
    for (auto [sequence, headDim] :
         {std::pair<int64_t, int64_t>{512, 64}, {512, 128}, {256, 80}}) {
      AttentionSpec spec;
      spec.type = type;
      spec.batch = 1;
      spec.seqQ = spec.seqKV = sequence;
      spec.heads = 4;
      spec.kvHeads = 2;
      spec.headDim = headDim;
      spec.scale = 1 / std::sqrt(static_cast<double>(headDim));
      auto configs = attentionCandidates(spec, *chipLimits(80));
      for (const AttentionConfig &config :
           llvm::ArrayRef(configs).take_front(all ? configs.size() : 1)) {
        double ratio = type == Element::BF16
                           ? measure<tessera::bench::BFloat16>(spec, config)
                           : measure<float>(spec, config);
        slow |= !(ratio <= kLimit);
      }
    }
  if (check && slow)
    std::printf("a kernel is more than %.0f times slower than plain loops\n",
                kLimit);
  return check && slow;
}
