//===- TesseraVerifiers.cpp - what the ops of the model graph demand ------===//
//
// Shapes and element types of the forward ops. The same ops describe the whole
// model and one rank's part of it, so nothing here knows about the mesh.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

LogicalResult tessera::verifyRank(Operation *op, StringRef name, Value value,
                                  int64_t rank) {
  int64_t got = typeOf(value).getRank();
  if (got == rank)
    return success();
  return op->emitOpError() << "expects " << name << " to have " << rank
                           << " dimensions, got " << got;
}

LogicalResult tessera::verifyShape(Operation *op, StringRef name, Value value,
                                   ArrayRef<int64_t> shape, StringRef reason) {
  if (typeOf(value).getShape() == shape)
    return success();
  auto diag = op->emitOpError() << "expects " << name << " to have shape [";
  llvm::interleaveComma(shape, diag);
  diag << "] (" << reason << "), got [";
  llvm::interleaveComma(typeOf(value).getShape(), diag);
  return diag << "]";
}

LogicalResult tessera::verifyElement(Operation *op, StringRef name, Value value,
                                     StringRef likeName, Value like) {
  Type got = typeOf(value).getElementType();
  Type expected = typeOf(like).getElementType();
  if (got == expected)
    return success();
  return op->emitOpError() << "expects " << name << " to have the element type "
                           << expected << " of " << likeName << ", got " << got;
}

/// A vector that meets the last dimension of `x`.
static LogicalResult verifyVector(Operation *op, StringRef name, Value vector,
                                  Value x) {
  if (failed(verifyRank(op, "x", x, 3)))
    return failure();
  int64_t width = typeOf(x).getDimSize(2);
  return success(
      succeeded(verifyShape(op, name, vector, {width}, "the width of x")) &&
      succeeded(verifyElement(op, name, vector, "x", x)));
}

LogicalResult tessera::verifyHeads(Operation *op, StringRef name, Value x,
                                   int64_t headDim) {
  if (headDim < 1)
    return op->emitOpError() << "expects a positive head_dim, got " << headDim;
  int64_t width = typeOf(x).getDimSize(2);
  if (width % headDim == 0)
    return success();
  return op->emitOpError() << "expects the width of " << name
                           << " to be a multiple of head_dim " << headDim
                           << ", got " << width;
}

static LogicalResult verifyEps(Operation *op, const APFloat &eps) {
  if (!eps.isNegative() && eps.isFinite())
    return success();
  return op->emitOpError() << "expects a finite eps of at least 0, got "
                           << eps.convertToDouble();
}

/// Token-shaped companions: `[batch, sequence]` of a 3-D or 2-D `like`.
static LogicalResult verifyTokens(Operation *op, StringRef name, Value tokens,
                                  StringRef likeName, Value like) {
  return verifyShape(op, name, tokens, typeOf(like).getShape().take_front(2),
                     ("batch and sequence of " + likeName).str());
}

LogicalResult EmbeddingOp::verify() {
  if (failed(verifyRank(*this, "tokens", getTokens(), 2)) ||
      failed(verifyRank(*this, "table", getTable(), 2)))
    return failure();
  ArrayRef<int64_t> tokens = getTokens().getType().getShape();
  int64_t width = getTable().getType().getDimSize(1);
  return success(
      succeeded(verifyShape(*this, "the result", getResult(),
                            {tokens[0], tokens[1], width},
                            "tokens' shape and the table's width")) &&
      succeeded(verifyElement(*this, "the result", getResult(), "the table",
                              getTable())));
}

LogicalResult AddPositionsOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "table", getTable(), 2)) ||
      failed(verifyElement(*this, "table", getTable(), "x", getX())))
    return failure();
  int64_t rows = getTable().getType().getDimSize(0);
  int64_t width = getTable().getType().getDimSize(1);
  int64_t sequence = getX().getType().getDimSize(1);
  int64_t expected = getX().getType().getDimSize(2);
  if (width != expected)
    return emitOpError() << "expects a table of width " << expected
                         << ", the width of x, got " << width;
  int64_t first = getFirst();
  if (first < 0)
    return emitOpError() << "expects first to be at least 0, got " << first;
  if (sequence + first > rows)
    return emitOpError() << "has " << sequence << " positions from " << first
                         << " on, but the table has " << rows << " rows";
  return success();
}

LogicalResult LinearOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "weight", getWeight(), 2)) ||
      failed(verifyElement(*this, "weight", getWeight(), "x", getX())))
    return failure();
  ArrayRef<int64_t> x = getX().getType().getShape();
  ArrayRef<int64_t> weight = getWeight().getType().getShape();
  bool outIn = getWeightLayout() == WeightLayout::OutIn;
  int64_t in = weight[outIn ? 1 : 0], out = weight[outIn ? 0 : 1];
  if (x[2] != in)
    return emitOpError() << "expects x of width " << in
                         << ", the input size of the weight ("
                         << stringifyWeightLayout(getWeightLayout())
                         << "), got " << x[2];
  if (failed(verifyShape(*this, "the result", getResult(), {x[0], x[1], out},
                         "x's rows and the weight's output size")))
    return failure();
  Type element = getResult().getType().getElementType();
  if (element != getX().getType().getElementType() && !element.isF32())
    return emitOpError() << "expects a result of the element type of x ("
                         << getX().getType().getElementType()
                         << ") or f32, got " << element;
  return success();
}

LogicalResult AddBiasOp::verify() {
  return verifyVector(*this, "bias", getBias(), getX());
}

LogicalResult RMSNormOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "weight", getWeight(), 1)) ||
      failed(verifyElement(*this, "weight", getWeight(), "x", getX())) ||
      failed(verifyEps(*this, getEps())))
    return failure();
  int64_t width = getX().getType().getDimSize(2);
  int64_t group = getWeight().getType().getDimSize(0);
  if (group > 0 && width % group == 0)
    return success();
  return emitOpError() << "expects a weight whose size divides the width "
                       << width << " of x, got " << group;
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyVector(*this, "weight", getWeight(), getX())) ||
      (getBias() && failed(verifyVector(*this, "bias", getBias(), getX()))))
    return failure();
  return verifyEps(*this, getEps());
}

LogicalResult RotaryOp::verify() {
  if (failed(verifyRank(*this, "x", getX(), 3)) ||
      failed(verifyRank(*this, "table", getTable(), 3)) ||
      failed(verifyHeads(*this, "x", getX(), getHeadDim())))
    return failure();
  ArrayRef<int64_t> table = getTable().getType().getShape();
  if (table[2] != 2)
    return emitOpError() << "expects a table of cosines and sines, last "
                            "dimension 2, got "
                         << table[2];
  if (2 * table[1] > static_cast<int64_t>(getHeadDim()))
    return emitOpError() << "rotates " << 2 * table[1]
                         << " elements, but a head has " << getHeadDim();
  if (table[0] < getX().getType().getDimSize(1))
    return emitOpError() << "expects a table of at least "
                         << getX().getType().getDimSize(1)
                         << " positions, the sequence of x, got " << table[0];
  return success();
}

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> q = getQ().getType().getShape();
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"q", getQ()}, {"k", getK()}, {"v", getV()}})
    if (failed(verifyRank(*this, name, value, 3)) ||
        failed(verifyHeads(*this, name, value, getHeadDim())) ||
        failed(verifyElement(*this, name, value, "q", getQ())))
      return failure();
  ArrayRef<int64_t> k = getK().getType().getShape();
  if (failed(verifyShape(*this, "k", getK(), {q[0], q[1], k[2]},
                         "batch and sequence of q")) ||
      failed(verifyShape(*this, "v", getV(), k, "the shape of k")) ||
      failed(
          verifyShape(*this, "the result", getResult(), q, "the shape of q")) ||
      failed(verifyElement(*this, "the result", getResult(), "q", getQ())))
    return failure();
  int64_t headDim = getHeadDim();
  if (k[2] == 0 || q[2] % k[2] != 0)
    return emitOpError() << "expects the number of query heads to be a "
                            "multiple of the number of key-value heads, got "
                         << q[2] / headDim << " and " << k[2] / headDim;
  if (!getScale().isFinite())
    return emitOpError() << "expects a finite scale, got "
                         << getScale().convertToDouble();
  if (static_cast<int64_t>(getWindow()) < 0)
    return emitOpError() << "expects a window of at least 0, got "
                         << static_cast<int64_t>(getWindow());
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyRank(*this, "logits", getLogits(), 3)) ||
      failed(
          verifyTokens(*this, "labels", getLabels(), "logits", getLogits())) ||
      failed(
          verifyTokens(*this, "the result", getNll(), "logits", getLogits())))
    return failure();
  int64_t columns = getLogits().getType().getDimSize(2);
  int64_t vocab = getVocab();
  if (vocab < 1 || vocab > columns)
    return emitOpError() << "expects a vocabulary of 1 to " << columns
                         << " entries, the width of the logits, got " << vocab;
  return success();
}

LogicalResult TokenSumOp::verify() {
  if (failed(verifyRank(*this, "nll", getNll(), 2)) ||
      failed(verifyTokens(*this, "labels", getLabels(), "nll", getNll())))
    return failure();
  return verifyShape(*this, "the result", getResult(), {2}, "sum and count");
}

LogicalResult TokenMeanOp::verify() {
  if (failed(verifyShape(*this, "sum", getSum(), {2}, "sum and count")))
    return failure();
  return verifyRank(*this, "the result", getResult(), 0);
}
