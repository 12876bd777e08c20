//===- ForwardEstimate.h - what the forward program will do -----*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_FORWARDESTIMATE_H
#define TESSERA_LIB_PIPELINES_FORWARDESTIMATE_H

#include <cstdint>
#include <string>

namespace tessera {

struct ForwardEstimateOptions {
  std::string model;
  std::string layout; ///< "tp=2,dp=2,sp"
  int64_t sequence = 0;
  int64_t batch = 0; ///< of all ranks together; 0: dp times mb
  std::string dtype;
  bool json = false;
};

/// `tessera estimate --forward`: FLOPs, collectives and memory of one rank's
/// forward program. Returns the command's exit status.
int forwardEstimate(const ForwardEstimateOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_FORWARDESTIMATE_H
