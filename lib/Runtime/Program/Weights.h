//===- Weights.h - filling the parameter arena ------------------*- C++ -*-===//
//
// Private to Program: parameters from a checkpoint or drawn, and tables.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_WEIGHTS_H
#define TESSERA_LIB_RUNTIME_PROGRAM_WEIGHTS_H

#include "tessera/Runtime/Checkpoint.h"
#include "tessera/Runtime/Device.h"
#include "tessera/Runtime/Manifest.h"

namespace tessera::rt {

/// Everything this rank will read, checked: presence, type and shape of each
/// tensor.
Status checkWeights(const Manifest &manifest, const Checkpoint &checkpoint,
                    const std::vector<int64_t> &coords);

/// Reads this rank's slices into the parameter arena at `params` (device).
Status loadWeights(const Manifest &manifest, const Checkpoint &checkpoint,
                   const std::vector<int64_t> &coords, Device &device,
                   char *params);

/// Fails if a parameter has no initialiser.
Status checkInitialisers(const Manifest &manifest);

/// Draws the parameters. An element's value depends on `seed`, its tensor's
/// name and its position in the global tensor alone, so it is the same under
/// every layout.
Status drawWeights(const Manifest &manifest, uint64_t seed,
                   const std::vector<int64_t> &coords, Device &device,
                   char *params);

/// Computes the rotary tables (in double precision).
Status fillTables(const Manifest &manifest, Device &device, char *params);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_WEIGHTS_H
