//===- Counts.h - what one rank's program does ------------------*- C++ -*-===//
//
// Adds up, over a partitioned module, the costs that its ops state
// (CostOpInterface), the collectives per communicator, and the memory of the
// arena plan. A block's counts are multiplied by its number of layers, so that
// the figures are those of one forward pass of one rank.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_COUNTS_H
#define TESSERA_ANALYSIS_COUNTS_H

#include "tessera/Interfaces/Cost.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace tessera {

/// One kind of call to the communication library, as the manifest lists it.
struct CollectiveKey {
  std::string op;                ///< all_reduce, all_gather, ...
  std::vector<std::string> axes; ///< the communicator
  std::string dtype;             ///< element type as MLIR spells it
  /// Elements: the count argument of the NCCL call (all_gather: what one rank
  /// sends; reduce_scatter: what one rank receives; all_to_all: what one rank
  /// sends to one other).
  int64_t count = 0;

  bool operator<(const CollectiveKey &o) const {
    return std::tie(op, axes, dtype, count) <
           std::tie(o.op, o.axes, o.dtype, o.count);
  }
};

struct CollectiveCount {
  int64_t calls = 0;
  /// calls * bytes of the whole tensor (all_gather: its result; the others:
  /// the operand), as the run reports them.
  int64_t bytes = 0;
  /// Bytes that a rank receives with bandwidth-optimal algorithms, see
  /// ReshardStep::bytesMoved.
  int64_t bytesMoved = 0;
};

struct ProgramCounts {
  /// Of all ops on tensors. In a `kernel.group` what stays inside the group is
  /// neither read nor written.
  PassCost forward;
  std::map<CollectiveKey, CollectiveCount> collectives;
  /// Ops by name; a group counts as one `kernel.group`, its ops not at all.
  std::map<std::string, int64_t> ops;
  /// One rank's parameters, all layers.
  int64_t parameterBytes = 0;
  /// Activations alive at the worst moment, and the arena that holds them.
  int64_t peakLiveBytes = 0;
  int64_t arenaBytes = 0;

  llvm::json::Value toJSON() const;
};

/// Counts a partitioned module, before its groups become launches. Emits an
/// error and fails on an op whose cost is unknown.
mlir::FailureOr<ProgramCounts> countProgram(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_ANALYSIS_COUNTS_H
