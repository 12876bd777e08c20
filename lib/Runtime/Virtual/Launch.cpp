//===- Launch.cpp - Runs one kernel over its grid -------------------------===//
//
// Blocks are independent; workers (one per OS thread, kept between launches
// with their stacks) draw them from a counter. With a seed the blocks come in
// the order of an affine permutation, so that code relying on block order
// fails.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Counters.h"
#include "LaunchState.h"
#include "Memory.h"
#include "Options.h"
#include "Worker.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <numeric>
#include <thread>

using namespace tessera::vgpu;

namespace {
thread_local std::string lastError;
thread_local int lastCode = 0;

int failWith(const std::string &text) {
  lastError = text;
  lastCode = 1;
  return 1;
}

/// Worker threads beside the calling one. They park between launches and are
/// never joined: the process may end while they wait.
class Pool {
public:
  static Pool &get() {
    static Pool *pool = new Pool;
    return *pool;
  }

  /// Runs `body(worker)` on `count` workers, the first on this thread.
  template <typename Fn>
  void run(uint32_t count, Fn body) {
    while (workers.size() < count) {
      workers.push_back(std::make_unique<Worker>());
      if (workers.size() > 1) {
        size_t index = workers.size() - 1;
        // A thread born now must not mistake an older job for its own.
        std::thread([this, index, seen = generation]() mutable {
          serve(index, seen);
        }).detach();
      }
    }
    if (count == 1) {
      body(*workers[0]);
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      job = body;
      wanted = count;
      left = count - 1;
      ++generation;
    }
    begin.notify_all();
    body(*workers[0]);
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return left == 0; });
    job = nullptr;
  }

  std::mutex launchMutex; ///< one launch at a time

private:
  void serve(size_t index, uint64_t seen) {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      begin.wait(lock, [&] { return generation != seen; });
      seen = generation;
      if (index >= wanted)
        continue;
      auto body = job;
      Worker &worker = *workers[index];
      lock.unlock();
      body(worker);
      lock.lock();
      if (--left == 0)
        done.notify_one();
    }
  }

  std::vector<std::unique_ptr<Worker>> workers;
  std::mutex mutex;
  std::condition_variable begin, done;
  std::function<void(Worker &)> job;
  uint64_t generation = 0;
  size_t wanted = 0;
  size_t left = 0;
};

/// The `index`-th block of a seeded order: index -> (index * a + b) mod n with
/// a coprime to n.
struct BlockOrder {
  BlockOrder(uint64_t count, uint64_t seed) : count(count) {
    if (!seed || count < 2)
      return;
    Random random(seed ^ 0x5bf03635ull);
    auto bound = static_cast<uint32_t>(std::min<uint64_t>(count, ~0u));
    factor = random.below(bound) | 1;
    while (std::gcd(factor, count) != 1)
      ++factor;
    offset = random.below(bound);
  }
  uint64_t operator()(uint64_t index) const {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(index) * factor + offset) % count);
  }
  uint64_t count, factor = 1, offset = 0;
};

/// "" or why the launch is illegal.
std::string check(const LaunchState &state) {
  const uint64_t gridLimit[3] = {0x7fffffff, 65535, 65535};
  const uint64_t blockLimit[3] = {1024, 1024, 64};
  const char *axis[3] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) {
    if (state.grid[d] < 1 || state.grid[d] > gridLimit[d])
      return std::string("grid size ") + axis[d] + " is " +
             std::to_string(state.grid[d]) + ", expected 1 to " +
             std::to_string(gridLimit[d]);
    if (state.block[d] < 1 || state.block[d] > blockLimit[d])
      return std::string("block size ") + axis[d] + " is " +
             std::to_string(state.block[d]) + ", expected 1 to " +
             std::to_string(blockLimit[d]);
    uint32_t required = state.kernel->block[d];
    if (required && required != state.block[d])
      return std::string("block size ") + axis[d] + " is " +
             std::to_string(state.block[d]) + ", but the kernel requires " +
             std::to_string(required);
  }
  uint64_t threads = state.block[0] * state.block[1] * state.block[2];
  if (threads > MaxThreadsPerBlock)
    return "a block of " + std::to_string(threads) +
           " threads, expected at most " + std::to_string(MaxThreadsPerBlock);
  uint64_t shared = state.kernel->shared_bytes + state.dynamicSharedBytes;
  if (shared > MaxSharedBytes)
    return std::to_string(shared) +
           " bytes of shared memory, expected at most " +
           std::to_string(MaxSharedBytes);
  const tessera_virtual_options &options = state.options;
  if ((options.check || options.count) && !state.kernel->instrumented)
    return std::string(options.check ? "checking" : "counting") +
           " needs a kernel compiled with instrumentation "
           "(tessera compile --instrument)";
  if (!state.mma)
    return "this CPU lacks the vector extensions of simd level " +
           std::to_string(options.simd);
  return "";
}
} // namespace

std::string &tessera::vgpu::lastErrorText() { return lastError; }

extern "C" int tessera_virtual_launch(const tessera_virtual_object *object,
                                      uint32_t kernel, const uint64_t grid[3],
                                      const uint64_t block[3],
                                      uint32_t dynamic_shared_bytes,
                                      void **params) {
  if (!object || object->version != TESSERA_VIRTUAL_OBJECT_VERSION)
    return failWith("virtual-GPU object of version " +
                    std::to_string(object ? object->version : 0) +
                    ", expected " +
                    std::to_string(TESSERA_VIRTUAL_OBJECT_VERSION));
  if (kernel >= object->num_kernels)
    return failWith("kernel number " + std::to_string(kernel) +
                    " of an object that holds " +
                    std::to_string(object->num_kernels));
  LaunchState state;
  state.kernel = &object->kernels[kernel];
  std::copy(grid, grid + 3, state.grid);
  std::copy(block, block + 3, state.block);
  state.dynamicSharedBytes = dynamic_shared_bytes;
  state.params = params;
  std::string error;
  state.options = currentOptions(error);
  state.mma = selectMma(state.options.simd);
  std::string prefix = std::string("kernel ") + state.kernel->name + ": ";
  if (error.empty())
    error = check(state);
  if (!error.empty())
    return failWith(prefix + error);
  state.blocks = grid[0] * grid[1] * grid[2];
  state.threadsPerBlock = static_cast<uint32_t>(block[0] * block[1] * block[2]);

  uint32_t threads =
      state.options.threads ? state.options.threads : defaultThreads();
  threads = static_cast<uint32_t>(std::min<uint64_t>(threads, state.blocks));
  BlockOrder order(state.blocks, state.options.seed);
  std::mutex errorMutex;
  std::string failure;

  Reports reports(state.options.max_reports);
  if (state.options.check)
    state.reports = &reports;
  if (state.options.count)
    state.counters = &Counters::get();

  Pool &pool = Pool::get();
  std::lock_guard<std::mutex> lock(pool.launchMutex);
  pool.run(threads, [&](Worker &worker) {
    // Each block's order depends on the seed and the block alone, so a run
    // can be repeated with any number of OS threads.
    bool ok = worker.begin(state);
    while (ok && !state.failed.load(std::memory_order_relaxed)) {
      uint64_t next = state.nextBlock.fetch_add(1, std::memory_order_relaxed);
      if (next >= state.blocks)
        break;
      ok = worker.runBlock(order(next));
    }
    worker.end();
    if (!ok) {
      state.failed = true;
      std::lock_guard<std::mutex> guard(errorMutex);
      if (failure.empty())
        failure = worker.error;
    }
  });
  if (state.counters)
    state.counters->addLaunch(state.blocks, state.threadsPerBlock);
  std::string defects = reports.text();
  if (!defects.empty())
    failure += (failure.empty() ? "" : "\n") + defects;
  if (!failure.empty())
    return failWith(prefix + failure);
  return 0;
}

extern "C" int tessera_virtual_synchronize(void) {
  int code = lastCode;
  lastCode = 0;
  return code;
}

extern "C" const char *tessera_virtual_last_error(void) {
  return lastError.c_str();
}
