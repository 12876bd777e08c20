//===- DeviceTest.cpp - C API of the virtual device -----------------------===//
//
// Kernels here are plain C++ functions that call the device interface by hand,
// so the runtime is tested without the compiler.
//
//===----------------------------------------------------------------------===//

#include "tessera/Runtime/Virtual/DeviceAbi.h"
#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace {

class Device : public ::testing::Test {
protected:
  void SetUp() override { tessera_virtual_get_options(&before); }
  void TearDown() override { tessera_virtual_set_options(&before); }

  /// Launches `entry` as a kernel with 4 KiB of static shared memory.
  std::string run(tessera_virtual_entry entry, uint64_t blocks,
                  uint64_t threads, void *argument, uint64_t seed = 0,
                  uint32_t workers = 1) {
    tessera_virtual_options options = {};
    options.seed = seed;
    options.threads = workers;
    tessera_virtual_set_options(&options);
    tessera_virtual_kernel kernel = {};
    kernel.name = "k";
    kernel.entry = entry;
    kernel.shared_bytes = 4096;
    kernel.warp_frame_bytes = 256;
    static const char *locations[] = {"first place", "second place"};
    kernel.locations = locations;
    kernel.num_locations = 2;
    tessera_virtual_object object = {TESSERA_VIRTUAL_OBJECT_VERSION, 1,
                                     &kernel};
    uint64_t grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
    void *params[] = {&argument};
    return tessera_virtual_launch(&object, 0, grid, block, 0, params)
               ? tessera_virtual_last_error()
               : "";
  }

  tessera_virtual_options before;
};

template <typename T>
T *argument(void *const *params) {
  T *pointer;
  std::memcpy(&pointer, params[0], sizeof(pointer));
  return pointer;
}

TEST_F(Device, MemoryIsPoisonedAndTracked) {
  auto *p = static_cast<unsigned char *>(tessera_virtual_malloc(100));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(p[i], 0xff);
  EXPECT_EQ(tessera_virtual_memset(p, 1, 100), 0);
  unsigned char host[100];
  EXPECT_EQ(tessera_virtual_memcpy(host, p, 100), 0);
  EXPECT_EQ(host[99], 1);
  EXPECT_EQ(tessera_virtual_free(p), 0);
  EXPECT_NE(tessera_virtual_free(host), 0);
  EXPECT_STREQ(tessera_virtual_last_error(),
               "freeing a pointer that is no virtual device memory");
  EXPECT_EQ(tessera_virtual_malloc(~uint64_t(0)), nullptr);
  EXPECT_NE(tessera_virtual_memcpy(nullptr, host, 4), 0);
}

void countThreads(tessera_virtual_thread *self, void *const *params) {
  ++argument<std::atomic<int>>(params)[self->block->ctaid[0]];
}

TEST_F(Device, EveryThreadOfEveryBlockOnce) {
  for (uint64_t seed : {0, 3})
    for (uint32_t workers : {1u, 4u}) {
      std::vector<std::atomic<int>> counts(37);
      EXPECT_EQ(run(countThreads, 37, 100, counts.data(), seed, workers), "");
      for (auto &count : counts)
        ASSERT_EQ(count, 100);
    }
}

void recordOrder(tessera_virtual_thread *self, void *const *params) {
  argument<std::vector<uint32_t>>(params)->push_back(self->linear);
}

TEST_F(Device, SeedDecidesTheOrder) {
  std::vector<uint32_t> plain, one, again, two;
  run(recordOrder, 1, 96, &plain, 0);
  run(recordOrder, 1, 96, &one, 1);
  run(recordOrder, 1, 96, &again, 1);
  run(recordOrder, 1, 96, &two, 2);
  for (uint32_t i = 0; i < 96; ++i)
    ASSERT_EQ(plain[i], i);
  EXPECT_NE(one, plain);
  EXPECT_NE(one, two);
  EXPECT_EQ(one, again);
}

void barrierRounds(tessera_virtual_thread *self, void *const *params) {
  // Before each barrier everybody is in the same round.
  auto *rounds = reinterpret_cast<int *>(self->block->shared);
  auto *wrong = argument<std::atomic<int>>(params);
  if (self->linear == 0)
    rounds[0] = 0;
  tessera_virtual_barrier(self, 0, 0, 0);
  for (int i = 0; i < 50; ++i) {
    if (rounds[0] != i)
      ++*wrong;
    tessera_virtual_barrier(self, 0, 0, 0);
    if (self->linear == 0)
      ++rounds[0];
    tessera_virtual_barrier(self, 0, 0, 0);
  }
}

TEST_F(Device, BarriersHoldEverybody) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::atomic<int> wrong{0};
    EXPECT_EQ(run(barrierRounds, 5, 200, &wrong, seed, 2), "");
    EXPECT_EQ(wrong, 0);
  }
}

void earlyReturn(tessera_virtual_thread *self, void *const *) {
  if (self->linear >= 40)
    return;
  tessera_virtual_barrier(self, 0, 0, 0);
}

TEST_F(Device, ReturnedThreadsAreNotWaitedFor) {
  for (uint64_t seed : {0, 1, 2})
    EXPECT_EQ(run(earlyReturn, 2, 64, nullptr, seed), "");
}

void sharedIsPoisoned(tessera_virtual_thread *self, void *const *params) {
  auto *bytes = reinterpret_cast<unsigned char *>(self->block->shared);
  if (bytes[self->linear] != 0xff)
    ++*argument<std::atomic<int>>(params);
  bytes[self->linear] = 0;
}

TEST_F(Device, SharedMemoryIsPoisonedInEveryBlock) {
  std::atomic<int> wrong{0};
  EXPECT_EQ(run(sharedIsPoisoned, 20, 64, &wrong), "");
  EXPECT_EQ(wrong, 0);
}

void differentBarriers(tessera_virtual_thread *self, void *const *) {
  bool low = self->linear < 32;
  tessera_virtual_barrier(self, low ? 1 : 2, 64, low ? 0 : 1);
}

TEST_F(Device, DeadlockSaysWhoWaitsWhere) {
  std::string error = run(differentBarriers, 1, 64, nullptr);
  EXPECT_NE(error.find("kernel k: deadlock: 32 of 64 threads wait at first "
                       "place [kernel k, block (0,0,0), thread (0,0,0)]"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("32 of 64 threads wait at second place"),
            std::string::npos)
      << error;
  // The device still works.
  std::vector<std::atomic<int>> counts(1);
  EXPECT_EQ(run(countThreads, 1, 64, counts.data()), "");
  EXPECT_EQ(counts[0], 64);
}

void nobodyIsEqual(tessera_virtual_thread *self, void *const *) {
  tessera_virtual_barrier(self, 0, self->linear ? 64 : 32, 0);
}

TEST_F(Device, BarrierCountsMustAgree) {
  EXPECT_NE(
      run(nobodyIsEqual, 1, 64, nullptr).find("with different thread counts"),
      std::string::npos);
}

TEST_F(Device, RefusesForeignObjects) {
  tessera_virtual_object object = {99, 0, nullptr};
  uint64_t one[3] = {1, 1, 1};
  EXPECT_NE(tessera_virtual_launch(&object, 0, one, one, 0, nullptr), 0);
  EXPECT_STREQ(tessera_virtual_last_error(),
               "virtual-GPU object of version 99, expected 1");
}

} // namespace
