//===- Words.h - what the words of a row mean -----------------------------===//
//
// Sources name chips, networks, number formats and frameworks each in their own
// way. What is understood becomes a fact of the run; what is not is either
// refused (a chip, a number format: nothing could be predicted) or taken as not
// stated, with a remark.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_WORDS_H
#define TESSERA_LIB_PLANNING_VALIDATE_WORDS_H

#include "Point.h"
#include "tessera/CostModel/Constants.h"
#include "tessera/Hardware/Cluster.h"
#include "tessera/Planning/FeatureSource.h"

namespace tessera {

/// "A100-SXM4-80GB", "8x NVIDIA H100 80GB HBM3", "V100 (DGX-2)",
/// "p4d.24xlarge": the part of the table, or an error that names what is not in
/// it.
llvm::Expected<Chip> chipOf(llvm::StringRef text);

/// The cluster of a run: the chip's usual servers, with the GPUs of a node and
/// the network that the row states.
Cluster clusterOf(const Point &point, const Chip &chip, int gpus);

/// Fails on formats that no run is modelled in (32 bits, quantised weights).
llvm::Expected<Precision> precisionOf(const Point &point);

/// What is recomputed, and of how many layers (0.5: of every second one).
struct Recomputation {
  bool stated = false;
  bool understood = true;
  RecomputeKind kind = RecomputeKind::None;
  double share = 1;
};
Recomputation recomputationOf(llvm::StringRef text);

/// Changes the framework's traits to what the row says of this run: its
/// attention, whether it was compiled.
void applyPractice(const Point &point, StackTraits &traits);

/// Changes what a published recipe sets and its table does not print: token
/// dispatcher, what is overlapped, CUDA graphs.
void applyRecipe(const Point &point, StackTraits &traits, Layout &layout);

/// Ranks over which ZeRO shards where the row says that they are fewer than dp
/// ("shard_group=8", "HSDP": the GPUs of a node), or 0.
int shardGroupOf(const Point &point, int gpusPerNode);

/// What the run did and the model does not know ("offload"), or "".
std::string notModelled(const Point &point);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_WORDS_H
