//===- RankProgram.h - a model's graph, partitioned, asked for costs ------===//
//
// The compiler's plan and partition are run once for each way of splitting the
// model over `tp`, on a graph of one sequence. What a layout changes beside
// that (microbatch, context and expert parallelism) only scales dimensions of
// the partitioned graph, so that the ops are asked for their costs on those
// shapes without any IR being made.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_FORECAST_RANKPROGRAM_H
#define TESSERA_LIB_FORECAST_RANKPROGRAM_H

#include "lib/Forecast/Backward.h"
#include "tessera/Interfaces/OpInterfaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera::forecast {

/// What scales the shapes of a partitioned graph.
struct RankSizes {
  int64_t microBatch = 1;
  int cp = 1, ep = 1, etp = 1;
};

/// One dimension of a tensor of the partitioned graph.
struct DimSpec {
  enum Kind : uint8_t {
    Fixed,
    Batch,         ///< times the microbatch
    Sequence,      ///< divided by cp
    Rows,          ///< of each expert, before tokens are exchanged
    ExchangedRows, ///< and after
    Experts,       ///< divided by ep
    ExpertWidth,   ///< divided by etp
  } kind = Fixed;
  int64_t size = 1;
};

struct TensorSpec {
  llvm::SmallVector<DimSpec, 4> dims;
  mlir::Type element;
  int producer = -1;
  RankTensor::Kind kind = RankTensor::Kind::Activation;
};

struct OpSpec {
  /// Null for an exchange of tokens, which the partitioner does not build.
  CostOpInterface op;
  /// Everything that does not depend on sizes.
  RankOp base;
};

struct ParameterSpec {
  int symbol = 0, tensor = 0;
  bool expert = false, perLayer = true;
};

struct BlockSpec {
  std::string name;
  std::vector<TensorSpec> tensors;
  std::vector<OpSpec> ops;
  std::vector<ParameterSpec> parameters;
  int input = -1;
  /// Where the block has experts: sequences' positions that one rank routes,
  /// experts in all, experts of each token.
  int64_t routedPositions = 0, experts = 0, chosen = 0;
  /// Tensors and ops whose size depends on ep or etp.
  llvm::SmallVector<int, 0> expertTensors, expertOps;
  BlockFacts facts;
};

class RankProgram {
public:
  /// `graph` is a forward graph of one sequence; it stays as it is.
  static llvm::Expected<std::unique_ptr<RankProgram>>
  build(mlir::ModuleOp graph, int tp, bool sequenceParallel);

  int numBlocks() const { return int(blocks.size()); }
  const std::vector<BlockCall> &getCalls() const { return calls; }
  /// Whether ep and etp matter to the block.
  bool hasExperts(int block) const { return blocks[block].experts > 0; }
  const BlockFacts &factsOf(int block) const { return blocks[block].facts; }

  /// A block on a rank, without expert parallelism.
  RankBlock evaluate(int block, int64_t microBatch, int cp) const;
  /// Makes of such a block one with expert parallelism.
  void splitExperts(int block, const RankSizes &sizes, RankBlock &made) const;
  /// Bytes of the residual stream that enters `head`, not split over tp.
  int64_t streamBytes(const RankBlock &head) const {
    return head.tensors[head.input].bytes() * (sequenceParallel ? tp : 1);
  }
  /// Elements of parameters that embedding and head share.
  int64_t sharedElements() const { return shared; }

private:
  friend class ProgramReader;
  void finish();
  /// Keeps the ops that `blocks` refers to.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<BlockSpec> blocks;
  std::vector<BlockCall> calls;
  int64_t shared = 0;
  int tp = 1;
  bool sequenceParallel = false;
};

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_RANKPROGRAM_H
