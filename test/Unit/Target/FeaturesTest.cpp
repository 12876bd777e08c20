//===- FeaturesTest.cpp - Device features, one by one ---------------------===//
//
// ldmatrix, shuffles, votes, dynamic shared memory, device functions, named
// barriers and atomics, each against what the PTX ISA document says.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {

class Features : public HarnessTest {
protected:
  /// Runs kernel @k on `threads` threads with two seeds and in checking mode.
  void run(const std::string &source, std::vector<KernelArg> args,
           unsigned threads = 32, uint32_t dynamicBytes = 0) {
    for (bool instrument : {false, true}) {
      HarnessOptions options;
      options.instrument = instrument;
      auto harness = compile(source, options);
      ASSERT_TRUE(harness) << error;
      for (uint64_t seed : {0, 5}) {
        LaunchOptions launch;
        launch.seed = seed;
        launch.check = instrument;
        LaunchShape shape{{1, 1, 1}, {threads, 1, 1}, dynamicBytes};
        ASSERT_EQ(harness->launch("k", shape, args, launch), "");
      }
    }
  }
};

struct Matrices {
  int count;
  bool transposed;
};

class Ldmatrix : public Features,
                 public ::testing::WithParamInterface<Matrices> {};

TEST_P(Ldmatrix, FollowsTheDocument) {
  auto [count, transposed] = GetParam();
  std::string n = std::to_string(count);
  std::string type =
      count == 1
          ? "i32"
          : "!llvm.struct<(i32" +
                std::string(count == 2 ? ", i32" : ", i32, i32, i32") + ")>";
  std::string store;
  for (int i = 0; i < count; ++i) {
    std::string k = std::to_string(i);
    if (count == 1)
      store += "%w0 = arith.constant 0 : index\n"
               "memref.store %r, %out[%w0, %t] : memref<4x32xi32>\n";
    else
      store += "%v" + k + " = llvm.extractvalue %r[" + k + "] : " + type +
               "\n%w" + k + " = arith.constant " + k +
               " : index\nmemref.store %v" + k + ", %out[%w" + k +
               ", %t] : memref<4x32xi32>\n";
  }
  // 32 rows of 8 halves with a gap after each; row i of shared memory is the
  // (31 - i)-th of the input, so addresses matter.
  std::string source = R"(
  gpu.func @k(%in: memref<32x8xi16>, %out: memref<4x32xi32>)
      workgroup(%s : memref<32x24xi16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
    %t = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %c0 = arith.constant 0 : index
    %from = arith.subi %c31, %t : index
    %row = vector.load %in[%from, %c0] : memref<32x8xi16>, vector<8xi16>
    vector.store %row, %s[%t, %c0] : memref<32x24xi16, #gpu.address_space<workgroup>>, vector<8xi16>
    gpu.barrier
    %p = memref.extract_aligned_pointer_as_index %s : memref<32x24xi16, #gpu.address_space<workgroup>> -> index
    %stride = arith.constant 48 : index
    %offset = arith.muli %from, %stride : index
    %a = arith.addi %p, %offset : index
    %i = arith.index_cast %a : index to i64
    %q = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    %r = nvvm.ldmatrix %q {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<)" +
                       std::string(transposed ? "col" : "row") +
                       ">, num = " + n +
                       " : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = "
                       "8>} : (!llvm.ptr<3>) -> " +
                       type + "\n" + store + "gpu.return\n}";
  uint16_t in[32][8];
  for (int r = 0; r < 32; ++r)
    for (int c = 0; c < 8; ++c)
      in[r][c] = static_cast<uint16_t>(r * 16 + c);
  uint32_t out[4][32];
  run(source, {&in[0][0], &out[0][0]});
  // Lane l gave the address of input row l, so matrix m is input rows 8m to
  // 8m + 7. "Thread 4r + c holds elements 2c and 2c + 1 of row r", of column r
  // with .trans.
  for (int m = 0; m < count; ++m)
    for (int lane = 0; lane < 32; ++lane) {
      int r = lane / 4, c = lane % 4 * 2;
      uint16_t low = transposed ? in[8 * m + c][r] : in[8 * m + r][c];
      uint16_t high = transposed ? in[8 * m + c + 1][r] : in[8 * m + r][c + 1];
      ASSERT_EQ(out[m][lane], low | uint32_t(high) << 16)
          << "matrix " << m << " lane " << lane;
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Ldmatrix,
                         ::testing::Values(Matrices{1, false},
                                           Matrices{2, false},
                                           Matrices{4, false},
                                           Matrices{1, true}, Matrices{2, true},
                                           Matrices{4, true}),
                         [](const auto &info) {
                           return "x" + std::to_string(info.param.count) +
                                  (info.param.transposed ? "trans" : "");
                         });

TEST_F(Features, ShuffleWithLaneVaryingSource) {
  // Reversal of the warp by an index shuffle, and its predicate.
  int out[64], valid[64];
  run(R"(
  gpu.func @k(%out: memref<64xi32>, %valid: memref<64xi32>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %c31 = arith.constant 31 : i32
    %w = arith.constant 32 : i32
    %lane = arith.andi %i, %c31 : i32
    %src = arith.subi %c31, %lane : i32
    %r, %p = gpu.shuffle idx %i, %src, %w : i32
    %v = arith.extui %p : i1 to i32
    memref.store %r, %out[%t] : memref<64xi32>
    memref.store %v, %valid[%t] : memref<64xi32>
    gpu.return
  })",
      {&out[0], &valid[0]}, 64);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(out[i], i / 32 * 32 + 31 - i % 32);
    ASSERT_EQ(valid[i], 1);
  }
}

TEST_F(Features, ShufflesOutOfRangeKeepTheirValue) {
  int up[32], down[32], ok[32];
  run(R"(
  gpu.func @k(%up: memref<32xi32>, %down: memref<32xi32>, %ok: memref<32xi32>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %c3 = arith.constant 3 : i32
    %w = arith.constant 32 : i32
    %a, %pa = gpu.shuffle up %i, %c3, %w : i32
    %b, %pb = gpu.shuffle down %i, %c3, %w : i32
    %both = arith.andi %pa, %pb : i1
    %v = arith.extui %both : i1 to i32
    memref.store %a, %up[%t] : memref<32xi32>
    memref.store %b, %down[%t] : memref<32xi32>
    memref.store %v, %ok[%t] : memref<32xi32>
    gpu.return
  })",
      {&up[0], &down[0], &ok[0]});
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(up[i], i >= 3 ? i - 3 : i);
    ASSERT_EQ(down[i], i + 3 < 32 ? i + 3 : i);
    ASSERT_EQ(ok[i], i >= 3 && i + 3 < 32);
  }
}

TEST_F(Features, Votes) {
  // Predicate: lane is a multiple of 5.
  int ballot[32], any[32], all[32];
  run(R"(
  gpu.func @k(%ballot: memref<32xi32>, %any: memref<32xi32>, %all: memref<32xi32>) kernel {
    %t = gpu.thread_id x
    %c5 = arith.constant 5 : index
    %c0 = arith.constant 0 : index
    %m = llvm.mlir.constant(-1 : i32) : i32
    %rem = arith.remui %t, %c5 : index
    %p = arith.cmpi eq, %rem, %c0 : index
    %b = nvvm.vote.sync ballot %m, %p -> i32
    %y = nvvm.vote.sync any %m, %p -> i1
    %z = nvvm.vote.sync all %m, %p -> i1
    %yi = arith.extui %y : i1 to i32
    %zi = arith.extui %z : i1 to i32
    memref.store %b, %ballot[%t] : memref<32xi32>
    memref.store %yi, %any[%t] : memref<32xi32>
    memref.store %zi, %all[%t] : memref<32xi32>
    gpu.return
  })",
      {&ballot[0], &any[0], &all[0]});
  uint32_t expected = 0;
  for (int lane = 0; lane < 32; lane += 5)
    expected |= 1u << lane;
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(static_cast<uint32_t>(ballot[i]), expected);
    ASSERT_EQ(any[i], 1);
    ASSERT_EQ(all[i], 0);
  }
}

TEST_F(Features, DynamicSharedMemoryBesideStatic) {
  std::vector<float> out(128);
  run(R"(
  gpu.func @k(%out: memref<128xf32>)
      workgroup(%s : memref<100xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    %c128 = arith.constant 128 : index
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.view %d[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    memref.store %f, %v[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %in = arith.cmpi ult, %t, %c100 : index
    scf.if %in {
      %n = arith.negf %f : f32
      memref.store %n, %s[%t] : memref<100xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %next = arith.addi %t, %c1 : index
    %wrap = arith.remui %next, %c128 : index
    %x = memref.load %v[%wrap] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  })",
      {out.data()}, 128, 512);
  for (int i = 0; i < 128; ++i)
    ASSERT_EQ(out[i], float((i + 1) % 128));
}

TEST_F(Features, DeviceFunctionWithCollective) {
  // The sum of a warp in a function of its own, called twice.
  std::vector<float> out(64);
  run(R"(
  func.func private @warp_sum(%x: f32) -> f32 {
    %w = arith.constant 32 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %a, %pa = gpu.shuffle xor %x, %c1, %w : f32
    %sa = arith.addf %x, %a : f32
    %b, %pb = gpu.shuffle xor %sa, %c2, %w : f32
    %sb = arith.addf %sa, %b : f32
    %c, %pc = gpu.shuffle xor %sb, %c4, %w : f32
    %sc = arith.addf %sb, %c : f32
    %d, %pd = gpu.shuffle xor %sc, %c8, %w : f32
    %sd = arith.addf %sc, %d : f32
    %e, %pe = gpu.shuffle xor %sd, %c16, %w : f32
    %se = arith.addf %sd, %e : f32
    return %se : f32
  }
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %s = func.call @warp_sum(%f) : (f32) -> f32
    %q = func.call @warp_sum(%s) : (f32) -> f32
    memref.store %q, %out[%t] : memref<64xf32>
    gpu.return
  })",
      {out.data()}, 64);
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(out[i], 32.0f * (i < 32 ? 496 : 1520));
}

TEST_F(Features, AtomicsAndThreeDimensionalBlocks) {
  // Every thread of a 4 x 3 x 5 block adds its place.
  int sum[1] = {0};
  auto harness = compile(R"(
  gpu.func @k(%sum: memref<1xi32>) kernel {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %c0 = arith.constant 0 : index
    %c10 = arith.constant 10 : index
    %c100 = arith.constant 100 : index
    %a = arith.muli %y, %c10 : index
    %b = arith.muli %z, %c100 : index
    %ab = arith.addi %a, %b : index
    %abc = arith.addi %ab, %x : index
    %v = arith.index_cast %abc : index to i32
    %old = memref.atomic_rmw addi %v, %sum[%c0] : (i32, memref<1xi32>) -> i32
    gpu.return
  })");
  ASSERT_TRUE(harness) << error;
  ASSERT_EQ(harness->launch("k", {{2, 1, 1}, {4, 3, 5}}, {&sum[0]}), "");
  int expected = 0;
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 3; ++y)
      for (int z = 0; z < 5; ++z)
        expected += 2 * (x + 10 * y + 100 * z);
  EXPECT_EQ(sum[0], expected);
}

TEST_F(Features, NamedBarrierOfSomeWarps) {
  // Warps 0 and 1 meet at barrier 3; warp 2 never does.
  std::vector<float> out(96);
  auto harness = compile(R"(
  gpu.func @k(%out: memref<96xf32>)
      workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c63 = arith.constant 63 : index
    %in = arith.cmpi ult, %t, %c64 : index
    scf.if %in {
      %i = arith.index_cast %t : index to i32
      %f = arith.sitofp %i : i32 to f32
      memref.store %f, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      %id = llvm.mlir.constant(3 : i32) : i32
      %n = llvm.mlir.constant(64 : i32) : i32
      nvvm.barrier id = %id number_of_threads = %n
      %r = arith.subi %c63, %t : index
      %v = memref.load %s[%r] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<96xf32>
    }
    gpu.return
  })");
  ASSERT_TRUE(harness) << error;
  for (uint64_t seed : {0, 1, 2}) {
    LaunchOptions launch;
    launch.seed = seed;
    ASSERT_EQ(
        harness->launch("k", {{1, 1, 1}, {96, 1, 1}}, {out.data()}, launch),
        "");
    for (int i = 0; i < 64; ++i)
      ASSERT_EQ(out[i], float(63 - i));
  }
}

} // namespace
