//===- RankModel.h - one rank's program as plain numbers ------------------===//
//
// What is left of a partitioned graph once its ops have been asked for their
// costs on some local shapes: ops with their role, cost and tensors. Nothing
// here depends on a software stack; see Lowering.h for what a stack makes of
// it. No MLIR type, so that the steps behind it are pure functions.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_FORECAST_RANKMODEL_H
#define TESSERA_LIB_FORECAST_RANKMODEL_H

#include "tessera/CostModel/Features.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::forecast {

/// What an op is for. Stacks differ in what they make of a role, never in a
/// single op.
enum class OpRole : uint8_t {
  Embedding,
  Positions, ///< learned positions are added
  Linear,
  Head, ///< the product that makes the logits
  Bias,
  Norm,
  Rotary,
  Attention,
  LatentAttention,
  Activation, ///< of one tensor, or gated of two
  Add,
  Loss,     ///< passes over the logits
  LossTail, ///< what is left to do per token after that
  Router,
  Permute,
  Combine,
  GroupedLinear,
  View,       ///< names a part of a tensor; no kernel
  Collective, ///< between ranks
};

struct RankTensor {
  int64_t elements = 0;
  int64_t elementBytes = 2;
  /// The op of the block that makes it; -1 for an argument of the block.
  int producer = -1;
  enum class Kind : uint8_t { Activation, Weight, Constant };
  Kind kind = Kind::Activation;

  int64_t bytes() const { return elements * elementBytes; }
};

/// Where a collective runs, and on what.
struct RankCollective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ParallelAxis axis = ParallelAxis::TP;
  /// As CollectiveFeature::bytes counts them.
  int64_t bytes = 0;
  /// A part is taken of what all hold: moves nothing forward.
  bool slice = false;
};

/// Sizes of an attention on this rank.
struct AttentionSizes {
  int64_t heads = 0;          ///< batch * query heads
  int64_t rows = 0, keys = 0; ///< positions of queries, of keys
  int64_t keyWidth = 0, valueWidth = 0, rotaryWidth = 0;
  bool relative = false; ///< a further product of queries, with distances
};

struct RankOp {
  OpRole role = OpRole::View;
  OpCost cost;
  llvm::SmallVector<int, 4> operands; ///< tensors; -1: no tensor
  llvm::SmallVector<int, 2> results;
  /// A linear whose weight is split over its outputs: the gradient of its
  /// input is a partial sum over `tp`.
  bool splitsOutput = false;
  /// A norm without mean and shift (RMSNorm).
  bool rootMeanSquare = false;
  AttentionSizes attention;
  RankCollective collective;
  /// Experts of this rank (grouped products), or of the model (router).
  int64_t experts = 0;
  int64_t chosen = 0; ///< experts for each token, where they matter
};

struct RankParameter {
  int symbol = 0; ///< equal for equal parameters of one model
  int tensor = 0;
  int64_t elements = 0;
  bool expert = false;
  /// One for each layer; else all calls of the block share one.
  bool perLayer = true;
};

struct RankBlock {
  std::string name;
  std::vector<RankTensor> tensors;
  std::vector<RankOp> ops;
  std::vector<RankParameter> parameters;
  int input = -1; ///< the residual stream that enters; -1: tokens do
};

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_RANKMODEL_H
