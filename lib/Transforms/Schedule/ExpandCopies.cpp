//===- ExpandCopies.cpp - copies around collectives and for storage -------===//
//
// A dimension is leading in memory if all dimensions before it have size 1.
// Gathering dimension d of [pre, d, post] over t ranks brings [t, pre, d,
// post]; exchanging the first two factors gives [pre, t * d, post]. Scattering
// is the reverse, an all-to-all needs both.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Analysis/ArenaPlan.h"
#include "tessera/Transforms/Schedule/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDCOPIES
#include "lib/Transforms/Schedule/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// Product of the dimensions before `dim`.
static int64_t sizeBefore(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = 1;
  for (int64_t n : type.getShape().take_front(dim))
    size *= n;
  return size;
}

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(
      shape, cast<RankedTensorType>(value.getType()).getElementType());
}

/// `shape` with dimension 0 multiplied by `factor`.
static SmallVector<int64_t> stacked(ArrayRef<int64_t> shape, int64_t factor) {
  SmallVector<int64_t> result(shape);
  result[0] *= factor;
  return result;
}

static bool expand(AllGatherOp op) {
  int64_t pre = sizeBefore(op.getX(), op.getDim());
  if (pre == 1)
    return false;
  OpBuilder builder(op);
  int64_t ranks = op.getGroupSize();
  auto type = cast<RankedTensorType>(op.getX().getType());
  auto gathered =
      AllGatherOp::create(builder, op.getLoc(),
                          withShape(op.getX(), stacked(type.getShape(), ranks)),
                          op.getX(), op.getAxes(), /*dim=*/0, ranks);
  auto moved = kernel::TransposeOp::create(builder, op.getLoc(), op.getType(),
                                           gathered.getResult(), ranks, pre);
  op.replaceAllUsesWith(moved.getResult());
  op.erase();
  return true;
}

static bool expand(ReduceScatterOp op) {
  int64_t pre = sizeBefore(op.getX(), op.getDim());
  if (pre == 1)
    return false;
  OpBuilder builder(op);
  int64_t ranks = op.getGroupSize();
  auto type = cast<RankedTensorType>(op.getType());
  auto moved = kernel::TransposeOp::create(
      builder, op.getLoc(),
      withShape(op.getX(), stacked(type.getShape(), ranks)), op.getX(), pre,
      ranks);
  auto scattered = ReduceScatterOp::create(builder, op.getLoc(), type,
                                           moved.getResult(), op.getAxes(),
                                           /*dim=*/0, ranks);
  op.replaceAllUsesWith(scattered.getResult());
  op.erase();
  return true;
}

static bool expand(AllToAllOp op) {
  int64_t ranks = op.getGroupSize();
  int64_t preSplit = sizeBefore(op.getX(), op.getSplitDim());
  // The part that one rank sends: the split dimension is divided.
  SmallVector<int64_t> part(
      cast<RankedTensorType>(op.getX().getType()).getShape());
  part[op.getSplitDim()] /= ranks;
  int64_t preConcat = 1, elements = 1;
  for (auto [i, n] : llvm::enumerate(part)) {
    elements *= n;
    if (int64_t(i) < int64_t(op.getConcatDim()))
      preConcat *= n;
  }
  if (preSplit == 1 && preConcat == 1)
    return false;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto packed = kernel::TransposeOp::create(
      builder, loc, withShape(op.getX(), {ranks, elements}), op.getX(),
      preSplit, preSplit == 1 ? 1 : ranks);
  auto exchanged = AllToAllOp::create(
      builder, loc, withShape(op.getX(), {1, ranks * elements}),
      packed.getResult(), op.getAxes(), /*split_dim=*/0, /*concat_dim=*/1,
      ranks);
  auto moved = kernel::TransposeOp::create(
      builder, loc, op.getType(), exchanged.getResult(),
      preConcat == 1 ? 1 : ranks, preConcat);
  op.replaceAllUsesWith(moved.getResult());
  op.erase();
  return true;
}

/// A copy of `value` before `op`.
static Value copyBefore(Operation *op, Value value) {
  OpBuilder builder(op);
  return kernel::TransposeOp::create(builder, op->getLoc(), value.getType(),
                                     value, /*rows=*/1, /*cols=*/1);
}

/// Whether something in the block reads `value` after `op`.
static bool usedAfter(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && op->isBeforeInBlock(ancestor);
  });
}

namespace {
struct ExpandCopies : tessera::impl::ExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (isa<AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
        collectives.push_back(op);
    });
    for (Operation *op : collectives)
      numRearranged +=
          llvm::TypeSwitch<Operation *, bool>(op)
              .Case<AllGatherOp, ReduceScatterOp, AllToAllOp>(
                  [](auto collective) { return expand(collective); });
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      function.walk([&](LayersOp op) { copyOperands(op, function); });
      function.walk([&](func::ReturnOp op) { copyResults(op, function); });
    }
  }

  /// The layers overwrite their operands: each must be a value of its own that
  /// dies there.
  void copyOperands(LayersOp op, func::FuncOp function) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      bool input = isa<BlockArgument>(value) && !function.isPrivate();
      if (isa<RankedTensorType>(value.getType()) &&
          (input || !isArenaValue(value) || usedAfter(value, op) ||
           llvm::count(op->getOperands(), value) > 1)) {
        operand.set(copyBefore(op, value));
        ++numCopies;
      }
    }
  }

  /// What a function returns must be computed by it, each value once.
  void copyResults(func::ReturnOp op, func::FuncOp function) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<RankedTensorType>(value.getType()) &&
          (isa<BlockArgument>(value) || !isArenaValue(value) ||
           llvm::count(op->getOperands(), value) > 1)) {
        operand.set(copyBefore(op, value));
        ++numCopies;
      }
    }
  }
};
} // namespace
