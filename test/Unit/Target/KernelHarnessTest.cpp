//===- KernelHarnessTest.cpp - Kernels on the virtual GPU -----------------===//
//
// Also the example of how to use the harness: vector add, block reduction.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

using namespace tessera;
using namespace tessera::test;

namespace {

const char *vectorAdd = R"(
  gpu.func @vadd(%a: memref<1000xf32>, %b: memref<1000xf32>,
                 %c: memref<1000xf32>, %s: f32) kernel {
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %n = gpu.block_dim x
    %first = arith.muli %block, %n : index
    %i = arith.addi %first, %t : index
    %end = arith.constant 1000 : index
    %in = arith.cmpi ult, %i, %end : index
    scf.if %in {
      %x = memref.load %a[%i] : memref<1000xf32>
      %y = memref.load %b[%i] : memref<1000xf32>
      %sx = arith.mulf %s, %x : f32
      %z = arith.addf %sx, %y : f32
      memref.store %z, %c[%i] : memref<1000xf32>
    }
    gpu.return
  })";

class VectorAdd : public HarnessTest {};

TEST_F(VectorAdd, MatchesPlainLoop) {
  auto harness = compile(vectorAdd);
  ASSERT_TRUE(harness) << error;
  std::vector<float> a = randomFloats(1000, 1), b = randomFloats(1000, 2);
  for (unsigned threads : {1u, 3u}) {
    for (uint64_t seed : {0, 7}) {
      std::vector<float> c(1000, NAN);
      LaunchOptions options;
      options.seed = seed;
      options.threads = threads;
      ASSERT_EQ(harness->launch("vadd", {{4, 1, 1}, {256, 1, 1}},
                                {a.data(), b.data(), c.data(), 2.0f}, options),
                "");
      for (size_t i = 0; i < 1000; ++i)
        ASSERT_TRUE(near(c[i], 2.0 * a[i] + b[i], 1e-6)) << i;
    }
  }
}

TEST_F(VectorAdd, RefusesIllegalLaunches) {
  auto harness = compile(vectorAdd);
  ASSERT_TRUE(harness) << error;
  float *none = nullptr;
  EXPECT_EQ(harness->launch("vsub", {}, {}), "no kernel named 'vsub'");
  EXPECT_EQ(harness->launch("vadd", {}, {none}),
            "kernel 'vadd' takes 4 arguments, got 1");
  EXPECT_EQ(harness->launch("vadd", {{1, 1, 1}, {1025, 1, 1}},
                            {none, none, none, 1.0f}),
            "kernel vadd: block size x is 1025, expected 1 to 1024");
  LaunchShape shared{{1, 1, 1}, {32, 1, 1}, 300000};
  EXPECT_EQ(harness->launch("vadd", shared, {none, none, none, 1.0f}),
            "kernel vadd: 300000 bytes of shared memory, expected at most "
            "232448");
}

TEST_F(VectorAdd, GivesPtxForBothChips) {
  auto harness = compile(vectorAdd);
  ASSERT_TRUE(harness) << error;
  for (const char *chip : {"sm_80", "sm_90"}) {
    std::string ptx = harness->ptx(chip, error);
    ASSERT_EQ(error, "");
    EXPECT_NE(ptx.find(std::string(".target ") + chip), std::string::npos);
    EXPECT_NE(ptx.find(".visible .entry vadd"), std::string::npos);
    if (findPtxas().empty())
      continue;
    std::vector<KernelResources> resources;
    std::string cubin = harness->cubin(chip, error, &resources);
    ASSERT_EQ(error, "");
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].kernel, "vadd");
    EXPECT_GT(resources[0].registers, 0u);
    EXPECT_EQ(resources[0].spillStoreBytes, 0u);
  }
  EXPECT_EQ(harness->ptx("sm_1", error), "");
  EXPECT_NE(error.find("unknown chip 'sm_1'"), std::string::npos);
}

// Sum of each row by one block: butterflies within a warp, shared memory
// between warps. `barrier` lets a test leave the barrier out.
std::string blockSum(bool barrier) {
  return R"(
  gpu.func @sum(%in: memref<8x1024xf32>, %out: memref<8xf32>)
      workgroup(%partial : memref<8xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %row = gpu.block_id x
    %mine = scf.for %i = %t to %c1024 step %c256 iter_args(%s = %zero) -> f32 {
      %v = memref.load %in[%row, %i] : memref<8x1024xf32>
      %n = arith.addf %s, %v : f32
      scf.yield %n : f32
    }
    %w = arith.constant 32 : i32
    %o16 = arith.constant 16 : i32
    %o8 = arith.constant 8 : i32
    %o4 = arith.constant 4 : i32
    %o2 = arith.constant 2 : i32
    %o1 = arith.constant 1 : i32
    %x16, %p16 = gpu.shuffle xor %mine, %o16, %w : f32
    %s16 = arith.addf %mine, %x16 : f32
    %x8, %p8 = gpu.shuffle xor %s16, %o8, %w : f32
    %s8 = arith.addf %s16, %x8 : f32
    %x4, %p4 = gpu.shuffle xor %s8, %o4, %w : f32
    %s4 = arith.addf %s8, %x4 : f32
    %x2, %p2 = gpu.shuffle xor %s4, %o2, %w : f32
    %s2 = arith.addf %s4, %x2 : f32
    %x1, %p1 = gpu.shuffle xor %s2, %o1, %w : f32
    %s1 = arith.addf %s2, %x1 : f32
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %t, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %s1, %partial[%warp]
        : memref<8xf32, #gpu.address_space<workgroup>>
    }
)" + std::string(barrier ? "    gpu.barrier\n" : "") +
         R"(
    %leader = arith.cmpi eq, %t, %c0 : index
    scf.if %leader {
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %all = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
        %v = memref.load %partial[%i]
          : memref<8xf32, #gpu.address_space<workgroup>>
        %n = arith.addf %s, %v : f32
        scf.yield %n : f32
      }
      memref.store %all, %out[%row] : memref<8xf32>
    }
    gpu.return
  })";
}

class BlockSum : public HarnessTest {
protected:
  std::vector<float> in = randomFloats(8 * 1024, 3);

  std::vector<float> run(KernelHarness &harness, uint64_t seed) {
    std::vector<float> out(8, NAN);
    LaunchOptions options;
    options.seed = seed;
    EXPECT_EQ(harness.launch("sum", {{8, 1, 1}, {256, 1, 1}},
                             {in.data(), out.data()}, options),
              "");
    return out;
  }
  bool right(const std::vector<float> &out) {
    for (size_t row = 0; row < 8; ++row) {
      double sum = 0;
      for (size_t i = 0; i < 1024; ++i)
        sum += in[row * 1024 + i];
      if (!near(out[row], sum, 1e-5))
        return false;
    }
    return true;
  }
};

TEST_F(BlockSum, MatchesPlainLoop) {
  auto harness = compile(blockSum(true));
  ASSERT_TRUE(harness) << error;
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_TRUE(right(run(*harness, seed))) << "seed " << seed;
}

TEST_F(BlockSum, MissingBarrierGivesWrongNumbers) {
  auto harness = compile(blockSum(false));
  ASSERT_TRUE(harness) << error;
  // Warp 0 reads the other warps' poison.
  EXPECT_FALSE(right(run(*harness, 0)));
}

TEST_F(BlockSum, HoldsTheRequiredBlockSize) {
  auto harness = compile(blockSum(true));
  ASSERT_TRUE(harness) << error;
  EXPECT_EQ(
      harness->launch("sum", {{8, 1, 1}, {128, 1, 1}}, {in.data(), in.data()}),
      "kernel sum: block size x is 128, but the kernel requires 256");
}

} // namespace
