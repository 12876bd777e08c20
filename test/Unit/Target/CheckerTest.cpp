//===- CheckerTest.cpp - Planted defects are found ------------------------===//
//
// Each kernel has one defect; the checking mode has to report that one, with
// the written operation, and has to be silent on the same kernel without it.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

using namespace tessera;
using namespace tessera::test;

namespace {

class Checker : public HarnessTest {
protected:
  /// Runs kernel @k of `source` on 64 threads of one block in checking mode.
  std::string check(const std::string &source, std::vector<KernelArg> args,
                    uint64_t seed = 0, unsigned threads = 64) {
    HarnessOptions options;
    options.instrument = true;
    auto harness = compile(source, options);
    if (!harness)
      return "does not compile: " + error;
    LaunchOptions launch;
    launch.check = true;
    launch.seed = seed;
    return harness->launch("k", {{1, 1, 1}, {threads, 1, 1}}, args, launch);
  }

  void expectReport(const std::string &report,
                    std::initializer_list<const char *> parts) {
    for (const char *part : parts)
      EXPECT_NE(report.find(part), std::string::npos)
          << "no \"" << part << "\" in: " << report;
  }

  std::vector<float> buffer = std::vector<float>(256, 1.0f);
};

/// Thread t writes its cell and reads its neighbour's.
std::string neighbour(const std::string &between, const std::string &distance) {
  return R"(
  gpu.func @k(%out: memref<64xf32>)
      workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %d = arith.constant )" +
         distance + R"( : index
    %n = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    )" + between +
         R"(
    %next = arith.addi %t, %d : index
    %wrapped = arith.remui %next, %n : index
    %v = memref.load %s[%wrapped] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })";
}

const char *warpSync = "%m = llvm.mlir.constant(-1 : i32) : i32\n"
                       "nvvm.bar.warp.sync %m : i32";

TEST_F(Checker, CleanKernelIsClean) {
  for (uint64_t seed : {0, 1, 2})
    EXPECT_EQ(check(neighbour("gpu.barrier", "1"), {buffer.data()}, seed), "");
}

TEST_F(Checker, MissingBarrierIsARace) {
  // In index order every thread but the last reads before the write, so this
  // also is an uninitialised read; with a seed it can be either first.
  for (uint64_t seed : {0, 1, 2}) {
    std::string report = check(neighbour("", "1"), {buffer.data()}, seed);
    expectReport(report,
                 {"kernel k: ", "shared-memory race", "memref.store",
                  "memref.load", "have no barrier between them", "thread ("});
  }
}

TEST_F(Checker, WarpBarrierOrdersOneWarpOnly) {
  std::string report = check(neighbour(warpSync, "1"), {buffer.data()});
  expectReport(report, {"shared-memory race"});
  // Within 32 threads it is enough.
  EXPECT_EQ(check(R"(
  gpu.func @k(%out: memref<64xf32>)
      workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %m = llvm.mlir.constant(-1 : i32) : i32
    nvvm.bar.warp.sync %m : i32
    %n = arith.xori %t, %c1 : index
    %v = memref.load %s[%n] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })",
                  {buffer.data()}),
            "");
}

TEST_F(Checker, ShuffleDoesNotOrderMemory) {
  std::string between = "%o = arith.constant 1 : i32\n"
                        "%w = arith.constant 32 : i32\n"
                        "%x, %p = gpu.shuffle xor %one, %o, %w : f32";
  expectReport(check(neighbour(between, "1"), {buffer.data()}),
               {"shared-memory race"});
}

TEST_F(Checker, OverwrittenBeforeEveryoneHasRead) {
  // A barrier before the read, none before the next write.
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>)
      workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %one, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %next = arith.addi %t, %c1 : index
      %wrapped = arith.remui %next, %n : index
      %v = memref.load %s[%wrapped] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xf32>
    }
    gpu.return
  })",
                             {buffer.data()});
  expectReport(report, {"shared-memory race (", "after"});
}

/// Copies 16 bytes per thread to shared memory and reads them back.
std::string
asyncCopy(const std::string &wait,
          const std::string &alignment = "{llvm.align = 16 : i64}") {
  return R"(
  gpu.func @k(%in: memref<256xf32, #gpu.address_space<global>>, %out: memref<64xf32>)
      workgroup(%s : memref<256xf32, #gpu.address_space<workgroup>> )" +
         alignment + R"() kernel {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %token = nvgpu.device_async_copy %in[%i], %s[%i], 4
      : memref<256xf32, #gpu.address_space<global>>
        to memref<256xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %token
    )" + wait +
         R"(
    %v = memref.load %s[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })";
}

TEST_F(Checker, MissingAsyncWait) {
  std::vector<float> in = randomFloats(256, 1);
  EXPECT_EQ(
      check(asyncCopy("nvgpu.device_async_wait %group {numGroups = 0 : i32}"),
            {in.data(), buffer.data()}),
      "");
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(buffer[i], in[4 * i]);
  expectReport(check(asyncCopy(""), {in.data(), buffer.data()}),
               {"before the wait for an asynchronous copy", "memref.load",
                "copy issued by nvgpu.device_async_copy"});
  // Waiting for all but one group is no wait here.
  expectReport(
      check(asyncCopy("nvgpu.device_async_wait %group {numGroups = 1 : i32}"),
            {in.data(), buffer.data()}),
      {"before the wait for an asynchronous copy"});
}

TEST_F(Checker, CopyToMemoryAlignedByLuck) {
  // Without a stated alignment an f32 array starts at any multiple of 4.
  expectReport(
      check(
          asyncCopy("nvgpu.device_async_wait %group {numGroups = 0 : i32}", ""),
          {buffer.data(), buffer.data()}),
      {"misaligned access, expected a multiple of 16 bytes: "
       "nvgpu.device_async_copy"});
}

std::string indexed(const std::string &offset) {
  return R"(
  gpu.func @k(%in: memref<64xf32>, %out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %o = arith.constant )" +
         offset + R"( : index
    %i = arith.addi %t, %o : index
    %v = memref.load %in[%i] : memref<64xf32>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })";
}

TEST_F(Checker, OutOfBoundsIndex) {
  // Both arguments lie in one allocation, as in a program's arena.
  EXPECT_EQ(check(indexed("0"), {buffer.data(), buffer.data() + 64}), "");
  expectReport(check(indexed("1"), {buffer.data(), buffer.data() + 64}),
               {"out of bounds: 4 bytes at byte 256 of argument #0, which has "
                "256 bytes",
                "memref.load", "thread (63,0,0)"});
  expectReport(check(indexed("-1"), {buffer.data() + 64, buffer.data()}),
               {"out of bounds: 4 bytes at byte -4 of argument #0"});
}

TEST_F(Checker, OutOfBoundsSharedMemory) {
  expectReport(check(R"(
  gpu.func @k(%out: memref<64xf32>)
      workgroup(%s : memref<32xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    memref.store %one, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.return
  })",
                     {buffer.data()}),
               {"out of bounds: 4 bytes at byte", "bytes of shared memory",
                "memref.store"});
}

TEST_F(Checker, Misaligned) {
  std::string source = R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %one = arith.constant dense<1.0> : vector<4xf32>
      %p = memref.extract_aligned_pointer_as_index %out : memref<64xf32> -> index
      %i = arith.index_cast %p : index to i64
      %o = arith.constant 4 : i64
      %j = arith.addi %i, %o : i64
      %q = llvm.inttoptr %j : i64 to !llvm.ptr
      llvm.store %one, %q : vector<4xf32>, !llvm.ptr
    }
    gpu.return
  })";
  alignas(16) float out[64];
  expectReport(
      check(source, {&out[0]}),
      {"misaligned access, expected a multiple of 16 bytes", "llvm.store"});
}

TEST_F(Checker, UninitialisedSharedMemory) {
  expectReport(
      check(R"(
  gpu.func @k(%out: memref<64xf32>)
      workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })",
            {buffer.data()}),
      {"read of uninitialised byte", "of shared memory", "memref.load"});
}

TEST_F(Checker, UninitialisedDeviceMemory) {
  tessera_virtual_options before, checking;
  tessera_virtual_get_options(&before);
  checking = before;
  checking.check = 1;
  tessera_virtual_set_options(&checking);
  auto *in = static_cast<float *>(tessera_virtual_malloc(256));
  expectReport(check(indexed("0"), {in, buffer.data()}),
               {"read of uninitialised global memory (byte 0 of argument #0)"});
  EXPECT_EQ(tessera_virtual_memset(in, 0, 256), 0);
  EXPECT_EQ(check(indexed("0"), {in, buffer.data()}), "");
  EXPECT_EQ(tessera_virtual_free(in), 0);
  tessera_virtual_set_options(&before);
}

TEST_F(Checker, BarrierInOneBranchDeadlocks) {
  // The other half waits at another barrier instance... of which there is none.
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      %b = llvm.mlir.constant(1 : i32) : i32
      %n = llvm.mlir.constant(64 : i32) : i32
      nvvm.barrier id = %b number_of_threads = %n
    }
    gpu.barrier
    gpu.return
  })",
                             {buffer.data()});
  expectReport(report, {"deadlock: ", "32 of 64 threads wait at nvvm.barrier",
                        "32 of 64 threads wait at gpu.barrier"});
}

TEST_F(Checker, DivergentShuffleIsRefused) {
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %one = arith.constant 1.0 : f32
    %o = arith.constant 1 : i32
    %w = arith.constant 32 : i32
    %low = arith.cmpi ult, %t, %c16 : index
    scf.if %low {
      %x, %p = gpu.shuffle xor %one, %o, %w : f32
      memref.store %x, %out[%t] : memref<64xf32>
    } else {
      %x, %p = gpu.shuffle down %one, %o, %w : f32
      memref.store %x, %out[%t] : memref<64xf32>
    }
    gpu.return
  })",
                             {buffer.data()});
  expectReport(report, {"lanes of one warp are at different warp collectives",
                        "gpu.shuffle"});
}

TEST_F(Checker, PartialMemberMaskIsRefused) {
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %m = llvm.mlir.constant(65535 : i32) : i32
    nvvm.bar.warp.sync %m : i32
    gpu.return
  })",
                             {buffer.data()});
  expectReport(report, {"member mask 0x0000ffff leaves out lanes that still "
                        "run (0xffff0000)"});
}

TEST_F(Checker, MmaNeedsAWholeWarp) {
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %a = llvm.mlir.constant(0 : i32) : i32
    %c = llvm.mlir.constant(0.0 : f32) : f32
    %r = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
       multiplicandAPtxType = #nvvm.mma_type<bf16>,
       multiplicandBPtxType = #nvvm.mma_type<bf16>,
       shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %v = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  })",
                             {buffer.data()}, 0, 40);
  expectReport(report, {"mma.sync needs all 32 lanes of the warp at "
                        "nvvm.mma.sync"});
}

TEST_F(Checker, FailedAssertion) {
  std::string report = check(R"(
  gpu.func @k(%out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %c9 = arith.constant 9 : index
    %ok = arith.cmpi ne, %t, %c9 : index
    cf.assert %ok, "nine is not allowed"
    gpu.return
  })",
                             {buffer.data()});
  expectReport(report, {"assertion \"nine is not allowed\" failed", "cf.assert",
                        "thread (9,0,0)"});
}

TEST_F(Checker, NeedsInstrumentation) {
  auto harness = compile(indexed("0"));
  ASSERT_TRUE(harness) << error;
  LaunchOptions launch;
  launch.check = true;
  EXPECT_EQ(harness->launch("k", {{1, 1, 1}, {64, 1, 1}},
                            {buffer.data(), buffer.data() + 64}, launch),
            "kernel k: checking needs a kernel compiled with instrumentation "
            "(tessera compile --instrument)");
}

} // namespace
