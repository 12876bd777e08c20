//===- TesseraShardingRules.cpp - how the graph's ops may be split --------===//
//
// Each op's answer to the shardings that its operands have: the ones it needs
// and the ones its results then have. Weights lie where the plan put them and
// activations follow. Column- and row-parallel products and the split
// vocabulary are Megatron-LM's (Shoeybi et al. 2019, arXiv 1909.08053);
// sequence parallelism (Korthikanti et al. 2022, arXiv 2205.05198) is no
// special case: a residual stream split over the sequence makes `add` ask for
// a reduce-scatter and `linear` for an all-gather.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraShardingUtils.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

using Shardings = ArrayRef<TensorSharding>;
using MaybeRule = std::optional<ShardingRule>;

/// Number of parts that `x` is split into.
static int64_t countParts(const TensorSharding &x, const Mesh &mesh) {
  int64_t parts = 1;
  for (const AxisList &dim : x.dims)
    parts *= mesh.sizeOf(dim);
  return parts;
}

/// The sharding in which two complete operands of one shape meet: the finer
/// one, which the other reaches without communication if it is replicated.
static TensorSharding meet(const TensorSharding &a, const TensorSharding &b,
                           const Mesh &mesh) {
  return complete(countParts(b, mesh) > countParts(a, mesh) ? b : a);
}

MaybeRule EmbeddingOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                       std::string &why) {
  TensorSharding table = complete(operands[1]);
  TensorSharding tokens = complete(operands[0]);
  for (AxisList &dim : tokens.dims)
    dim = without(without(dim, table.dims[0]), table.dims[1]);
  TensorSharding result;
  result.dims = {tokens.dims[0], tokens.dims[1], table.dims[1]};
  result.partial = table.dims[0];
  ShardingRule rule{{tokens, table}, {result}, {}};
  if (getOffset())
    rule.operands.push_back({});
  return rule;
}

MaybeRule AddPositionsOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                          std::string &why) {
  TensorSharding x = complete(operands[0]);
  TensorSharding table;
  table.dims = {{}, x.dims[2]};
  ShardingRule rule{{x, table}, {x}, {}};
  if (getOffset())
    rule.operands.push_back({});
  return rule;
}

MaybeRule LinearOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                    std::string &why) {
  TensorSharding weight = complete(operands[1]);
  bool outIn = getWeightLayout() == WeightLayout::OutIn;
  const AxisList &out = weight.dims[outIn ? 0 : 1];
  const AxisList &in = weight.dims[outIn ? 1 : 0];
  TensorSharding x = complete(operands[0]);
  for (int dim : {0, 1})
    x.dims[dim] = without(without(x.dims[dim], out), in);
  x.dims[2] = in;
  TensorSharding result;
  result.dims = {x.dims[0], x.dims[1], out};
  result.partial = in;
  // Where the weight's rows are padded, so are the result's columns.
  return ShardingRule{{x, weight}, {result}, {1u << 2}};
}

MaybeRule AddBiasOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                     std::string &why) {
  TensorSharding x = complete(operands[0]);
  TensorSharding bias;
  bias.dims = {x.dims[2]};
  // Logits of a padded vocabulary have a padded bias.
  return ShardingRule{{x, bias}, {x}, {1u << 2}};
}

MaybeRule RMSNormOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                     std::string &why) {
  TensorSharding x = complete(operands[0]);
  int64_t groups =
      getX().getType().getDimSize(2) / getWeight().getType().getDimSize(0);
  // Norms of heads keep a width split at whole heads; anything else is
  // gathered.
  if (groups % mesh.sizeOf(x.dims[2]) != 0)
    x.dims[2].clear();
  return ShardingRule{{x, TensorSharding::replicated(1)}, {x}, {}};
}

MaybeRule LayerNormOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                       std::string &why) {
  TensorSharding x = complete(operands[0]);
  x.dims[2].clear();
  ShardingRule rule{{x, TensorSharding::replicated(1)}, {x}, {}};
  if (getBias())
    rule.operands.push_back(TensorSharding::replicated(1));
  return rule;
}

MaybeRule RotaryOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                    std::string &why) {
  TensorSharding x = complete(operands[0]);
  x.dims[1].clear(); // Row s uses table row s.
  int64_t heads = getX().getType().getDimSize(2) / getHeadDim();
  if (!splitsHeads(heads, x.dims[2], mesh, why))
    return std::nullopt;
  return ShardingRule{{x, TensorSharding::replicated(3)}, {x}, {}};
}

/// The axes of the queries' width over which the key-value heads are split:
/// the longest prefix that divides them. Over the rest they are replicated,
/// which gives the right groups only if one key-value head is left to a rank.
static std::optional<AxisList> keyValueAxes(int64_t heads, const AxisList &axes,
                                            const Mesh &mesh,
                                            std::string &why) {
  AxisList best;
  for (size_t n = 0; n <= axes.size(); ++n) {
    AxisList prefix(axes.begin(), axes.begin() + n);
    if (heads % mesh.sizeOf(prefix) == 0)
      best = prefix;
  }
  int64_t ranks = mesh.sizeOf(axes), split = mesh.sizeOf(best);
  if (split == ranks || heads / split == 1)
    return best;
  why = llvm::formatv("{0} key-value heads cannot be shared by {1} ranks along "
                      "{2}; ",
                      heads, ranks, axisText(axes, mesh))
            .str();
  if (ranks % heads == 0)
    why += llvm::formatv("split the axis in two, {0} for queries, keys and "
                         "values and {1} for queries alone",
                         heads, ranks / heads)
               .str();
  else
    why += llvm::formatv("the number of ranks must divide {0} or be a multiple "
                         "of it",
                         heads)
               .str();
  return std::nullopt;
}

MaybeRule AttentionOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                       std::string &why) {
  TensorSharding q = complete(operands[0]);
  q.dims[1].clear();
  int64_t heads = getQ().getType().getDimSize(2) / getHeadDim();
  int64_t kvHeads = getK().getType().getDimSize(2) / getHeadDim();
  if (!splitsHeads(heads, q.dims[2], mesh, why))
    return std::nullopt;
  std::optional<AxisList> axes = keyValueAxes(kvHeads, q.dims[2], mesh, why);
  if (!axes)
    return std::nullopt;
  TensorSharding kv = q;
  kv.dims[2] = *axes;
  return ShardingRule{{q, kv, kv}, {q}, {}};
}

MaybeRule SwigluOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                    std::string &why) {
  TensorSharding x = meet(operands[0], operands[1], mesh);
  return ShardingRule{{x, x}, {x}, {}};
}

MaybeRule ActivationOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                        std::string &why) {
  TensorSharding x = complete(operands[0]);
  return ShardingRule{{x}, {x}, {}};
}

MaybeRule AddOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                 std::string &why) {
  const TensorSharding &lhs = operands[0], &rhs = operands[1];
  // The sum of two partial sums is one: a single reduction serves both.
  if (lhs.isPartial() && lhs == rhs && lhs.kind == ReductionKind::Sum)
    return ShardingRule{{lhs, lhs}, {lhs}, {}};
  TensorSharding x;
  if (lhs.isPartial() != rhs.isPartial())
    x = lhs.isPartial() ? rhs : lhs;
  else
    x = meet(lhs, rhs, mesh);
  return ShardingRule{{x, x}, {x}, {}};
}

MaybeRule CrossEntropyOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                          std::string &why) {
  TensorSharding logits = complete(operands[0]);
  TensorSharding labels;
  labels.dims = {logits.dims[0], logits.dims[1]};
  return ShardingRule{{logits, labels}, {labels}, {}};
}

MaybeRule TokenSumOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                      std::string &why) {
  TensorSharding nll = complete(operands[0]);
  TensorSharding result = TensorSharding::replicated(1);
  result.partial = nll.dims[0];
  result.partial.append(nll.dims[1].begin(), nll.dims[1].end());
  return ShardingRule{{nll, nll}, {result}, {}};
}

MaybeRule TokenMeanOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                       std::string &why) {
  return ShardingRule{
      {TensorSharding::replicated(1)}, {TensorSharding::replicated(0)}, {}};
}
