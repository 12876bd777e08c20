//===- MatmulConfigTest.cpp - legality, candidates, PTX and registers -----===//
#include "MatmulTest.h"

#include "tessera/Target/Ptx.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

std::string errorOf(const MatmulSpec &spec, const MatmulConfig &config,
                    int chip = 80) {
  std::string error;
  bool legal = succeeded(checkMatmul(spec, config, *chipLimits(chip), error));
  EXPECT_EQ(legal, error.empty());
  return error;
}

TEST(MatmulConfig, SaysWhatIsWrong) {
  MatmulSpec bf16 = product(Element::BF16, 256, 256, 256);
  MatmulSpec f32 = product(Element::F32, 256, 256, 256);
  EXPECT_EQ(errorOf(bf16, {128, 128, 32, 2, 2, 3, 8}), "");
  EXPECT_EQ(errorOf(product(Element::BF16, 0, 4, 4), {}),
            "expected m, n and k of at least 1, got m = 0, n = 4, k = 4");
  EXPECT_EQ(errorOf(bf16, {100, 128, 32, 2, 2, 3, 8}),
            "expected blockM to be a multiple of 16 rows per warp (32 for "
            "warpsM = 2), got 100");
  EXPECT_EQ(errorOf(bf16, {128, 128, 24, 2, 2, 3, 8}),
            "expected blockK to be a power of two from 16 to 256, got 24");
  EXPECT_EQ(errorOf(bf16, {128, 128, 32, 2, 2, 1, 8}),
            "expected 2 to 8 stages, got 1");
  EXPECT_EQ(errorOf(bf16, {128, 128, 32, 8, 8, 3, 8}),
            "expected at most 32 warps, got 8 x 8");
  EXPECT_EQ(errorOf(bf16, {128, 256, 64, 2, 4, 4, 8}),
            "expected at most 166912 bytes of shared memory, got 196608");
  EXPECT_EQ(errorOf(bf16, {128, 256, 64, 2, 4, 4, 8}, 90), "");
  EXPECT_EQ(
      errorOf(product(Element::BF16, 8, 8, 8, false), {64, 96, 32, 2, 2, 3, 8}),
      "expected blockN to be a power of two for a weight [k, n], got 96");
  EXPECT_EQ(errorOf(f32, {128, 128, 16, 4, 2, 3, 8}),
            "expected 2 stages (double buffering), got 3");
  EXPECT_EQ(errorOf(f32, {128, 128, 16, 1, 1, 2, 8}),
            "expected blockM to be 16, 32, 48 or 64 for warpsM = 1, got 128");
  MatmulSpec gated = bf16;
  gated.gateActivation = Activation::Silu;
  EXPECT_EQ(errorOf(gated, {}), "gate activation without a gate");
  // 2^16 x 2^16 tiles are more than a grid has.
  EXPECT_EQ(
      errorOf(product(Element::BF16, int64_t(1) << 20, int64_t(1) << 21, 8),
              {16, 32, 32, 1, 1, 2, 8}),
      "expected at most 2^31 - 1 tiles, got 65536 x 65536");
}

TEST(MatmulConfig, ABuilderRefusesAnIllegalConfig) {
  mlir::MLIRContext context(tessera::KernelHarness::registry());
  context.loadAllAvailableDialects();
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto gpuModule = mlir::gpu::GPUModuleOp::create(
      builder, builder.getUnknownLoc(), "kernels");
  EXPECT_TRUE(failed(buildMatmul(builder, gpuModule, "m",
                                 product(Element::BF16, 8, 8, 8),
                                 {128, 128, 32, 2, 2, 9, 8})));
  EXPECT_EQ(message, "kernel 'm': expected 2 to 8 stages, got 9");
}

TEST(MatmulConfig, CandidatesAreLegalAndStartWithTheDefault) {
  for (int chip : {80, 86, 89, 90, 100, 120})
    for (Element type : {Element::BF16, Element::F32})
      for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                             {16, 4096, 4096},
                             {4096, 11008, 4096}}) {
        MatmulSpec spec = product(type, m, n, k);
        auto list = matmulCandidates(spec, *chipLimits(chip));
        ASSERT_GE(list.size(), 2u);
        MatmulConfig first = defaultMatmulConfig(spec, *chipLimits(chip));
        EXPECT_EQ(list[0].blockM, first.blockM);
        EXPECT_EQ(list[0].stages, first.stages);
        for (const MatmulConfig &config : list) {
          EXPECT_EQ(errorOf(spec, config, chip), "");
          EXPECT_GE(matmulBlocksPerSM(spec, config, *chipLimits(chip)), 1);
        }
      }
  EXPECT_TRUE(matmulCandidates(product(Element::BF16, 1, 1, 0), *chipLimits(80))
                  .empty());
}

TEST(MatmulConfig, TheDefaultSuitsTheShape) {
  for (int chip : {80, 90}) {
    ChipLimits limits = *chipLimits(chip);
    auto pick = [&](int64_t m, int64_t n, int64_t k) {
      return defaultMatmulConfig(product(Element::BF16, m, n, k), limits);
    };
    // Large products reuse operands in large tiles.
    MatmulConfig large = pick(8192, 8192, 8192);
    EXPECT_GE(large.blockM * large.blockN, 128 * 128);
    // Few rows: no tile taller than they are, and enough tiles for the chip.
    MatmulConfig flat = pick(16, 4096, 4096);
    EXPECT_EQ(flat.blockM, 16);
    EXPECT_LE(flat.blockN, 64);
    // A product of 512^3 has only 16 tiles of 128 x 128.
    MatmulConfig small = pick(512, 512, 512);
    EXPECT_LE(small.blockM * small.blockN, 64 * 64);
    for (auto [m, n, k] :
         {std::array<int64_t, 3>{77, 99, 1000}, {4096, 11008, 4096}}) {
      MatmulSpec spec = product(Element::BF16, m, n, k);
      double best = matmulCycles(spec, pick(m, n, k), limits);
      EXPECT_GT(best, 0);
      // No chip multiplies faster than its tensor cores.
      EXPECT_GE(best, double(m) * n * k / 1024 / limits.multiprocessors);
      for (const MatmulConfig &config : matmulCandidates(spec, limits))
        EXPECT_GE(matmulCycles(spec, config, limits), best);
    }
  }
}

/// Kernels of the main configurations, for a look at their PTX.
std::vector<std::pair<MatmulSpec, MatmulConfig>> mainKernels() {
  MatmulSpec plain = product(Element::BF16, 4096, 4096, 4096);
  MatmulSpec swiglu = plain;
  swiglu.weightOutIn = false;
  swiglu.hasGate = swiglu.hasResidual = swiglu.hasBias = true;
  swiglu.gateActivation = Activation::Silu;
  MatmulSpec gelu = plain;
  gelu.hasBias = true;
  gelu.activation = Activation::Gelu;
  MatmulSpec odd = product(Element::BF16, 1000, 1003, 1001);
  MatmulSpec edges = product(Element::BF16, 4095, 4088, 4088, false);
  MatmulSpec single = product(Element::F32, 4096, 4096, 4096);
  MatmulSpec singleGelu = single;
  singleGelu.weightOutIn = false;
  singleGelu.hasBias = true;
  singleGelu.activation = Activation::Gelu;
  return {{plain, {128, 256, 64, 2, 4, 3, 8}},
          {swiglu, {128, 256, 64, 2, 4, 3, 8}},
          {plain, {128, 128, 32, 2, 2, 4, 8}},
          {gelu, {128, 128, 32, 2, 2, 4, 8}},
          {plain, {64, 128, 32, 2, 2, 4, 8}},
          {plain, {64, 64, 64, 2, 2, 3, 8}},
          {plain, {32, 64, 64, 2, 2, 4, 8}},
          {plain, {16, 64, 64, 1, 4, 4, 8}},
          {odd, {64, 64, 64, 2, 2, 3, 8}},
          {edges, {128, 128, 64, 2, 2, 3, 8}},
          {edges, {128, 256, 64, 2, 4, 3, 8}},
          {single, {128, 128, 16, 4, 2, 2, 8}},
          {singleGelu, {128, 128, 16, 4, 2, 2, 8}},
          {single, {64, 64, 16, 2, 2, 2, 8}},
          {single, {256, 128, 8, 4, 2, 2, 8}}};
}

std::unique_ptr<tessera::KernelHarness> compileMain() {
  return compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        for (auto [i, kernel] : llvm::enumerate(mainKernels()))
          ASSERT_TRUE(
              succeeded(buildMatmul(builder, module, "k" + std::to_string(i),
                                    kernel.first, kernel.second)));
      },
      /*instrument=*/false);
}

int64_t countOf(llvm::StringRef text, llvm::StringRef what) {
  return text.count(what);
}

TEST(MatmulPtx, TensorCoreInstructions) {
  auto harness = compileMain();
  ASSERT_TRUE(harness);
  std::string error;
  std::string ptx = harness->ptx("sm_80", error);
  ASSERT_EQ(error, "");
  llvm::StringRef text(ptx);
  // The text of kernel k2: 128x128x32 with four warps of 64x64.
  size_t start = text.find(".visible .entry k2(");
  ASSERT_NE(start, llvm::StringRef::npos);
  text = text.substr(start);
  text = text.substr(0, text.find("\n}"));
  // Two k-steps of 4 x 8 products; 4 + 4 fragment loads each; 8 copies for
  // each of three tiles ahead and one in the loop.
  EXPECT_EQ(
      countOf(text, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
      2 * 4 * 8);
  EXPECT_EQ(countOf(text, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 2 * 8);
  EXPECT_EQ(countOf(text, "cp.async.cg.shared.global"), 4 * 8);
  EXPECT_EQ(countOf(text, "cp.async.wait_group"), 1);
  EXPECT_EQ(countOf(text, "st.global.v4.b32"), 1);
  EXPECT_EQ(countOf(text, ".local"), 0);
}

TEST(MatmulPtx, NoSpillsAndRegistersAsEstimated) {
  if (tessera::findPtxas().empty())
    GTEST_SKIP() << "no ptxas";
  auto harness = compileMain();
  ASSERT_TRUE(harness);
  for (const char *chip : {"sm_80", "sm_90"}) {
    std::string error;
    std::vector<tessera::KernelResources> resources;
    ASSERT_NE(harness->cubin(chip, error, &resources), "") << error;
    ASSERT_EQ(resources.size(), mainKernels().size());
    for (const tessera::KernelResources &kernel : resources) {
      size_t i = std::stoul(kernel.kernel.substr(1));
      auto [spec, config] = mainKernels()[i];
      SCOPED_TRACE(MatmulProblem::describe(spec, config) + " on " + chip);
      EXPECT_EQ(kernel.spillStoreBytes + kernel.spillLoadBytes, 0u);
      EXPECT_EQ(kernel.stackBytes, 0u);
      int64_t estimate = matmulRegisters(spec, config);
      EXPECT_LE(kernel.registers, estimate);
      EXPECT_GE(kernel.registers, estimate / 2);
      RecordProperty(chip + ("_" + kernel.kernel), kernel.registers);
    }
  }
}

} // namespace
