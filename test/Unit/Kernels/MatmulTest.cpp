//===- MatmulTest.cpp - products of all shapes, tiles and epilogues -------===//
#include "MatmulTest.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

/// A small tile of each family, so that small problems have several tiles.
MatmulConfig smallTile(Element type) {
  return type == Element::BF16 ? MatmulConfig{32, 64, 32, 2, 2, 3, 2}
                               : MatmulConfig{32, 64, 16, 2, 1, 2, 2};
}

/// Both weight layouts of one shape, with the small tile.
void tryShape(Element type, int64_t m, int64_t n, int64_t k) {
  for (bool outIn : {true, false})
    ASSERT_NO_FATAL_FAILURE(
        tryMatmul(product(type, m, n, k, outIn), smallTile(type)));
}

TEST(MatmulBF16, SingleElement) { tryShape(Element::BF16, 1, 1, 1); }
TEST(MatmulBF16, Primes) { tryShape(Element::BF16, 37, 67, 41); }
TEST(MatmulBF16, ShortK) { tryShape(Element::BF16, 5, 24, 8); }
TEST(MatmulBF16, RowsAlignedTo4Bytes) { tryShape(Element::BF16, 33, 70, 42); }
TEST(MatmulBF16, RowsAlignedTo8Bytes) { tryShape(Element::BF16, 20, 68, 100); }
TEST(MatmulBF16, NoWholeTiles) { tryShape(Element::BF16, 70, 200, 72); }
TEST(MatmulBF16, WholeTiles) { tryShape(Element::BF16, 96, 128, 160); }
TEST(MatmulF32, SingleElement) { tryShape(Element::F32, 1, 1, 1); }
TEST(MatmulF32, Primes) { tryShape(Element::F32, 37, 67, 41); }
TEST(MatmulF32, RowsAlignedTo8Bytes) { tryShape(Element::F32, 20, 70, 22); }
TEST(MatmulF32, NoWholeTiles) { tryShape(Element::F32, 70, 200, 36); }
TEST(MatmulF32, WholeTiles) { tryShape(Element::F32, 64, 128, 64); }

/// The tiles that the default configuration picks from, on a shape with whole
/// tiles in no dimension and on one with whole tiles in all.
class MatmulTile
    : public testing::TestWithParam<std::pair<Element, MatmulConfig>> {};

TEST_P(MatmulTile, EdgesOfBothLayouts) {
  auto [type, config] = GetParam();
  int64_t m = config.blockM + 8, n = config.blockN + 24;
  int64_t k = 2 * config.blockK + 8;
  ASSERT_NO_FATAL_FAILURE(tryMatmul(product(type, m, n, k), config));
  ASSERT_NO_FATAL_FAILURE(tryMatmul(product(type, m, n, k, false), config));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, MatmulTile,
    testing::Values(
        std::pair(Element::BF16, MatmulConfig{128, 256, 64, 2, 4, 3, 8}),
        std::pair(Element::BF16, MatmulConfig{128, 128, 32, 2, 2, 4, 8}),
        // The result passes through shared memory in two slabs.
        std::pair(Element::BF16, MatmulConfig{128, 256, 32, 2, 4, 2, 8}),
        std::pair(Element::F32, MatmulConfig{256, 128, 8, 4, 2, 2, 8}),
        std::pair(Element::BF16, MatmulConfig{64, 64, 64, 2, 2, 3, 8}),
        std::pair(Element::BF16, MatmulConfig{16, 64, 64, 1, 4, 4, 8}),
        std::pair(Element::BF16, MatmulConfig{32, 32, 16, 1, 2, 2, 1}),
        std::pair(Element::BF16, MatmulConfig{16, 32, 128, 1, 1, 2, 8}),
        std::pair(Element::F32, MatmulConfig{128, 128, 16, 4, 2, 2, 8}),
        std::pair(Element::F32, MatmulConfig{64, 64, 8, 2, 2, 2, 8}),
        std::pair(Element::F32, MatmulConfig{32, 32, 32, 1, 1, 2, 8})));

TEST(MatmulBF16, BlockNThatIsNoPowerOfTwo) {
  MatmulConfig config{64, 96, 32, 2, 2, 2, 8};
  tryMatmul(product(Element::BF16, 72, 208, 80), config);
}

TEST(Matmul, Cubes) {
  for (Element type : {Element::BF16, Element::F32}) {
    MatmulSpec spec = product(type, 256, 256, 256);
    spec.outType = Element::F32;
    ASSERT_NO_FATAL_FAILURE(
        tryMatmul(spec, defaultMatmulConfig(spec, *chipLimits(80))));
  }
}

/// Every part of the epilogue alone and all of it together, for accesses of
/// one element and of 16 bytes.
TEST(Matmul, Epilogues) {
  std::vector<MatmulSpec> parts(7);
  parts[0].hasBias = true;
  parts[1].activation = Activation::Gelu;
  parts[2].activation = Activation::GeluTanh;
  parts[3].hasGate = true;
  parts[4].hasGate = true;
  parts[4].gateActivation = Activation::Silu;
  parts[5].hasResidual = true;
  parts[6].hasBias = parts[6].hasGate = parts[6].hasResidual = true;
  parts[6].activation = Activation::Relu;
  parts[6].gateActivation = Activation::Gelu;
  struct Types {
    Element in, out;
    int64_t n;
  };
  for (Types types : {Types{Element::BF16, Element::BF16, 88},
                      Types{Element::BF16, Element::F32, 75},
                      Types{Element::F32, Element::F32, 76},
                      Types{Element::F32, Element::BF16, 74}}) {
    // All in one module: compiled once.
    auto specs = parts;
    MatmulConfig config = smallTile(types.in);
    auto harness = compileKernel(
        [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
          for (auto [i, spec] : llvm::enumerate(specs)) {
            spec.m = 41, spec.n = types.n, spec.k = 24;
            spec.type = types.in, spec.outType = types.out;
            ASSERT_TRUE(succeeded(buildMatmul(
                builder, module, "k" + std::to_string(i), spec, config)));
          }
        });
    ASSERT_TRUE(harness);
    for (auto [i, spec] : llvm::enumerate(specs)) {
      SCOPED_TRACE(i);
      ASSERT_NO_FATAL_FAILURE(
          MatmulProblem(spec).run(*harness, "k" + std::to_string(i), config));
    }
  }
}

/// The result may overwrite its residual (or gate): the host program does so.
TEST(Matmul, ResultInPlaceOfTheResidual) {
  for (Element type : {Element::BF16, Element::F32}) {
    MatmulSpec spec = product(type, 100, 72, 40);
    spec.hasResidual = true;
    MatmulConfig config = smallTile(type);
    auto harness = compileKernel([&](mlir::OpBuilder &builder,
                                     mlir::gpu::GPUModuleOp module) {
      ASSERT_TRUE(succeeded(buildMatmul(builder, module, "k", spec, config)));
    });
    ASSERT_TRUE(harness);
    MatmulProblem problem(spec);
    tessera::LaunchOptions options;
    options.seed = 3;
    options.check = true;
    ASSERT_EQ(
        harness->launch("k", toHarness(matmulLaunchShape(spec, config)),
                        {problem.a.data(), problem.weight.data(),
                         problem.residual.data(), problem.residual.data()},
                        options),
        "");
    expectClose(
        problem.residual, [&](size_t i) { return problem.expected[i]; },
        relativeError(type), 1e-4);
  }
}

/// What the counting mode says of one launch.
tessera_virtual_counters countMatmul(const MatmulSpec &spec,
                                     const MatmulConfig &config) {
  tessera_virtual_counters counters = {};
  auto harness = compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        ASSERT_TRUE(succeeded(buildMatmul(builder, module, "k", spec, config)));
      });
  if (!harness)
    return counters;
  tessera::LaunchOptions options;
  options.count = true;
  tessera_virtual_reset_counters();
  EXPECT_EQ(harness->launch("k", toHarness(matmulLaunchShape(spec, config)),
                            MatmulProblem(spec).arguments(), options),
            "");
  tessera_virtual_get_counters(&counters);
  return counters;
}

/// The swizzle and the paddings do what they are for, and no byte moves twice.
TEST(MatmulBF16, NoBankConflictsAndNoExtraTraffic) {
  for (bool outIn : {true, false})
    for (MatmulConfig config : {MatmulConfig{128, 128, 32, 2, 2, 3, 8},
                                MatmulConfig{64, 64, 64, 2, 2, 3, 8}}) {
      SCOPED_TRACE(config.blockM + 1000 * outIn);
      MatmulSpec spec = product(Element::BF16, 256, 256, 128, outIn);
      tessera_virtual_counters counters = countMatmul(spec, config);
      EXPECT_EQ(counters.shared_bank_conflicts, 0u);
      EXPECT_EQ(counters.flops_tensor, 2u * 256 * 256 * 128);
      // Every tile row and tile column reads its rows once.
      uint64_t tiles = (256 / config.blockM) * (256 / config.blockN);
      EXPECT_EQ(counters.async_copy_bytes,
                tiles * (config.blockM + config.blockN) * 128 * 2);
      EXPECT_EQ(counters.global_store_bytes, 256u * 256 * 2);
      // 16 bytes a thread, 512 a request, in full sectors; host memory may
      // start in the middle of a sector, which costs one per row of a tile.
      EXPECT_EQ(counters.global_store_requests, 256u * 256 * 2 / 512);
      EXPECT_LE(counters.global_store_sectors,
                256u * 256 * 2 / 32 + 256 * (256 / config.blockN));
    }
}

/// A NaN or an infinity in one row of a stays in that row.
TEST(Matmul, NonFiniteValuesDoNotSpread) {
  for (Element type : {Element::BF16, Element::F32}) {
    MatmulSpec spec = product(type, 34, 66, 35);
    MatmulConfig config = smallTile(type);
    auto harness = compileKernel([&](mlir::OpBuilder &builder,
                                     mlir::gpu::GPUModuleOp module) {
      ASSERT_TRUE(succeeded(buildMatmul(builder, module, "k", spec, config)));
    });
    ASSERT_TRUE(harness);
    MatmulProblem problem(spec);
    problem.a.set(3 * spec.k + 7, NAN);
    problem.weight.set(65 * spec.k + 34, INFINITY);
    ASSERT_EQ(harness->launch("k", toHarness(matmulLaunchShape(spec, config)),
                              problem.arguments()),
              "");
    for (int64_t i = 0; i < spec.m; ++i)
      for (int64_t j = 0; j < spec.n; ++j) {
        double got = problem.out[i * spec.n + j];
        if (i == 3)
          EXPECT_TRUE(std::isnan(got)) << i << " " << j;
        else if (j == 65)
          EXPECT_TRUE(std::isinf(got)) << i << " " << j;
        else
          EXPECT_TRUE(std::isfinite(got)) << i << " " << j;
      }
  }
}

} // namespace
