//===- CountersTest.cpp - Counts of kernels whose traffic is known --------===//

#include "HarnessFixture.h"

using namespace tessera;
using namespace tessera::test;

namespace {

class Counters : public HarnessTest {
protected:
  tessera_virtual_counters count(const std::string &source,
                                 std::vector<KernelArg> args,
                                 unsigned blocks = 1, unsigned threads = 128) {
    HarnessOptions options;
    options.instrument = true;
    auto harness = compile(source, options);
    tessera_virtual_counters counters = {};
    EXPECT_TRUE(harness) << error;
    if (!harness)
      return counters;
    LaunchOptions launch;
    launch.count = true;
    tessera_virtual_reset_counters();
    EXPECT_EQ(
        harness->launch("k", {{blocks, 1, 1}, {threads, 1, 1}}, args, launch),
        "");
    tessera_virtual_get_counters(&counters);
    return counters;
  }
  std::vector<float> buffer = std::vector<float>(8192, 1.0f);
};

/// out[t] = in[t * stride] * 2 + 1
std::string strided(int stride) {
  return R"(
  gpu.func @k(%in: memref<4096xf32>, %out: memref<512xf32>) kernel {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %n = gpu.block_dim x
    %f = arith.muli %b, %n : index
    %g = arith.addi %f, %t : index
    %s = arith.constant )" +
         std::to_string(stride) + R"( : index
    %two = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %i = arith.muli %g, %s : index
    %v = memref.load %in[%i] : memref<4096xf32>
    %w = math.fma %v, %two, %one : f32
    memref.store %w, %out[%g] : memref<512xf32>
    gpu.return
  })";
}

TEST_F(Counters, BytesSectorsAndFlops) {
  // 4 blocks of 128 threads: 16 warps, 128 contiguous bytes each = 4 sectors.
  alignas(128) static float in[4096], out[512];
  auto c = count(strided(1), {&in[0], &out[0]}, 4);
  EXPECT_EQ(c.launches, 1u);
  EXPECT_EQ(c.blocks, 4u);
  EXPECT_EQ(c.threads, 512u);
  EXPECT_EQ(c.flops_f32, 2u * 512);
  EXPECT_EQ(c.global_load_bytes, 512u * 4);
  EXPECT_EQ(c.global_store_bytes, 512u * 4);
  EXPECT_EQ(c.global_load_requests, 16u);
  EXPECT_EQ(c.global_load_sectors, 16u * 4);
  EXPECT_EQ(c.global_store_sectors, 16u * 4);
  EXPECT_EQ(c.shared_load_bytes, 0u);
}

TEST_F(Counters, StrideCostsSectors) {
  // Every lane in a sector of its own.
  alignas(128) static float in[4096], out[512];
  auto c = count(strided(8), {&in[0], &out[0]}, 4);
  EXPECT_EQ(c.global_load_bytes, 512u * 4);
  EXPECT_EQ(c.global_load_requests, 16u);
  EXPECT_EQ(c.global_load_sectors, 512u);
}

/// Each thread reads shared word (t * stride) mod 1024.
std::string banks(int stride) {
  return R"(
  gpu.func @k(%out: memref<128xf32>)
      workgroup(%s : memref<1024xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c1024 = arith.constant 1024 : index
    %st = arith.constant )" +
         std::to_string(stride) + R"( : index
    %i = arith.muli %t, %st : index
    %j = arith.remui %i, %c1024 : index
    %v = memref.load %s[%j] : memref<1024xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.return
  })";
}

TEST_F(Counters, BankConflicts) {
  // One warp: stride 1 touches 32 banks, stride 2 16 banks twice, stride 32 one
  // bank with 32 words, stride 0 broadcasts one word.
  struct Case {
    int stride;
    uint64_t conflicts;
  };
  for (Case test : {Case{1, 0}, Case{2, 1}, Case{32, 31}, Case{0, 0},
                    Case{33, 0}, Case{8, 7}}) {
    auto c = count(banks(test.stride), {buffer.data()}, 1, 32);
    EXPECT_EQ(c.shared_bank_conflicts, test.conflicts)
        << "stride " << test.stride;
    EXPECT_EQ(c.shared_load_requests, 1u);
    EXPECT_EQ(c.shared_load_bytes, 128u);
  }
}

TEST_F(Counters, LoopRequestsAndBarriers) {
  auto c = count(R"(
  gpu.func @k(%in: memref<4096xf32>, %out: memref<128xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
      %r = arith.muli %i, %c128 : index
      %j = arith.addi %r, %t : index
      %v = memref.load %in[%j] : memref<4096xf32>
      %n = arith.addf %s, %v : f32
      gpu.barrier
      scf.yield %n : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  })",
                 {buffer.data(), buffer.data() + 4096});
  EXPECT_EQ(c.barriers, 8u);
  EXPECT_EQ(c.global_load_requests, 4u * 8);
  EXPECT_EQ(c.flops_f32, 8u * 128);
}

TEST_F(Counters, TensorCoreFlops) {
  auto c = count(R"(
  gpu.func @k(%out: memref<128xf32>) kernel {
    %t = gpu.thread_id x
    %a = llvm.mlir.constant(0 : i32) : i32
    %z = llvm.mlir.constant(0.0 : f32) : f32
    %r = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%z, %z, %z, %z]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
       multiplicandAPtxType = #nvvm.mma_type<bf16>,
       multiplicandBPtxType = #nvvm.mma_type<bf16>,
       shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %v = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.return
  })",
                 {buffer.data()});
  EXPECT_EQ(c.flops_tensor, 4u * 2 * 16 * 8 * 16);
}

} // namespace
