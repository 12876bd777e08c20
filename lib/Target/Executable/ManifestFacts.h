//===- ManifestFacts.h - what the manifest says of compiled kernels -------===//
#ifndef TESSERA_LIB_TARGET_EXECUTABLE_MANIFESTFACTS_H
#define TESSERA_LIB_TARGET_EXECUTABLE_MANIFESTFACTS_H

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Adds to the embedded manifest what the gpu.binary ops show, and puts it into
/// its ELF section. A module without a manifest stays as it is; failure after a
/// diagnostic.
mlir::LogicalResult addManifestFacts(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_EXECUTABLE_MANIFESTFACTS_H
