//===- TesseraLocalVerifiers.cpp - collectives and rank-local ops ---------===//
//
// Shapes of one rank's ops. That the named axes are on the module's mesh, and
// that group sizes follow from it, is checked where the mesh is
// (TesseraMeshVerifiers.cpp).
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

static LogicalResult verifyAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError() << "expects at least one mesh axis";
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(axes.getValue().take_front(i), axis))
      return op->emitOpError() << "names mesh axis " << axis << " twice";
  return success();
}

static LogicalResult verifyDim(Operation *op, StringRef name, Value x,
                               int64_t dim) {
  int64_t rank = typeOf(x).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "expects " << name << " to be in 0 to "
                           << rank - 1 << ", got " << dim;
}

static LogicalResult verifyRanks(Operation *op, int64_t ranks) {
  if (ranks >= 1)
    return success();
  return op->emitOpError() << "expects at least 1 rank, got " << ranks;
}

/// `dim` of size n divided into `ranks` equal parts.
static LogicalResult verifyDivides(Operation *op, Value x, int64_t dim,
                                   int64_t ranks) {
  int64_t size = typeOf(x).getDimSize(dim);
  if (size % ranks == 0)
    return success();
  return op->emitOpError() << "cannot divide dimension " << dim << " of size "
                           << size << " among " << ranks << " ranks";
}

/// The result's shape and the element type of `x`.
static LogicalResult verifyResult(Operation *op, Value x, Value result,
                                  ArrayRef<int64_t> shape, StringRef reason) {
  return success(
      succeeded(verifyShape(op, "the result", result, shape, reason)) &&
      succeeded(verifyElement(op, "the result", result, "the operand", x)));
}

LogicalResult AxisIndexOp::verify() { return verifyAxes(*this, getAxes()); }

LogicalResult ShardOffsetOp::verify() {
  if (static_cast<int64_t>(getSize()) < 1)
    return emitOpError() << "expects a positive size, got "
                         << static_cast<int64_t>(getSize());
  return verifyAxes(*this, getAxes());
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyAxes(*this, getAxes())))
    return failure();
  return verifyResult(*this, getX(), getResult(), typeOf(getX()).getShape(),
                      "the operand's");
}

/// An op that multiplies (`grow`) or divides one dimension by the group size.
template <typename Op>
static LogicalResult verifyResize(Op op, bool grow) {
  int64_t dim = op.getDim(), ranks = op.getGroupSize();
  if (failed(verifyAxes(op, op.getAxes())) || failed(verifyRanks(op, ranks)) ||
      failed(verifyDim(op, "dim", op.getX(), dim)))
    return failure();
  if (!grow && failed(verifyDivides(op, op.getX(), dim, ranks)))
    return failure();
  SmallVector<int64_t> shape(typeOf(op.getX()).getShape());
  shape[dim] = grow ? shape[dim] * ranks : shape[dim] / ranks;
  return verifyResult(op, op.getX(), op.getResult(), shape,
                      grow ? "the parts of all ranks" : "one rank's part");
}

LogicalResult AllGatherOp::verify() { return verifyResize(*this, true); }
LogicalResult ReduceScatterOp::verify() { return verifyResize(*this, false); }
LogicalResult SliceOp::verify() { return verifyResize(*this, false); }

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplitDim(), concat = getConcatDim();
  int64_t ranks = getGroupSize();
  if (failed(verifyAxes(*this, getAxes())) ||
      failed(verifyRanks(*this, ranks)) ||
      failed(verifyDim(*this, "split", getX(), split)) ||
      failed(verifyDim(*this, "concat", getX(), concat)))
    return failure();
  if (split == concat)
    return emitOpError()
           << "expects split and concat to be different dimensions, got "
           << split << " for both";
  if (failed(verifyDivides(*this, getX(), split, ranks)))
    return failure();
  SmallVector<int64_t> shape(typeOf(getX()).getShape());
  shape[split] /= ranks;
  shape[concat] *= ranks;
  return verifyResult(*this, getX(), getResult(), shape,
                      "split divided, concat multiplied by the ranks");
}

LogicalResult CrossEntropyStatsOp::verify() {
  if (failed(verifyRank(*this, "logits", getLogits(), 3)))
    return failure();
  ArrayRef<int64_t> logits = typeOf(getLogits()).getShape();
  if (static_cast<int64_t>(getVocab()) < 1)
    return emitOpError() << "expects a vocabulary of at least 1 entry, got "
                         << static_cast<int64_t>(getVocab());
  return success(
      succeeded(verifyShape(*this, "labels", getLabels(), logits.take_front(2),
                            "batch and sequence of logits")) &&
      succeeded(verifyShape(*this, "the result", getStats(),
                            {logits[0], logits[1], 3},
                            "three numbers a token")));
}

LogicalResult CrossEntropyCombineOp::verify() {
  if (failed(verifyRank(*this, "stats", getStats(), 3)))
    return failure();
  ArrayRef<int64_t> stats = typeOf(getStats()).getShape();
  if (stats[2] == 0 || stats[2] % 3 != 0)
    return emitOpError() << "expects stats of width 3 * ranks, got "
                         << stats[2];
  for (auto [name, value] : {std::pair<StringRef, Value>{"labels", getLabels()},
                             {"the result", getNll()}})
    if (failed(verifyShape(*this, name, value, stats.take_front(2),
                           "batch and sequence of stats")))
      return failure();
  return success();
}
