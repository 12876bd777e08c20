//===- TesseraLocalCosts.cpp - costs of collectives and rank-local ops ----===//
//
// A collective's cost here is what it moves through its own rank's memory; how
// long the bytes take on the links is for the cost model of the cluster.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraCostUtils.h"

using namespace mlir;
using namespace tessera;

using Types = ArrayRef<RankedTensorType>;

/// Forward moves the operand to the result, backward the result's gradient to
/// the operand's.
static OpCost transposedCollective(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Collective;
  cost.forward.bytesRead = cost.backward.bytesWritten = bytesOf(operands[0]);
  cost.forward.bytesWritten = cost.backward.bytesRead = bytesOf(results[0]);
  return cost;
}

OpCost AllReduceOp::getCost(Types operands, Types results) {
  OpCost cost = transposedCollective(operands, results);
  cost.backward = PassCost();
  return cost;
}

OpCost AllGatherOp::getCost(Types operands, Types results) {
  return transposedCollective(operands, results);
}

OpCost ReduceScatterOp::getCost(Types operands, Types results) {
  return transposedCollective(operands, results);
}

OpCost AllToAllOp::getCost(Types operands, Types results) {
  return transposedCollective(operands, results);
}

OpCost SliceOp::getCost(Types operands, Types results) {
  OpCost cost = transposedCollective(operands, results);
  // No communication forward: this rank's part is copied.
  cost.kernel = KernelClass::Elementwise;
  cost.forward.bytesRead = bytesOf(results[0]);
  return cost;
}

OpCost CrossEntropyStatsOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  int64_t elements = operands[0].getNumElements();
  int64_t tokens = operands[1].getNumElements();
  int64_t logits = bytesOf(operands[0]), labels = bytesOf(operands[1]);
  cost.forward = {0, 4 * elements, logits + labels, bytesOf(results[0])};
  // Of each token also log-sum-exp and the gradient of its nll are read.
  cost.backward = {0, 3 * elements + tokens, logits + labels + 8 * tokens,
                   logits};
  cost.savedOperands = 0b11;
  return cost;
}

OpCost CrossEntropyCombineOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  int64_t tokens = operands[1].getNumElements();
  int64_t ranks = operands[0].getDimSize(2) / 3;
  cost.forward = {0, (6 * ranks + 3) * tokens,
                  bytesOf(operands[0]) + bytesOf(operands[1]),
                  bytesOf(results[0])};
  cost.savedExtraBytes = 4 * tokens;
  return cost;
}
