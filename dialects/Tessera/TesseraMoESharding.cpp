//===- TesseraMoESharding.cpp - how the ops of experts may be split -------===//
#include "dialects/Tessera/TesseraShardingUtils.h"

using namespace mlir;
using namespace tessera;

using Shardings = ArrayRef<TensorSharding>;
using MaybeRule = std::optional<ShardingRule>;

/// Axes that split tokens, batch first: those that split `capacity`.
static AxisList tokenAxes(const TensorSharding &tokens) {
  AxisList axes = tokens.dims[0];
  axes.append(tokens.dims[1].begin(), tokens.dims[1].end());
  return axes;
}

static constexpr uint32_t kCapacityPadded = 1u << 1;

MaybeRule RouterOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                    std::string &why) {
  TensorSharding x = complete(operands[0]);
  x.dims[2].clear();
  ShardingRule rule{{x, TensorSharding::replicated(2)}, {x, x}, {}};
  if (getBias())
    rule.operands.push_back(TensorSharding::replicated(1));
  return rule;
}

MaybeRule PermuteOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                     std::string &why) {
  TensorSharding x = complete(operands[0]);
  x.dims[2].clear();
  TensorSharding rows = TensorSharding::replicated(3);
  rows.dims[1] = tokenAxes(x);
  return ShardingRule{{x, x}, {rows}, {kCapacityPadded}};
}

MaybeRule GroupedLinearOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                           std::string &why) {
  TensorSharding weight = complete(operands[1]);
  TensorSharding x = complete(operands[0]);
  for (const AxisList &used : weight.dims)
    x.dims[1] = without(x.dims[1], used);
  x.dims[0] = weight.dims[0];
  x.dims[2] = weight.dims[2];
  TensorSharding result;
  result.dims = {weight.dims[0], x.dims[1], weight.dims[1]};
  result.partial = weight.dims[2];
  return ShardingRule{{x, weight}, {result}, {kCapacityPadded}};
}

MaybeRule CombineOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                     std::string &why) {
  TensorSharding tokens = complete(operands[1]);
  tokens.dims[2].clear();
  TensorSharding rows = TensorSharding::replicated(3);
  rows.dims[1] = tokenAxes(tokens);
  // A sum over axes that split no token can wait until after the combination.
  const TensorSharding &have = operands[0];
  if (have.kind == ReductionKind::Sum &&
      without(have.partial, rows.dims[1]) == have.partial)
    rows.partial = have.partial;
  TensorSharding result = tokens;
  result.partial = rows.partial;
  return ShardingRule{{rows, tokens, tokens}, {result}, {}};
}

MaybeRule SplitOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                   std::string &why) {
  TensorSharding x = complete(operands[0]);
  x.dims[2].clear();
  ShardingRule rule{{x}, {}, {}};
  rule.results.assign(getParts().size(), x);
  return rule;
}

MaybeRule LatentAttentionOp::getShardingRule(const Mesh &mesh,
                                             Shardings operands,
                                             std::string &why) {
  TensorSharding q = complete(operands[0]);
  q.dims[1].clear();
  int64_t heads =
      getQ().getType().getDimSize(2) / (getNopeDim() + getRopeDim());
  if (!splitsHeads(heads, q.dims[2], mesh, why))
    return std::nullopt;
  TensorSharding shared = q;
  shared.dims[2].clear();
  return ShardingRule{{q, q, shared, TensorSharding::replicated(3)}, {q}, {}};
}
