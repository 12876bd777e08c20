//===- Watch.cpp - Chooses the observer of a worker -----------------------===//

#include "Watch.h"

#include "Checker.h"
#include "Counters.h"
#include "LaunchState.h"
#include "Worker.h"

using namespace tessera::vgpu;

namespace {
/// Checking and counting at once. Checking goes first: it stops the block
/// before an access that would crash.
class Both : public Observer {
public:
  Both(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second)
      : all{std::move(first), std::move(second)} {}

  void beginBlock() override { each(&Observer::beginBlock); }
  void endBlock() override { each(&Observer::endBlock); }
  void access(Thread &thread, const void *address, uint32_t bytes,
              uint32_t flags, uint32_t argument, uint32_t location) override {
    for (auto &one : all)
      one->access(thread, address, bytes, flags, argument, location);
  }
  void loadMatrix(Thread &runner, const char *const *rows, uint32_t matrices,
                  uint32_t location) override {
    for (auto &one : all)
      one->loadMatrix(runner, rows, matrices, location);
  }
  void copyIssued(Thread &thread, const AsyncCopy &copy) override {
    for (auto &one : all)
      one->copyIssued(thread, copy);
  }
  void copyLanded(Thread &thread, const AsyncCopy &copy) override {
    for (auto &one : all)
      one->copyLanded(thread, copy);
  }
  void blockBarrier() override { each(&Observer::blockBarrier); }
  void warpBarrier(uint32_t warp) override {
    for (auto &one : all)
      one->warpBarrier(warp);
  }
  void converged(uint32_t warp) override {
    for (auto &one : all)
      one->converged(warp);
  }
  void mma(uint64_t flops) override {
    for (auto &one : all)
      one->mma(flops);
  }
  void count(uint32_t pipe, uint32_t operations) override {
    for (auto &one : all)
      one->count(pipe, operations);
  }

private:
  void each(void (Observer::*hook)()) {
    for (auto &one : all)
      ((*one).*hook)();
  }
  std::unique_ptr<Observer> all[2];
};
} // namespace

std::unique_ptr<Observer> tessera::vgpu::createObserver(Worker &worker) {
  const LaunchState &launch = *worker.launch;
  std::unique_ptr<Observer> checker, counter;
  if (launch.reports)
    checker = std::make_unique<Checker>(worker, *launch.reports);
  if (launch.counters)
    counter = std::make_unique<Counter>(worker, *launch.counters);
  if (checker && counter)
    return std::make_unique<Both>(std::move(checker), std::move(counter));
  return checker ? std::move(checker) : std::move(counter);
}
