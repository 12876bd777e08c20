//===- CompareLosses.cpp - a run's losses against a reference -------------===//
#include "Runner.h"

#include "tessera/Runtime/Checkpoint.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tessera::rt;

namespace tessera::check {

namespace {
/// A tensor of f32 or i32, as doubles.
Expected<std::vector<double>> readTensor(const Checkpoint &file,
                                         const std::string &name) {
  const TensorInfo *tensor = file.find(name);
  if (!tensor)
    return failure("'", file.path(), "' has no tensor '", name, "'");
  bool integer = tensor->dtypeName == "I32";
  if (!integer && tensor->dtypeName != "F32")
    return failure("'", file.path(), "': tensor '", name,
                   "' should be F32 or I32, got ", tensor->describe());
  std::vector<double> values(tensor->bytes / 4);
  for (size_t i = 0; i < values.size(); ++i) {
    float number;
    int32_t whole;
    std::memcpy(&number, tensor->data + 4 * i, 4);
    std::memcpy(&whole, tensor->data + 4 * i, 4);
    values[i] = integer ? whole : number;
  }
  return values;
}

Status compare(const std::string &gotPath, const std::string &referencePath,
               double tolerance, bool useMean) {
  auto gotFile = Checkpoint::open(gotPath);
  if (!gotFile)
    return gotFile.status();
  auto referenceFile = Checkpoint::open(referencePath);
  if (!referenceFile)
    return referenceFile.status();
  auto got = readTensor(*gotFile, "nll");
  auto want = readTensor(*referenceFile, "nll");
  auto labels = readTensor(*referenceFile, "labels");
  for (const auto *tensor : {&got, &want, &labels})
    if (!*tensor)
      return tensor->status();
  if (got->size() != want->size() || labels->size() != want->size())
    return failure("the run has ", got->size(), " losses, the reference ",
                   want->size());
  double worst = 0, sum = 0, wanted = 0;
  int counted = 0;
  for (size_t i = 0; i < want->size(); ++i) {
    if ((*labels)[i] < 0)
      continue;
    double error = std::abs((*got)[i] - (*want)[i]);
    if (!(error <= worst))
      worst = error; // a NaN stays
    if (std::isnan(worst))
      return failure("token ", i, " has a loss that is not a number");
    sum += (*got)[i], wanted += (*want)[i];
    ++counted;
  }
  if (counted == 0)
    return failure("the reference '", referencePath, "' counts no token");
  double relative = std::abs(sum - wanted) / std::abs(wanted);
  std::printf("loss %.6f, reference %.6f, largest difference of one token %.1e"
              " (%d tokens)\n",
              sum / counted, wanted / counted, worst, counted);
  double difference = useMean ? relative : worst;
  if (!(difference <= tolerance))
    return failure(useMean ? "the mean's relative difference "
                           : "a token's difference ",
                   difference, " is more than ", tolerance);
  return Status::success();
}
} // namespace

bool compareLosses(const std::string &got, const std::string &reference,
                   double tolerance, bool mean) {
  Status status = compare(got, reference, tolerance, mean);
  if (status)
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return !status;
}

} // namespace tessera::check
