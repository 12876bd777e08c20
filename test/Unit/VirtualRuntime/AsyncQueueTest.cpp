//===- AsyncQueueTest.cpp - cp.async lands late ---------------------------===//

#include "lib/Runtime/Virtual/AsyncCopy.h"

#include <gtest/gtest.h>

using namespace tessera::vgpu;

namespace {

const auto ignore = [](const AsyncCopy &) {};

TEST(AsyncQueue, LandsAtTheWaitOnly) {
  AsyncQueue queue;
  uint32_t from[4] = {1, 2, 3, 4}, to[4] = {};
  queue.push({to, from, 16, 16, 0});
  queue.commit();
  EXPECT_EQ(to[0], 0u);
  queue.wait(1, ignore); // the one group may stay in flight
  EXPECT_EQ(to[0], 0u);
  from[0] = 9; // the source is read late too
  queue.wait(0, ignore);
  EXPECT_EQ(to[0], 9u);
  EXPECT_EQ(to[3], 4u);
  EXPECT_TRUE(queue.empty());
}

TEST(AsyncQueue, UncommittedCopiesAreNoGroup) {
  AsyncQueue queue;
  uint32_t from = 7, to = 0;
  queue.push({&to, &from, 4, 4, 0});
  queue.wait(0, ignore);
  EXPECT_EQ(to, 0u);
  queue.waitAll(ignore);
  EXPECT_EQ(to, 7u);
}

TEST(AsyncQueue, ZeroFillsTheRest) {
  AsyncQueue queue;
  uint32_t from[4] = {1, 2, 3, 4}, to[4] = {9, 9, 9, 9};
  queue.push({to, from, 16, 6, 0});
  queue.commit();
  queue.wait(0, ignore);
  EXPECT_EQ(to[0], 1u);
  EXPECT_EQ(to[1], 2u); // upper half is zero in either case
  EXPECT_EQ(to[2], 0u);
  EXPECT_EQ(to[3], 0u);
}

TEST(AsyncQueue, PipelineOfManyStages) {
  // Three stages stay in flight for a thousand rounds; empty groups count.
  AsyncQueue queue;
  uint32_t from[1000], to[1000] = {};
  for (uint32_t i = 0; i < 1000; ++i) {
    from[i] = i + 1;
    if (i % 5 != 0)
      queue.push({&to[i], &from[i], 4, 4, 0});
    queue.commit();
    queue.wait(3, ignore);
    for (uint32_t j = 0; j <= i; ++j) {
      bool landed = j + 3 <= i && j % 5 != 0;
      ASSERT_EQ(to[j], landed ? j + 1 : 0) << i << " " << j;
    }
  }
}

} // namespace
