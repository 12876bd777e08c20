//===- Runner.h - runs the cases on a device --------------------*- C++ -*-===//
#ifndef TEST_KERNELCHECK_RUNNER_H
#define TEST_KERNELCHECK_RUNNER_H

#include "tessera/Runtime/Device.h"

#include <string>

namespace tessera::check {

struct RunOptions {
  std::string filter; ///< only cases whose name contains it
  int repeat = 20;    ///< timed launches of a case
  /// Changes one element of every result before it is compared, to see that
  /// the comparison finds it.
  bool spoil = false;
};

/// Runs every case that the program holds for this kind of device, prints a
/// line for each and a summary. True if all agree with their references.
bool runKernels(rt::Device &device, const RunOptions &options);

/// Compares the losses of a run (`nll` of `got`, a safetensors file) with a
/// reference (`nll`, and `labels` to tell which count). `tolerance` is of one
/// token; with `mean` the mean's relative difference counts instead. Prints one
/// line; true if within.
bool compareLosses(const std::string &got, const std::string &reference,
                   double tolerance, bool mean);

} // namespace tessera::check

#endif // TEST_KERNELCHECK_RUNNER_H
