//===- Runner.cpp - runs the cases on a device ----------------------------===//
#include "Runner.h"

#include "Launches.h"
#include "Problem.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace tessera::rt;

namespace tessera::check {

namespace {
/// Rows of a large result that are compared, spread evenly, both ends among
/// them.
constexpr int64_t kSampledRows = 24;

/// How far off the results of one case are.
struct Difference {
  double largest = 0; ///< absolute
  double share = 0;   ///< largest error as a share of its tolerance
  std::string first;  ///< the first element out of tolerance
};

/// Device memory and a stream of one case; released with it.
class Arguments {
public:
  explicit Arguments(Device &device) : device(device) {}
  ~Arguments() {
    for (void *pointer : pointers)
      (void)device.release(pointer);
  }
  Status prepare(Problem &problem) {
    pointers.reserve(problem.tensors.size());
    for (Tensor &tensor : problem.tensors) {
      auto memory = device.allocate(tensor.byteSize());
      if (!memory)
        return memory.status();
      pointers.push_back(*memory);
      if (Status s =
              device.copyToDevice(*memory, tensor.data(), tensor.byteSize()))
        return s;
    }
    for (void *&pointer : pointers)
      parameters.push_back(&pointer);
    if (problem.scalar)
      parameters.push_back(&*problem.scalar);
    return Status::success();
  }
  Status fetch(Problem &problem) {
    for (const Output &output : problem.outputs) {
      Tensor &tensor = problem.tensors[output.argument];
      if (Status s = device.copyToHost(tensor.data(), pointers[output.argument],
                                       tensor.byteSize()))
        return s;
    }
    return Status::success();
  }
  void **data() { return parameters.data(); }

private:
  Device &device;
  std::vector<void *> pointers;
  std::vector<void *> parameters;
};

void compareRow(const Output &output, const Tensor &result, int64_t row,
                Difference &difference) {
  std::vector<Expected> expected(output.width);
  output.reference(row, expected.data());
  for (int64_t c = 0; c < output.width; ++c) {
    double got = result[row * output.width + c];
    double error = std::abs(got - expected[c].value);
    // Also where either is NaN, which no comparison with it shows.
    bool within = error <= expected[c].tolerance;
    if (!(error <= difference.largest))
      difference.largest = error;
    double share = within ? (error > 0 ? error / expected[c].tolerance : 0)
                          : std::max(error / expected[c].tolerance, 1.0);
    if (!(share <= difference.share))
      difference.share = share;
    if (!within && difference.first.empty()) {
      char text[160];
      std::snprintf(
          text, sizeof text,
          "row %lld, column %lld: expected %.9g within %.2g, got %.9g",
          static_cast<long long>(row), static_cast<long long>(c),
          expected[c].value, expected[c].tolerance, got);
      difference.first = text;
    }
  }
}

Difference compare(const Problem &problem, bool sample) {
  Difference difference;
  for (const Output &output : problem.outputs) {
    int64_t rows = sample ? std::min(kSampledRows, output.rows) : output.rows;
    for (int64_t i = 0; i < rows; ++i) {
      int64_t row = rows > 1 ? i * (output.rows - 1) / (rows - 1) : 0;
      compareRow(output, problem.tensors[output.argument], row, difference);
    }
  }
  return difference;
}

/// Rate of one launch for people: products by operations, the rest by memory.
std::string rate(const Problem &problem, double microseconds) {
  char text[64];
  if (problem.flops > 0)
    std::snprintf(text, sizeof text, "%9.3f TFLOP/s",
                  problem.flops / microseconds * 1e-6);
  else
    std::snprintf(text, sizeof text, "%9.1f GB/s",
                  problem.bytes / microseconds * 1e-3);
  return text;
}

class Run {
public:
  Run(Device &device, const RunOptions &options)
      : device(device), options(options) {}
  Status open();
  Status close();
  /// False if the result is wrong; a failure if there is none.
  rt::Expected<bool> tryCase(const Case &item,
                             const tessera_check_launch &launch);

private:
  Status enqueue(const tessera_check_launch &launch, Arguments &arguments) {
    LaunchDims dims{{launch.grid[0], launch.grid[1], launch.grid[2]},
                    {launch.block[0], launch.block[1], launch.block[2]},
                    launch.dynamic_shared_bytes};
    return device.launch(launch.table, launch.kernel, dims, stream,
                         arguments.data());
  }
  rt::Expected<double> time(const tessera_check_launch &launch,
                            Arguments &arguments);

  Device &device;
  const RunOptions &options;
  void *stream = nullptr, *begin = nullptr, *end = nullptr;
};
} // namespace

Status Run::open() {
  auto made = device.createStream();
  if (!made)
    return made.status();
  stream = *made;
  for (void **event : {&begin, &end}) {
    auto one = device.createEvent();
    if (!one)
      return one.status();
    *event = *one;
  }
  return Status::success();
}

Status Run::close() {
  for (void *event : {begin, end})
    if (Status s = device.destroyEvent(event))
      return s;
  return device.destroyStream(stream);
}

/// Microseconds of one launch, the mean of a row of them between two events.
rt::Expected<double> Run::time(const tessera_check_launch &launch,
                               Arguments &arguments) {
  int repeat = device.kind() == DeviceKind::Virtual ? 1 : options.repeat;
  if (Status s = device.record(begin, stream))
    return s;
  for (int i = 0; i < repeat; ++i)
    if (Status s = enqueue(launch, arguments))
      return s;
  if (Status s = device.record(end, stream))
    return s;
  if (Status s = device.synchronize(stream))
    return s;
  auto milliseconds = device.elapsed(begin, end);
  if (!milliseconds)
    return milliseconds.status();
  return *milliseconds * 1000 / repeat;
}

rt::Expected<bool> Run::tryCase(const Case &item,
                                const tessera_check_launch &launch) {
  Problem problem;
  std::visit([&](const auto &spec) { makeProblem(spec, problem); }, item.spec);
  Arguments arguments(device);
  if (Status s = arguments.prepare(problem))
    return s;
  if (Status s = enqueue(launch, arguments))
    return s;
  if (Status s = device.synchronize(stream))
    return s;
  auto microseconds = time(launch, arguments);
  if (!microseconds)
    return microseconds.status();
  // No kernel works in place here, so the repeated result is the first one.
  if (Status s = arguments.fetch(problem))
    return s;
  if (options.spoil)
    for (const Output &output : problem.outputs) {
      Tensor &tensor = problem.tensors[output.argument];
      tensor.set(tensor.size() - 1, tensor[tensor.size() - 1] + 1);
    }
  Difference difference = compare(problem, item.large);
  bool good = difference.first.empty();
  std::printf("%-5s %-38s error %8.2e, %5.1f %% of tolerance, %10.1f us %s\n",
              good ? "ok" : "WRONG", item.name.c_str(), difference.largest,
              100 * difference.share, *microseconds,
              rate(problem, *microseconds).c_str());
  if (!good)
    std::printf("      %s\n", difference.first.c_str());
  std::fflush(stdout);
  return good;
}

bool runKernels(Device &device, const RunOptions &options) {
  std::map<std::string, const tessera_check_launch *> launches;
  for (uint64_t i = 0; i < tessera_check_num_launches; ++i) {
    const tessera_check_launch &launch = tessera_check_launches[i];
    launches[launch.table->kernel_names[launch.kernel]] = &launch;
  }
  Run run(device, options);
  if (Status s = run.open()) {
    std::fprintf(stderr, "error: %s\n", s.message().c_str());
    return false;
  }
  int good = 0, wrong = 0, skipped = 0;
  for (const Case &item : allCases()) {
    if (item.name.find(options.filter) == std::string::npos)
      continue;
    auto found = launches.find(item.name);
    // Large kernels are not compiled for the virtual GPU, nor for this program
    // if it was built without them.
    if (item.large &&
        (found == launches.end() || device.kind() == DeviceKind::Virtual)) {
      ++skipped;
      continue;
    }
    if (found == launches.end()) {
      std::printf("WRONG %s: the program holds no such kernel\n",
                  item.name.c_str());
      ++wrong;
      continue;
    }
    auto agrees = run.tryCase(item, *found->second);
    if (!agrees)
      std::printf("WRONG %s: %s\n", item.name.c_str(),
                  agrees.message().c_str());
    ++(agrees && *agrees ? good : wrong);
  }
  if (Status s = run.close()) {
    std::fprintf(stderr, "error: %s\n", s.message().c_str());
    return false;
  }
  std::printf("%d kernels agree with their references, %d do not", good, wrong);
  if (skipped)
    std::printf(", %d large ones left out", skipped);
  std::printf("\n");
  if (good + wrong == 0)
    std::fprintf(stderr, "error: no kernel matches '%s'\n",
                 options.filter.c_str());
  return wrong == 0 && good > 0;
}

} // namespace tessera::check
