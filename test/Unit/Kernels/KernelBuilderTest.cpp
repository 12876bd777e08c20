//===- KernelBuilderTest.cpp - reductions, shuffles, shared memory --------===//
#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;
using mlir::Value;

namespace {

constexpr int64_t kThreads = 96;

/// Runs `body` with one block of kThreads threads on out = f32[count]; `in`
/// holds 0, 1, 2, ... shuffled by 7i mod count.
std::vector<float> runBody(int64_t count,
                           llvm::function_ref<void(KernelBuilder &)> body,
                           uint32_t dynamicSharedBytes = 0) {
  auto harness = compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        mlir::MLIRContext *context = builder.getContext();
        mlir::Type type =
            globalMemRef(context, {count}, mlir::Float32Type::get(context));
        KernelBuilder kb(builder, module, "k", {type, type}, kThreads);
        body(kb);
        kb.finish();
      });
  std::vector<float> in(count), out(count, NAN);
  for (int64_t i = 0; i < count; ++i)
    in[i] = static_cast<float>(7 * i % count);
  if (!harness)
    return out;
  tessera::LaunchShape shape;
  shape.block[0] = kThreads;
  shape.dynamicSharedBytes = dynamicSharedBytes;
  for (uint64_t seed : {0, 5, 9}) {
    tessera::LaunchOptions options;
    options.seed = seed;
    options.check = true;
    EXPECT_EQ(harness->launch("k", shape, {in.data(), out.data()}, options),
              "");
  }
  return out;
}

TEST(KernelBuilder, BlockReductionsReachEveryThread) {
  std::vector<float> out = runBody(2 * kThreads, [](KernelBuilder &kb) {
    Value scratch = kb.shared({kThreads / 32}, kb.getF32Type());
    Value x = kb.load(kb.arg(0), {kb.thread()});
    Value sum = kb.blockSum(x, scratch);
    // The scratch memory is free again at once.
    Value largest = kb.blockMax(x, scratch);
    kb.store(sum, kb.arg(1), {kb.thread()});
    kb.store(largest, kb.arg(1), {kb.add(kb.thread(), kThreads)});
  });
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < kThreads; ++i) {
    sum += 7 * i % (2 * kThreads);
    largest = std::max<double>(largest, 7 * i % (2 * kThreads));
  }
  for (int64_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(out[i], sum) << i;
    EXPECT_EQ(out[i + kThreads], largest) << i;
  }
}

TEST(KernelBuilder, ReductionsOfPartsOfAWarp) {
  std::vector<float> out = runBody(kThreads, [](KernelBuilder &kb) {
    Value x = kb.load(kb.arg(0), {kb.thread()});
    Value sum =
        kb.warpReduce(x, [&](Value a, Value b) { return kb.add(a, b); }, 8);
    kb.store(sum, kb.arg(1), {kb.thread()});
  });
  for (int64_t i = 0; i < kThreads; ++i) {
    double sum = 0;
    for (int64_t j = i / 8 * 8; j < i / 8 * 8 + 8; ++j)
      sum += 7 * j % kThreads;
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST(KernelBuilder, ShuffleTakesTheValueOfALane) {
  std::vector<float> out = runBody(kThreads, [](KernelBuilder &kb) {
    Value x = kb.load(kb.arg(0), {kb.thread()});
    // Lane i asks lane (i + 3) mod 32 of its own warp.
    Value lane = kb.toI32(kb.rem(kb.add(kb.lane(), 3), 32));
    kb.store(kb.shuffleIdx(x, lane), kb.arg(1), {kb.thread()});
  });
  for (int64_t i = 0; i < kThreads; ++i)
    EXPECT_EQ(out[i], 7 * (i / 32 * 32 + (i + 3) % 32) % kThreads) << i;
}

TEST(KernelBuilder, DynamicSharedMemoryAndAsynchronousCopies) {
  constexpr int64_t count = 4 * kThreads;
  std::vector<float> out = runBody(
      count,
      [](KernelBuilder &kb) {
        Value shared = kb.dynamicShared();
        Value bytes = kb.mul(kb.thread(), 16);
        // Only the first 8 bytes are read, the rest become zeros.
        kb.cpAsync(kb.advance(shared, bytes),
                   kb.advance(kb.pointer(kb.arg(0)), bytes), 16, kb.i32(8));
        kb.cpAsyncCommit();
        kb.cpAsyncWait(0);
        kb.barrier();
        // Read what the opposite thread copied.
        Value other = kb.sub(kb.idx(kThreads - 1), kb.thread());
        Value four = kb.loadPtr(kb.vec(4, kb.getF32Type()),
                                kb.advance(shared, kb.mul(other, 16)));
        kb.storeVector(four, kb.arg(1), {kb.mul(kb.thread(), 4)});
      },
      kThreads * 16);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = (kThreads - 1 - i / 4) * 4 + i % 4;
    EXPECT_EQ(out[i], i % 4 < 2 ? 7 * from % count : 0) << i;
  }
}

TEST(KernelBuilder, LoopsAndBranches) {
  std::vector<float> out = runBody(kThreads, [](KernelBuilder &kb) {
    // Odd threads add 0 .. thread - 1, even ones give -1.
    Value odd = kb.eq(kb.rem(kb.thread(), 2), kb.idx(1));
    auto results = kb.ifElse(
        odd, mlir::TypeRange{kb.getF32Type()},
        [&]() -> llvm::SmallVector<Value> {
          return kb.loop(
              kb.idx(0), kb.thread(), kb.idx(1), {kb.f32(0)},
              [&](Value, mlir::ValueRange sum) -> llvm::SmallVector<Value> {
                return {kb.add(sum[0], kb.f32(1))};
              });
        },
        [&]() -> llvm::SmallVector<Value> { return {kb.f32(-1)}; });
    kb.ifThen(kb.boolean(true),
              [&] { kb.store(results[0], kb.arg(1), {kb.thread()}); });
    kb.ifThen(kb.boolean(false),
              [&] { kb.store(kb.f32(99), kb.arg(1), {kb.thread()}); });
  });
  for (int64_t i = 0; i < kThreads; ++i)
    EXPECT_EQ(out[i], i % 2 ? i : -1) << i;
}

TEST(KernelBuilder, VectorWidthFollowsTheRowLength) {
  EXPECT_EQ(vectorWidth(4096, 2), 8);
  EXPECT_EQ(vectorWidth(12, 2), 4);
  EXPECT_EQ(vectorWidth(6, 2), 2);
  EXPECT_EQ(vectorWidth(7, 2), 1);
  EXPECT_EQ(vectorWidth(4096, 4), 4);
  EXPECT_EQ(vectorWidth(4096, 2, 8), 4);
}

} // namespace
