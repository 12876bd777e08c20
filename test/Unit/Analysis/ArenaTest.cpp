//===- ArenaTest.cpp - placement of buffers and the plan of a program -----===//
//
// Placements are checked by a double loop over bytes and steps of its own.
//
//===----------------------------------------------------------------------===//
#include "dialects/Kernel/KernelDialect.h"
#include "tessera/Analysis/ArenaPlacement.h"
#include "tessera/Analysis/ArenaPlan.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace mlir;
using namespace tessera;

/// Whether no (byte, step) belongs to two buffers; sizes in arena units.
static bool disjoint(ArrayRef<ArenaBuffer> buffers) {
  std::set<std::pair<int64_t, int64_t>> taken;
  for (const ArenaBuffer &b : buffers)
    for (int64_t step = b.begin; step <= b.end; ++step)
      for (int64_t byte = 0; byte < b.bytes; byte += 64)
        if (!taken.insert({(b.offset + byte) / 64, step}).second)
          return false;
  return true;
}

TEST(ArenaPlacement, RandomBuffersDoNotOverlap) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<ArenaBuffer> buffers(1 + random() % 20);
    for (ArenaBuffer &b : buffers) {
      b.bytes = 1 + random() % 2000;
      b.begin = random() % 20;
      b.end = b.begin + random() % 6;
    }
    int64_t size = placeBuffers(buffers);
    EXPECT_TRUE(disjoint(buffers));
    EXPECT_EQ(verifyPlacement(buffers, size), "");
    EXPECT_GE(size, peakLiveBytes(buffers));
    int64_t end = 0;
    for (const ArenaBuffer &b : buffers) {
      EXPECT_EQ(b.offset % kArenaAlignment, 0);
      end = std::max(end, b.offset + b.bytes);
    }
    EXPECT_LE(end, size);
  }
}

TEST(ArenaPlacement, ReusesMemoryOfTheDead) {
  // A chain: each buffer lives for two steps, so two places are enough.
  std::vector<ArenaBuffer> chain;
  for (int64_t i = 0; i < 10; ++i)
    chain.push_back({1024, i, i + 1, 0});
  EXPECT_EQ(placeBuffers(chain), 2048);
}

TEST(ArenaPlacement, VerifierSeesOverlapAndRange) {
  std::vector<ArenaBuffer> buffers = {{300, 0, 3, 0}, {300, 2, 5, 256}};
  EXPECT_NE(verifyPlacement(buffers, 1024), "");
  buffers[1].offset = 512;
  EXPECT_EQ(verifyPlacement(buffers, 1024), "");
  EXPECT_NE(verifyPlacement(buffers, 600), "");
  buffers[1].begin = 4;
  buffers[1].offset = 0;
  EXPECT_EQ(verifyPlacement(buffers, 512), "");
  buffers[1].offset = 100;
  EXPECT_NE(verifyPlacement(buffers, 512), "");
}

namespace {
struct ArenaPlanTest : testing::Test {
  ArenaPlanTest() {
    context.loadDialect<TesseraDialect, kernel::KernelDialect,
                        func::FuncDialect>();
  }
  FailureOr<ArenaPlan> plan(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return ArenaPlan::compute(*module);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ArenaPlanTest, ElementwiseWorksInPlaceButNotOnInputs) {
  auto arena = plan(R"(
    func.func @forward(%x: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
      %0 = tessera.activation relu %x : tensor<1x4x64xf32>
      %1 = tessera.activation relu %0 : tensor<1x4x64xf32>
      %2 = tessera.add %1, %x : tensor<1x4x64xf32>
      return %2 : tensor<1x4x64xf32>
    })");
  ASSERT_TRUE(succeeded(arena));
  // The input and one buffer for everything else, 1 KiB each.
  EXPECT_EQ(arena->get(arena->getEntry()).bytes, 2048);
}

TEST_F(ArenaPlanTest, NoPlaceForTwoUsesOfOneBuffer) {
  auto arena = plan(R"(
    func.func @forward(%x: tensor<1x4x64xf32>, %w: tensor<64x64xf32>) -> tensor<1x4x64xf32> {
      %0 = tessera.activation relu %x : tensor<1x4x64xf32>
      %1 = kernel.group matmul "linear_add" (%a = %0 : tensor<1x4x64xf32>,
          %b = %w : tensor<64x64xf32>, %r = %0 : tensor<1x4x64xf32>) -> (tensor<1x4x64xf32>) {
        %2 = tessera.linear %a, %b : tensor<1x4x64xf32>, tensor<64x64xf32> -> tensor<1x4x64xf32>
        %3 = tessera.add %r, %2 : tensor<1x4x64xf32>
        kernel.yield %3 : tensor<1x4x64xf32>
      }
      return %1 : tensor<1x4x64xf32>
    })");
  ASSERT_TRUE(succeeded(arena));
  // x, w, the product's operand and its result: the residual is the operand,
  // which other threads still read.
  EXPECT_EQ(arena->get(arena->getEntry()).bytes, 1024 + 64 * 64 * 4 + 2048);
}

TEST_F(ArenaPlanTest, BlockUpdatesTheStreamInPlace) {
  auto arena = plan(R"(
    func.func private @block(%x: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
      %0 = tessera.activation relu %x : tensor<1x4x64xf32>
      %1 = tessera.add %x, %0 : tensor<1x4x64xf32>
      return %1 : tensor<1x4x64xf32>
    }
    func.func @forward(%x: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
      %0 = tessera.activation relu %x : tensor<1x4x64xf32>
      %1 = tessera.layers @block(%0) first 0 count 4 : tensor<1x4x64xf32> -> tensor<1x4x64xf32>
      return %1 : tensor<1x4x64xf32>
    })");
  ASSERT_TRUE(succeeded(arena));
  auto block = module->lookupSymbol<func::FuncOp>("block");
  EXPECT_EQ(arena->get(block).inPlace, llvm::SmallVector<bool>{true});
  EXPECT_EQ(arena->get(block).bytes, 1024);
  EXPECT_EQ(arena->get(arena->getEntry()).bytes, 3 * 1024);
}

TEST_F(ArenaPlanTest, DepthDoesNotMatter) {
  auto size = [&](int layers) {
    auto arena = plan(R"(
      func.func private @block(%x: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
        %0 = tessera.attention %x, %x, %x head_dim 64 scale 1.0 causal
          : tensor<1x4x64xf32>, tensor<1x4x64xf32>, tensor<1x4x64xf32> -> tensor<1x4x64xf32>
        return %0 : tensor<1x4x64xf32>
      }
      func.func @forward(%x: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
        %0 = tessera.activation relu %x : tensor<1x4x64xf32>
        %1 = tessera.layers @block(%0) first 0 count )" +
                      std::to_string(layers) + R"( : tensor<1x4x64xf32> -> tensor<1x4x64xf32>
        return %1 : tensor<1x4x64xf32>
      })");
    EXPECT_TRUE(succeeded(arena));
    return succeeded(arena) ? arena->get(arena->getEntry()).bytes : -1;
  };
  // The input and two buffers that the layers alternate between.
  EXPECT_EQ(size(1), 3 * 1024);
  EXPECT_EQ(size(2), 3 * 1024);
  EXPECT_EQ(size(80), 3 * 1024);
}
