//===- Output.h - results of a run ------------------------------*- C++ -*-===//
//
// Private to Program: global outputs out of every rank's part, and files that
// appear whole or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_OUTPUT_H
#define TESSERA_LIB_RUNTIME_PROGRAM_OUTPUT_H

#include "tessera/Runtime/Manifest.h"
#include "tessera/Runtime/World.h"

namespace tessera::rt {

/// One output, whole.
struct GlobalOutput {
  const ShardedTensor *tensor;
  std::vector<float> values; ///< global_shape, row-major
};

/// Brings the local parts (in the order of manifest.outputs) together on every
/// rank. Ranks that hold the same part must hold the same bits; if not, the
/// failure names the output and two ranks.
Status gatherOutputs(const Manifest &manifest, World &world,
                     const std::vector<std::vector<float>> &local,
                     std::vector<GlobalOutput> &outputs);

/// Writes "nll" to x.npy, or all outputs to x.safetensors, under a temporary
/// name which becomes `path` when all bytes are on disk.
Status writeOutputs(const std::string &path,
                    const std::vector<GlobalOutput> &outputs);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_OUTPUT_H
