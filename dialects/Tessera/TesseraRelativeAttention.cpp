//===- TesseraRelativeAttention.cpp - scores that depend on the distance --===//
//
// Verifiers, costs and partition rules of TesseraRelativeOps.td; the formulas
// and their sources stand there.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraCostUtils.h"
#include "dialects/Tessera/TesseraShardingUtils.h"
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

using Types = ArrayRef<RankedTensorType>;
using Shardings = ArrayRef<TensorSharding>;
using MaybeRule = std::optional<ShardingRule>;

//===----------------------------------------------------------------------===//
// sinusoid_table
//===----------------------------------------------------------------------===//

LogicalResult SinusoidTableOp::verify() {
  if (failed(verifyRank(*this, "the result", getResult(), 3)))
    return failure();
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  if (shape[0] != 1)
    return emitOpError() << "expects a result of batch 1, got " << shape[0];
  if (shape[2] < 2 || shape[2] % 2 != 0)
    return emitOpError() << "expects an even width of at least 2, got "
                         << shape[2];
  return success();
}

OpCost SinusoidTableOp::getCost(Types operands, Types results) { return {}; }

MaybeRule SinusoidTableOp::getShardingRule(const Mesh &mesh, Shardings operands,
                                           std::string &why) {
  return ShardingRule{{}, {TensorSharding::replicated(3)}, {}};
}

//===----------------------------------------------------------------------===//
// relative_attention
//===----------------------------------------------------------------------===//

LogicalResult RelativeAttentionOp::verify() {
  if (failed(verifyRank(*this, "q", getQ(), 3)) ||
      failed(verifyRank(*this, "r", getR(), 3)) ||
      failed(verifyHeads(*this, "q", getQ(), getHeadDim())))
    return failure();
  ArrayRef<int64_t> q = getQ().getType().getShape();
  for (auto [name, value] : {std::pair<StringRef, Value>{"k", getK()},
                             {"v", getV()},
                             {"the result", getResult()}})
    if (failed(verifyShape(*this, name, value, q, "the shape of q")))
      return failure();
  int64_t distances = getR().getType().getDimSize(1);
  if (failed(verifyShape(*this, "r", getR(), {1, distances, q[2]},
                         "batch 1, distances and the width of q")))
    return failure();
  if (distances < q[1])
    return emitOpError() << "expects r to encode at least " << q[1]
                         << " distances, the sequence of q, got " << distances;
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"content_bias", getContentBias()},
        {"position_bias", getPositionBias()}})
    if (failed(verifyShape(*this, name, value, {q[2]}, "the width of q")))
      return failure();
  for (auto [name, value] : {std::pair<StringRef, Value>{"k", getK()},
                             {"v", getV()},
                             {"r", getR()},
                             {"content_bias", getContentBias()},
                             {"position_bias", getPositionBias()},
                             {"the result", getResult()}})
    if (failed(verifyElement(*this, name, value, "q", getQ())))
      return failure();
  if (!getScale().isFinite())
    return emitOpError() << "expects a finite scale, got "
                         << getScale().convertToDouble();
  return success();
}

OpCost RelativeAttentionOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Attention;
  int64_t batch = results[0].getDimSize(0), sequence = results[0].getDimSize(1);
  int64_t headDim = getHeadDim();
  int64_t heads = batch * (results[0].getDimSize(2) / headDim);
  int64_t pairs =
      heads * countAttentionPairs(sequence, /*causal=*/true, /*window=*/0);
  int64_t n = results[0].getNumElements(), out = bytesOf(results[0]);
  int64_t in = 0;
  for (RankedTensorType operand : operands)
    in += bytesOf(operand);
  int64_t logSumExp = 4 * heads * sequence;
  cost.shape = {heads, sequence, sequence, headDim};
  cost.forward = {6 * pairs * headDim, 6 * pairs + 3 * n, in, out};
  cost.backward = {16 * pairs * headDim, 7 * pairs + 7 * n,
                   in + 2 * out + logSumExp, in};
  cost.savedOperands = 0b111111;
  cost.savedResults = 0b1;
  cost.savedExtraBytes = logSumExp;
  return cost;
}

MaybeRule RelativeAttentionOp::getShardingRule(const Mesh &mesh,
                                               Shardings operands,
                                               std::string &why) {
  TensorSharding q = complete(operands[0]);
  q.dims[1].clear();
  int64_t heads = getQ().getType().getDimSize(2) / getHeadDim();
  if (!splitsHeads(heads, q.dims[2], mesh, why))
    return std::nullopt;
  TensorSharding r = q, bias;
  r.dims[0].clear();
  bias.dims = {q.dims[2]};
  return ShardingRule{{q, q, q, r, bias, bias}, {q}, {}};
}
