//===- FiberTest.cpp - Stack switching ------------------------------------===//
//
// Compiled twice: for the assembly switch and for the portable one.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Virtual/Fiber.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

using namespace tessera::vgpu;

namespace {

struct Ring {
  struct Member {
    Ring *ring;
    size_t index;
    FiberStack *stack;
    FiberState state;
    double sum = 0;
    bool aligned = false;
  };
  std::vector<Member> members;
  FiberState main = fiberForThread(), dead = fiberForThread();
  std::vector<size_t> trace;
  size_t left = 0;
};

/// Each member adds to its own sum between switches, so a register or stack
/// slot that does not survive shows as a wrong sum.
void body(void *argument) {
  auto *member = static_cast<Ring::Member *>(argument);
  Ring &ring = *member->ring;
  alignas(16) char local[16] = {};
  member->aligned = reinterpret_cast<uintptr_t>(&local) % 16 == 0;
  double a = 1, b = 0.5, c = 0.25, sum = 0;
  for (int round = 0; round < 10; ++round) {
    ring.trace.push_back(member->index);
    sum += a * double(member->index) + b + c * round;
    Ring::Member &next =
        ring.members[(member->index + 1) % ring.members.size()];
    fiberSwitch(&member->state, next.state);
  }
  member->sum = sum;
  if (--ring.left == 0)
    fiberSwitch(&ring.dead, ring.main);
  fiberSwitch(&ring.dead,
              ring.members[(member->index + 1) % ring.members.size()].state);
}

TEST(Fiber, RoundRobinKeepsState) {
  StackPool pool;
  Ring ring;
  constexpr size_t n = 70;
  ring.members.resize(n);
  ring.left = n;
  for (size_t i = 0; i < n; ++i) {
    Ring::Member &member = ring.members[i];
    member.ring = &ring;
    member.index = i;
    member.stack = pool.take();
    ASSERT_NE(member.stack, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(member.stack->top) % 16, 0u);
    member.state = fiberPrepare(*member.stack, body, &member);
  }
  fiberSwitch(&ring.main, ring.members[0].state);
  ASSERT_EQ(ring.trace.size(), 10 * n);
  for (size_t i = 0; i < ring.trace.size(); ++i)
    ASSERT_EQ(ring.trace[i], i % n);
  for (size_t i = 0; i < n; ++i) {
    EXPECT_DOUBLE_EQ(ring.members[i].sum, 10 * (double(i) + 0.5) + 0.25 * 45);
    EXPECT_TRUE(ring.members[i].aligned);
  }
}

TEST(StackPool, ReusesTheWarmestStack) {
  StackPool pool;
  FiberStack *a = pool.take(), *b = pool.take();
  ASSERT_NE(a, b);
  pool.give(a);
  pool.give(b);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
  // Colours differ, or neighbours would share cache sets.
  EXPECT_NE(reinterpret_cast<uintptr_t>(a->top) % 4096,
            reinterpret_cast<uintptr_t>(b->top) % 4096);
}

} // namespace
