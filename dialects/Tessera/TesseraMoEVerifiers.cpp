//===- TesseraMoEVerifiers.cpp - what the ops of experts demand -----------===//
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

static LogicalResult verifyPositive(Operation *op, StringRef name,
                                    int64_t value) {
  if (value >= 1)
    return success();
  return op->emitOpError() << "expects a positive " << name << ", got "
                           << value;
}

/// `[batch, sequence, top_k]` companions of tokens `x`.
static LogicalResult verifyChoices(Operation *op, StringRef name, Value choices,
                                   Value x, int64_t topK) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  return verifyShape(op, name, choices, {shape[0], shape[1], topK},
                     "batch and sequence of x, and top_k");
}

LogicalResult RouterOp::verify() {
  int64_t topK = getTopK(), groups = getGroups(), topGroups = getTopGroups();
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "weight", getWeight(), 2)) ||
      failed(verifyPositive(*this, "top_k", topK)) ||
      failed(verifyPositive(*this, "groups", groups)) ||
      failed(verifyPositive(*this, "top_groups", topGroups)))
    return failure();
  int64_t experts = typeOf(getWeight()).getDimSize(0);
  int64_t width = typeOf(getX()).getDimSize(2);
  if (failed(verifyShape(*this, "weight", getWeight(), {experts, width},
                         "experts and the width of x")))
    return failure();
  if (getBias() && failed(verifyShape(*this, "bias", getBias(), {experts},
                                      "the number of experts")))
    return failure();
  if (topGroups > groups || experts % groups != 0)
    return emitOpError() << "expects groups to divide the " << experts
                         << " experts and top_groups to be at most groups, got "
                         << "groups " << groups << " and top_groups "
                         << topGroups;
  if (topK > experts / groups * topGroups)
    return emitOpError() << "expects top_k to be at most "
                         << experts / groups * topGroups
                         << ", the number of experts to choose from, got "
                         << topK;
  return success(
      succeeded(verifyChoices(*this, "weights", getWeights(), getX(), topK)) &&
      succeeded(verifyChoices(*this, "experts", getExperts(), getX(), topK)));
}

/// Rows `[experts, capacity, width]` that hold the choices of all tokens.
static LogicalResult verifyRows(Operation *op, Value rows, Value choices,
                                int64_t width) {
  ArrayRef<int64_t> shape = typeOf(rows).getShape();
  int64_t needed = typeOf(choices).getNumElements();
  int64_t capacity = (needed + shape[0] - 1) / std::max<int64_t>(shape[0], 1);
  return verifyShape(op, "rows", rows, {shape[0], capacity, width},
                     "experts, ceil(tokens * top_k / experts) and the width");
}

LogicalResult PermuteOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "experts", getExperts(), 3)) ||
      failed(verifyRank(*this, "rows", getRows(), 3)))
    return failure();
  return success(
      succeeded(verifyChoices(*this, "experts", getExperts(), getX(),
                              typeOf(getExperts()).getDimSize(2))) &&
      succeeded(verifyRows(*this, getRows(), getExperts(),
                           typeOf(getX()).getDimSize(2))) &&
      succeeded(verifyElement(*this, "rows", getRows(), "x", getX())));
}

LogicalResult GroupedLinearOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "weight", getWeight(), 3)) ||
      failed(verifyElement(*this, "weight", getWeight(), "x", getX())))
    return failure();
  ArrayRef<int64_t> x = typeOf(getX()).getShape();
  ArrayRef<int64_t> weight = typeOf(getWeight()).getShape();
  return success(
      succeeded(verifyShape(*this, "weight", getWeight(),
                            {x[0], weight[1], x[2]},
                            "experts of x, output size and the width of x")) &&
      succeeded(verifyShape(*this, "the result", getResult(),
                            {x[0], x[1], weight[1]},
                            "x's rows and the weight's output size")) &&
      succeeded(verifyElement(*this, "the result", getResult(), "x", getX())));
}

LogicalResult CombineOp::verify() {
  if (failed(verifyRank(*this, "rows", getRows(), 3)) ||
      failed(verifyRank(*this, "weights", getWeights(), 3)) ||
      failed(verifyRank(*this, "the result", getResult(), 3)))
    return failure();
  ArrayRef<int64_t> choices = typeOf(getWeights()).getShape();
  int64_t width = typeOf(getRows()).getDimSize(2);
  return success(
      succeeded(verifyShape(*this, "experts", getExperts(), choices,
                            "the shape of weights")) &&
      succeeded(verifyRows(*this, getRows(), getExperts(), width)) &&
      succeeded(verifyShape(*this, "the result", getResult(),
                            {choices[0], choices[1], width},
                            "batch and sequence of weights, width of rows")) &&
      succeeded(
          verifyElement(*this, "the result", getResult(), "rows", getRows())));
}

LogicalResult SplitOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)))
    return failure();
  ArrayRef<int64_t> x = typeOf(getX()).getShape();
  int64_t total = 0;
  for (Value part : getParts()) {
    if (failed(verifyRank(*this, "each part", part, 3)))
      return failure();
    int64_t width = typeOf(part).getDimSize(2);
    if (failed(verifyShape(*this, "each part", part, {x[0], x[1], width},
                           "batch and sequence of x")) ||
        failed(verifyElement(*this, "each part", part, "x", getX())))
      return failure();
    total += width;
  }
  if (total != x[2])
    return emitOpError() << "expects the parts' widths to add up to " << x[2]
                         << ", the width of x, got " << total;
  return success();
}

LogicalResult LatentAttentionOp::verify() {
  for (auto [name, value] : {std::pair<StringRef, Value>{"q", getQ()},
                             {"kv", getKv()},
                             {"k_rope", getKRope()},
                             {"table", getTable()},
                             {"the result", getResult()}})
    if (failed(verifyRank(*this, name, value, 3)))
      return failure();
  int64_t nope = getNopeDim(), rope = getRopeDim(), value = getValueDim();
  if (failed(verifyPositive(*this, "nope_dim", nope)) ||
      failed(verifyPositive(*this, "rope_dim", rope)) ||
      failed(verifyPositive(*this, "value_dim", value)))
    return failure();
  ArrayRef<int64_t> q = typeOf(getQ()).getShape();
  if (q[2] % (nope + rope) != 0)
    return emitOpError() << "expects the width of q to be a multiple of "
                         << nope + rope << " (nope_dim + rope_dim), got "
                         << q[2];
  int64_t heads = q[2] / (nope + rope);
  ArrayRef<int64_t> table = typeOf(getTable()).getShape();
  if (table[0] < q[1])
    return emitOpError() << "has " << q[1] << " positions, but the table has "
                         << table[0];
  return success(
      succeeded(verifyShape(*this, "kv", getKv(),
                            {q[0], q[1], heads * (nope + value)},
                            "heads of q times nope_dim + value_dim")) &&
      succeeded(verifyShape(*this, "k_rope", getKRope(), {q[0], q[1], rope},
                            "batch and sequence of q, rope_dim")) &&
      succeeded(verifyShape(*this, "table", getTable(), {table[0], rope / 2, 2},
                            "positions, rope_dim / 2 and 2")) &&
      succeeded(verifyShape(*this, "the result", getResult(),
                            {q[0], q[1], heads * value},
                            "heads of q times value_dim")) &&
      succeeded(verifyElement(*this, "kv", getKv(), "q", getQ())) &&
      succeeded(verifyElement(*this, "k_rope", getKRope(), "q", getQ())) &&
      succeeded(verifyElement(*this, "the result", getResult(), "q", getQ())));
}
