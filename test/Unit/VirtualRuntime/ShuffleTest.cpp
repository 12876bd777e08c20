//===- ShuffleTest.cpp - Source lanes of shfl.sync ------------------------===//
//
// The examples of the PTX ISA document's table for full warps, and the
// sub-warp encoding of the CUDA C++ Programming Guide (mask and clamp for a
// width w are ((32 - w) << 8) | 31, and (32 - w) << 8 for "up").
//
//===----------------------------------------------------------------------===//

#include "tessera/Runtime/Virtual/Shuffle.h"

#include <gtest/gtest.h>

using namespace tessera::vgpu;

namespace {

enum Kind : uint32_t { Bfly, Up, Down, Idx };

void expect(Kind kind, uint32_t lane, uint32_t b, uint32_t c, uint32_t source,
            bool valid) {
  uint32_t got = 99;
  EXPECT_EQ(shuffleSource(kind, lane, b, c, got), valid)
      << kind << " lane " << lane;
  EXPECT_EQ(got, source) << kind << " lane " << lane;
}

TEST(Shuffle, FullWarp) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    expect(Bfly, lane, 16, 31, lane ^ 16, true);
    expect(Up, lane, 1, 0, lane ? lane - 1 : 0, lane >= 1);
    expect(Down, lane, 8, 31, lane + 8 < 32 ? lane + 8 : lane, lane + 8 < 32);
    expect(Idx, lane, 5, 31, 5, true);
  }
}

TEST(Shuffle, SubWarpsOfEight) {
  uint32_t mask = (32 - 8) << 8;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t in = lane % 8, first = lane - in;
    expect(Up, lane, 2, mask, in >= 2 ? lane - 2 : lane, in >= 2);
    expect(Down, lane, 3, mask | 31, in + 3 < 8 ? lane + 3 : lane, in + 3 < 8);
    expect(Idx, lane, 6, mask | 31, first + 6, true);
    expect(Bfly, lane, 4, mask | 31, lane ^ 4, true);
  }
}

} // namespace
