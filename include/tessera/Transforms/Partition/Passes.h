//===- Passes.h - one rank's program ----------------------------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_PARTITION_PASSES_H
#define TESSERA_TRANSFORMS_PARTITION_PASSES_H

#include "tessera/Analysis/Sharding/PartitionAnalysis.h"

#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "lib/Transforms/Partition/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Partition/Passes.h.inc"

/// What a rewrite did.
struct PartitionStatistics {
  int64_t collectives = 0, shared = 0, merged = 0, functions = 0;
};

/// Rewrites `module` into one rank's program as `analysis` says, which must
/// have been made from this very module. Emits an error on failure.
mlir::LogicalResult applyPartition(mlir::ModuleOp module,
                                   const PartitionAnalysis &analysis,
                                   PartitionStatistics &statistics);

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PARTITION_PASSES_H
