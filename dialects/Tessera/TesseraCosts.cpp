//===- TesseraCosts.cpp - what the ops of the model graph cost ------------===//
//
// Each op's formula, with its source, stands in its description in
// TesseraGraphOps.td; the conventions (what counts as one operation, which
// bytes are counted) at the top of that file. Only the types handed in are
// looked at.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraCostUtils.h"

using namespace mlir;
using namespace tessera;

using Types = ArrayRef<RankedTensorType>;

int64_t tessera::countAttentionPairs(int64_t sequence, bool causal,
                                     int64_t window) {
  // Row i sees keys from max(0, i - window + 1) to (causal) i or the end.
  int64_t pairs = causal ? sequence * (sequence + 1) / 2 : sequence * sequence;
  if (window > 0 && window < sequence) {
    int64_t hidden = sequence - window; // Rows that miss 1, 2, ... keys.
    pairs -= hidden * (hidden + 1) / 2;
  }
  return pairs;
}

/// Operations per element of an activation and of its derivative.
static std::pair<int64_t, int64_t> activationFlops(ActivationKind kind) {
  switch (kind) {
  case ActivationKind::Gelu:
    return {5, 10};
  case ActivationKind::GeluTanh:
    return {9, 17};
  case ActivationKind::Silu:
    return {4, 8};
  case ActivationKind::Relu:
    return {1, 1};
  }
  llvm_unreachable("all activations are listed");
}

OpCost EmbeddingOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Gather;
  int64_t tokens = bytesOf(operands[0]), rows = bytesOf(results[0]);
  cost.forward.bytesRead = tokens + rows;
  cost.forward.bytesWritten = rows;
  cost.backward.vectorFlops = results[0].getNumElements();
  cost.backward.bytesRead = tokens + 2 * rows;
  cost.backward.bytesWritten = rows;
  cost.savedOperands = 0b1;
  return cost;
}

OpCost AddPositionsOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  int64_t n = results[0].getNumElements(), x = bytesOf(results[0]);
  int64_t rows = x / std::max<int64_t>(results[0].getDimSize(0), 1);
  cost.forward = {0, n, x + rows, x};
  cost.backward = {0, n, x, rows};
  return cost;
}

OpCost LinearOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Matmul;
  int64_t k = operands[0].getDimSize(2), n = results[0].getDimSize(2);
  int64_t m = results[0].getDimSize(0) * results[0].getDimSize(1);
  cost.shape = {1, m, n, k};
  int64_t x = bytesOf(operands[0]), w = bytesOf(operands[1]);
  int64_t y = bytesOf(results[0]);
  cost.forward = {2 * m * n * k, 0, x + w, y};
  cost.backward = {4 * m * n * k, 0, 2 * y + x + w, x + w};
  cost.savedOperands = 0b11;
  return cost;
}

OpCost AddBiasOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  int64_t n = results[0].getNumElements();
  int64_t x = bytesOf(results[0]), bias = bytesOf(operands[1]);
  cost.forward = {0, n, x + bias, x};
  cost.backward = {0, n, x, bias};
  return cost;
}

OpCost RMSNormOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  int64_t n = results[0].getNumElements();
  int64_t groups = n / std::max<int64_t>(operands[1].getNumElements(), 1);
  int64_t x = bytesOf(results[0]), w = bytesOf(operands[1]);
  cost.savedOperands = 0b11;
  cost.savedExtraBytes = 4 * groups;
  cost.forward = {0, 4 * n + 3 * groups, x + w, x};
  cost.backward = {0, 9 * n + 4 * groups, 2 * x + w + 4 * groups, x + w};
  return cost;
}

OpCost LayerNormOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  int64_t n = results[0].getNumElements();
  int64_t rows = results[0].getDimSize(0) * results[0].getDimSize(1);
  int64_t x = bytesOf(results[0]), w = bytesOf(operands[1]);
  bool hasBias = operands.size() > 2;
  int64_t bias = hasBias ? bytesOf(operands[2]) : 0;
  cost.savedOperands = 0b11;
  cost.savedExtraBytes = 8 * rows;
  cost.forward = {0, (hasBias ? 7 : 6) * n + 4 * rows, x + w + bias, x};
  cost.backward = {0, (hasBias ? 13 : 12) * n + 2 * rows, 2 * x + w + 8 * rows,
                   x + w + bias};
  return cost;
}

OpCost RotaryOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  RankedTensorType table = operands[1];
  int64_t rotating = 2 * table.getDimSize(1); // Of each head.
  int64_t heads = results[0].getNumElements() / getHeadDim();
  int64_t x = bytesOf(results[0]);
  int64_t rows = results[0].getDimSize(1) * rotating * 4;
  cost.forward = {0, 3 * heads * rotating, x + rows, x};
  cost.backward = cost.forward;
  cost.savedOperands = 0b10;
  return cost;
}

OpCost AttentionOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Attention;
  int64_t batch = results[0].getDimSize(0), sequence = results[0].getDimSize(1);
  int64_t headDim = getHeadDim();
  int64_t heads = batch * (results[0].getDimSize(2) / headDim);
  int64_t pairs =
      heads * countAttentionPairs(sequence, getCausal(), getWindow());
  int64_t n = results[0].getNumElements();
  int64_t q = bytesOf(operands[0]);
  int64_t kv = bytesOf(operands[1]) + bytesOf(operands[2]);
  int64_t out = bytesOf(results[0]), logSumExp = 4 * heads * sequence;
  cost.shape = {heads, sequence, sequence, headDim};
  cost.forward = {4 * pairs * headDim, 5 * pairs + n, q + kv, out};
  cost.backward = {10 * pairs * headDim, 6 * pairs + 2 * n,
                   q + kv + 2 * out + logSumExp, q + kv};
  cost.savedOperands = 0b111;
  cost.savedResults = 0b1;
  cost.savedExtraBytes = logSumExp;
  return cost;
}

OpCost SwigluOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  auto [function, derivative] = activationFlops(getActivation());
  int64_t n = results[0].getNumElements(), x = bytesOf(results[0]);
  cost.forward = {0, (function + 1) * n, 2 * x, x};
  cost.backward = {0, (function + derivative + 3) * n, 3 * x, 2 * x};
  cost.savedOperands = 0b11;
  return cost;
}

OpCost ActivationOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  auto [function, derivative] = activationFlops(getKind());
  int64_t n = results[0].getNumElements(), x = bytesOf(results[0]);
  cost.forward = {0, function * n, x, x};
  cost.backward = {0, (derivative + 1) * n, 2 * x, x};
  cost.savedOperands = 0b1;
  return cost;
}

OpCost AddOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  int64_t x = bytesOf(results[0]);
  cost.forward = {0, results[0].getNumElements(), 2 * x, x};
  return cost;
}

OpCost CrossEntropyOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  RankedTensorType logits = operands[0];
  int64_t tokens = operands[1].getNumElements();
  int64_t columns = std::min<int64_t>(getVocab(), logits.getDimSize(2));
  int64_t counted = tokens * columns * elementBytes(logits);
  int64_t labels = bytesOf(operands[1]), perToken = 4 * tokens;
  cost.forward = {0, 4 * tokens * columns + 3 * tokens, counted + labels,
                  bytesOf(results[0])};
  cost.backward = {0, 3 * tokens * columns + tokens,
                   counted + labels + 2 * perToken, bytesOf(logits)};
  cost.savedOperands = 0b11;
  cost.savedExtraBytes = perToken;
  return cost;
}

OpCost TokenSumOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::RowReduction;
  int64_t tokens = operands[0].getNumElements();
  int64_t nll = bytesOf(operands[0]), labels = bytesOf(operands[1]);
  cost.forward = {0, 2 * tokens, nll + labels, bytesOf(results[0])};
  cost.backward = {0, tokens, bytesOf(results[0]) + labels, nll};
  cost.savedOperands = 0b10;
  return cost;
}

OpCost TokenMeanOp::getCost(Types operands, Types results) {
  OpCost cost;
  cost.kernel = KernelClass::Elementwise;
  int64_t sum = bytesOf(operands[0]), mean = bytesOf(results[0]);
  cost.forward = {0, 1, sum, mean};
  cost.backward = {0, 1, sum + mean, sum};
  cost.savedOperands = 0b1;
  return cost;
}
