//===- TesseraMoECosts.cpp - what the ops of experts cost -----------------===//
//
// Formulas: TesseraMoEOps.td.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraCostUtils.h"

using namespace mlir;
using namespace tessera;

using Types = ArrayRef<RankedTensorType>;

OpCost RouterOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Matmul;
  RankedTensorType x = operands[0];
  int64_t tokens = x.getDimSize(0) * x.getDimSize(1), width = x.getDimSize(2);
  int64_t experts = operands[1].getDimSize(0), chosen = getTopK();
  cost.shape = {1, tokens, experts, width};
  int64_t product = 2 * tokens * experts * width;
  int64_t in = bytesOf(x) + bytesOf(operands[1]);
  int64_t bias = operands.size() > 2 ? bytesOf(operands[2]) : 0;
  int64_t out = bytesOf(results[0]) + bytesOf(results[1]);
  cost.forward = {product,
                  tokens * experts * (4 + chosen) + 2 * tokens * chosen,
                  in + bias, out};
  cost.backward = {2 * product, 3 * tokens * experts, in + out, in};
  cost.savedOperands = 0b11;
  cost.savedResults = 0b11;
  return cost;
}

OpCost PermuteOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Gather;
  int64_t choices = operands[1].getNumElements();
  int64_t row = operands[0].getDimSize(2) * elementBytes(operands[0]);
  int64_t indices = bytesOf(operands[1]);
  cost.forward = {0, 0, choices * row + indices, bytesOf(results[0])};
  cost.backward = {0, choices * operands[0].getDimSize(2),
                   bytesOf(results[0]) + indices, bytesOf(operands[0])};
  cost.savedOperands = 0b10;
  return cost;
}

OpCost GroupedLinearOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::GroupedMatmul;
  int64_t experts = operands[0].getDimSize(0), rows = operands[0].getDimSize(1);
  int64_t k = operands[0].getDimSize(2), n = results[0].getDimSize(2);
  cost.shape = {experts, rows, n, k};
  int64_t product = 2 * experts * rows * n * k;
  int64_t x = bytesOf(operands[0]), w = bytesOf(operands[1]);
  int64_t y = bytesOf(results[0]);
  cost.forward = {product, 0, x + w, y};
  cost.backward = {2 * product, 0, 2 * y + x + w, x + w};
  cost.savedOperands = 0b11;
  return cost;
}

OpCost CombineOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Gather;
  int64_t choices = operands[1].getNumElements();
  int64_t width = operands[0].getDimSize(2);
  int64_t gathered = choices * width * elementBytes(operands[0]);
  int64_t small = bytesOf(operands[1]) + bytesOf(operands[2]);
  cost.forward = {0, 2 * choices * width, gathered + small,
                  bytesOf(results[0])};
  cost.backward = {0, 4 * choices * width,
                   gathered + small + bytesOf(results[0]),
                   bytesOf(operands[0]) + bytesOf(operands[1])};
  cost.savedOperands = 0b111;
  return cost;
}

OpCost SplitOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  int64_t x = bytesOf(operands[0]);
  cost.forward = {0, 0, x, x};
  cost.backward = cost.forward;
  return cost;
}

OpCost LatentAttentionOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Attention;
  int64_t batch = results[0].getDimSize(0), sequence = results[0].getDimSize(1);
  int64_t key = getNopeDim() + getRopeDim(), value = getValueDim();
  int64_t heads = results[0].getDimSize(2) / value;
  int64_t pairs =
      batch * heads * countAttentionPairs(sequence, getCausal(), /*window=*/0);
  int64_t n = results[0].getNumElements(), out = bytesOf(results[0]);
  int64_t in =
      bytesOf(operands[0]) + bytesOf(operands[1]) + bytesOf(operands[2]);
  int64_t rotation = 3 * batch * sequence * getRopeDim() * (heads + 1);
  int64_t logSumExp = 4 * batch * heads * sequence;
  int64_t angles = sequence * getRopeDim() * 4;
  cost.shape = {batch * heads, sequence, sequence, key};
  cost.forward = {2 * pairs * (key + value), 5 * pairs + n + rotation,
                  in + angles, out};
  cost.backward = {2 * pairs * (3 * key + 2 * value),
                   6 * pairs + 2 * n + rotation,
                   in + angles + 2 * out + logSumExp, in};
  cost.savedOperands = 0b1111;
  cost.savedResults = 0b1;
  cost.savedExtraBytes = logSumExp;
  return cost;
}
