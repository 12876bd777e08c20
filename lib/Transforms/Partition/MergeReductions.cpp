//===- MergeReductions.cpp - one reduction for a sum of several -----------===//
//
// A reduction is linear: the sum of two reduced values is the reduction of the
// sum of the two partial sums. Where attention and MLP are added to the stream
// side by side (GPT-NeoX's parallel residual), both products are pending over
// the same axes, and half of a layer's traffic is saved. Sums are flattened
// through biases, which are whole and are added after the reduction.
//
//===----------------------------------------------------------------------===//
#include "MergeReductions.h"

#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace {
/// A sum of several values, some of which had a bias added.
struct Sum {
  SmallVector<Value> terms;
  SmallVector<AddBiasOp> biases;
};
} // namespace

/// Takes `value` apart; whatever is used elsewhere too stays whole.
static void flatten(Value value, bool isRoot, Sum &sum) {
  if (isRoot || value.hasOneUse()) {
    if (auto add = value.getDefiningOp<AddOp>()) {
      flatten(add.getLhs(), false, sum);
      flatten(add.getRhs(), false, sum);
      return;
    }
    if (auto bias = value.getDefiningOp<AddBiasOp>()) {
      flatten(bias.getX(), false, sum);
      sum.biases.push_back(bias);
      return;
    }
  }
  sum.terms.push_back(value);
}

/// The reduction of a sum that only this sum uses, or null.
static Operation *reductionOf(Value term) {
  Operation *op = term.getDefiningOp();
  if (!op || !term.hasOneUse())
    return nullptr;
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return reduce.getMaximum() ? nullptr : op;
  return isa<ReduceScatterOp>(op) ? op : nullptr;
}

/// Whether both reduce in the same way: the partial sums may be added first.
static bool match(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getResultTypes() == b->getResultTypes() &&
         a->getOperandTypes() == b->getOperandTypes();
}

/// Rebuilds the sum that ends in `root` with one reduction for those of a kind.
/// Returns how many were saved.
static unsigned mergeIn(AddOp root) {
  Sum sum;
  flatten(root.getResult(), /*isRoot=*/true, sum);
  SmallVector<Operation *> group;
  for (Value term : sum.terms)
    if (Operation *op = reductionOf(term))
      if (group.empty() || match(group.front(), op))
        group.push_back(op);
  if (group.size() < 2)
    return 0;
  OpBuilder builder(root);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return AddOp::create(builder, root.getLoc(), lhs.getType(), lhs, rhs);
  };
  Value partial = group.front()->getOperand(0);
  for (Operation *op : llvm::drop_begin(group))
    partial = add(partial, op->getOperand(0));
  Operation *reduction = builder.clone(*group.front());
  reduction->setOperand(0, partial);
  Value total = reduction->getResult(0);
  for (AddBiasOp bias : sum.biases) {
    Operation *copy = builder.clone(*bias);
    copy->setOperand(0, total);
    total = copy->getResult(0);
  }
  for (Value term : sum.terms)
    if (!llvm::is_contained(group, term.getDefiningOp()))
      total = add(term, total);
  root.getResult().replaceAllUsesWith(total);
  return group.size() - 1;
}

/// Erases pure ops without uses, last first.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

unsigned tessera::mergeReductions(func::FuncOp function) {
  unsigned saved = 0;
  Block &body = function.getBody().front();
  // Outermost sums first: what they take apart is gone from the rest.
  SmallVector<AddOp> sums(body.getOps<AddOp>());
  for (AddOp sum : llvm::reverse(sums)) {
    bool inner = sum.getResult().hasOneUse() &&
                 isa<AddOp, AddBiasOp>(*sum.getResult().user_begin());
    if (!inner && !sum.getResult().use_empty())
      saved += mergeIn(sum);
  }
  if (saved)
    eraseUnused(body);
  return saved;
}
