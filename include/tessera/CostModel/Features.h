//===- Features.h - what the cost model is told about a model -------------===//
//
// The time and memory models take plain features, never IR: for every distinct
// block the ops' costs on local shapes for one microbatch, the collectives it
// issues, its parameters, and how the blocks are chained. The planner fills
// them from the graph's cost interface with shapes it imagines; a compiled
// program could fill them with the shapes it has.
//
// All sizes are those of one rank. "Local" means after tensor, sequence,
// context and expert parallelism; ZeRO and pipelining are applied by the cost
// model itself from the layout.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_FEATURES_H
#define TESSERA_COSTMODEL_FEATURES_H

#include "tessera/CostModel/Layout.h"
#include "tessera/Hardware/Chip.h"
#include "tessera/Interfaces/Cost.h"
#include <string>
#include <vector>

namespace tessera {

/// One operation of a block.
struct OpFeature {
  KernelClass kernel = KernelClass::None;
  /// Element type that the matrix units work in.
  DataType type = DataType::BF16;
  MatmulShape shape;
  PassCost forward;
  PassCost backward;
  /// Bytes kept from forward to backward when nothing is recomputed; a tensor
  /// kept by several ops is counted by one of them.
  int64_t savedBytes = 0;
  /// Kernels started by the host in each direction.
  int forwardLaunches = 1;
  int backwardLaunches = 1;
  /// Belongs to what selective recomputation recomputes: the attention core
  /// where it is not fused, norms and activation functions where it is; all but
  /// fused attention and every second product where the stack chooses by
  /// operation.
  bool selective = false;
  /// Bytes kept beside `savedBytes` when others are recomputed selectively: a
  /// product's result from which what the backward pass needs is made anew.
  int64_t selectiveBytes = 0;
};

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  SendRecv,
};
llvm::StringRef nameOf(CollectiveKind kind);

/// A collective that a block issues for each microbatch.
struct CollectiveFeature {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ParallelAxis axis = ParallelAxis::TP;
  /// AllReduce: the tensor. AllGather: the gathered result. ReduceScatter: the
  /// whole operand. AllToAll and SendRecv: what one rank holds and sends.
  int64_t bytes = 0;
  /// How often in each direction; forward ones are repeated by recomputation.
  int forwardCount = 0;
  int backwardCount = 0;
  /// May run beside independent compute of the same block (ring attention's
  /// key-value exchange, split tensor-parallel matmuls).
  bool overlappable = false;
  /// AllToAll of experts: copies of each token among `bytes` (top-k). A fused
  /// dispatcher sends a token once to each node and fans it out there.
  int copies = 1;
};

struct BlockFeatures {
  std::string name;
  std::vector<OpFeature> ops;
  std::vector<CollectiveFeature> collectives;
  /// Local parameter elements, replicated over the data-parallel group ...
  int64_t denseParameters = 0;
  /// ... and those of experts, replicated over dp*cp*tp/(ep*etp) ranks.
  int64_t expertParameters = 0;
  /// Bytes of the block's input: what full recomputation keeps.
  int64_t inputBytes = 0;
  /// Memory that lives only while the block runs (largest temporary).
  int64_t transientBytes = 0;
};

/// `count` calls of one block, in order of execution.
struct BlockCall {
  int block = 0;
  int count = 1;
  /// Pinned calls (embedding, head) stay on the first or last stage; the
  /// others are the layers that a stage partition distributes.
  bool pinned = false;
};

struct ModelFeatures {
  std::vector<BlockFeatures> blocks;
  std::vector<BlockCall> calls;
  /// Bytes one rank sends to the next stage for one microbatch.
  int64_t boundaryBytes = 0;

  /// Layers that a stage partition distributes.
  int numLayers() const;
  /// Block index of each such layer, in order.
  std::vector<int> layerBlocks() const;
};

/// What is asked for, apart from the layout.
struct Workload {
  int64_t globalBatch = 1;
  int64_t sequence = 1;
  /// Bytes per parameter element of weights, of gradients as accumulated and
  /// as communicated, and of the optimizer (master copy and both moments).
  double weightBytes = 2;
  double gradientBytes = 4;
  double gradientCommBytes = 4;
  double optimizerBytes = 12;
  /// Bytes that a weight keeps on its rank between passes where ZeRO 3 shards
  /// it: 0 where the optimizer's master copy is the shard (PyTorch's FSDP).
  double shardedWeightBytes = 2;
  /// Bytes per parameter that exist beside the optimizer's state only while it
  /// steps (32-bit copies of 16-bit gradients), divided as that is.
  double stepBytes = 0;
  /// Share of a block whose parameters and gradients exist whole at a time
  /// where they are sharded: less than 1 where weights are gathered one by one.
  double wholeShare = 1;
  /// Layers of each stage, from its first on, whose activations wait in the
  /// host's memory.
  int offloadedLayers = 0;
  /// Share of the parameters that are trained (adapters: nearly none).
  double trainedFraction = 1;
  /// Share of the allocated peak that the allocator loses to fragmentation.
  double allocatorReserve = 0.04;
  /// Share of it that the allocator holds besides where the device has room.
  double cachedShare = 0;
  /// Bytes that a pipeline engine keeps for each microbatch in flight beside
  /// the blocks' activations (DeepSpeed keeps every stage's output).
  double pipelineBufferBytes = 0;
};

struct StackTraits;
/// What a software stack fixes of a workload: how it holds memory.
Workload workloadOf(const StackTraits &traits);

} // namespace tessera

#endif // TESSERA_COSTMODEL_FEATURES_H
