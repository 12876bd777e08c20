//===- Products.cpp - matrix products on a software stack -----------------===//
//
// Some stacks make one product of queries, keys and values and one of gate and
// up (Megatron's linear_qkv and linear_fc1, MPT's Wqkv); others have each apart
// and add the gradients of the common input up. Weight gradients are
// added to a 32-bit sum inside the product or written out in 16 bits. 8-bit
// products quantise their input and their result's gradient, each with its
// transpose. Libraries start one kernel per expert.
//
//===----------------------------------------------------------------------===//
#include "lib/Forecast/BlockLowering.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::forecast;

OpRole forecast::consumer(const RankBlock &block, int op) {
  int tensor = block.ops[op].results[0];
  for (int i = op + 1; i < int(block.ops.size()); ++i) {
    const RankOp &user = block.ops[i];
    if (!llvm::is_contained(user.operands, tensor))
      continue;
    switch (user.role) {
    case OpRole::Bias:
    case OpRole::Rotary:
    case OpRole::Norm:
      tensor = user.results[0];
      continue;
    default:
      return user.role;
    }
  }
  return OpRole::View;
}

static bool areJoined(const RankBlock &block, int first, int second) {
  const RankOp &a = block.ops[first], &b = block.ops[second];
  if (a.role != b.role || a.operands[0] != b.operands[0] ||
      (a.role != OpRole::Linear && a.role != OpRole::GroupedLinear))
    return false;
  OpRole into = consumer(block, first);
  return into == consumer(block, second) &&
         (into == OpRole::Attention || into == OpRole::Activation);
}

std::vector<JointProduct> forecast::jointProducts(const RankBlock &block) {
  std::vector<JointProduct> joint(block.ops.size());
  for (int op = 0; op < int(block.ops.size()); ++op) {
    joint[op].leader = op;
    for (int i = op - 1; i >= 0; --i)
      if (!block.ops[op].operands.empty() && !block.ops[i].operands.empty() &&
          areJoined(block, i, op))
        joint[op] = {i, consumer(block, op) == OpRole::Attention};
  }
  return joint;
}

int BlockLowering::leaderOf(int op) const {
  const JointProduct &joint = facts.joint[op];
  return (joint.heads ? traits.jointHeads : traits.jointGate) ? joint.leader
                                                              : op;
}

OpFeature BlockLowering::productFeature(const RankOp &op, DataType type) const {
  OpFeature f;
  f.kernel = op.cost.kernel;
  f.type = type;
  f.shape = op.cost.shape;
  f.forward = op.cost.forward;
  f.backward = op.cost.backward;
  return f;
}

static PassCost scaledReads(PassCost cost, double by) {
  cost.bytesRead = int64_t(double(cost.bytesRead) * by);
  return cost;
}

/// What a product's number format and its weight's gradient add; sizes in
/// elements.
void BlockLowering::finishProduct(OpFeature f, int64_t input, int64_t weights,
                                  int64_t output) {
  double narrow = bytesOf(f.type) / 2.0;
  f.forward = scaledReads(f.forward, narrow);
  f.backward = scaledReads(f.backward, narrow);
  if (precision.frozen) {
    f.backward.matmulFlops /= 2;
    f.backward.bytesWritten -= 2 * weights;
  } else if (traits.fusedGradientAccumulation && layout.zeroStage < 3) {
    f.backward.bytesRead += 4 * weights;
    f.backward.bytesWritten += 2 * weights;
  }
  int experts = int(std::max<int64_t>(1, f.shape.batch));
  f.forwardLaunches = experts;
  f.backwardLaunches = 2 * experts;
  if (narrow < 1) {
    f.forwardLaunches += experts;
    f.backwardLaunches += experts;
    quantise(input, output, f.kernel == KernelClass::GroupedMatmul);
  }
  add(f);
}

void BlockLowering::product(int number) {
  const RankOp &op = block.ops[number];
  if (int leader = leaderOf(number); leader != number) {
    carriers[number] = carriers[leader];
    return;
  }
  DataType type = facts.isOuter ? DataType::BF16 : precision.linear;
  // "NVFP4 GroupedLinear performance not surpass MXFP8", for what is done
  // around the products: NVIDIA/TransformerEngine#2281.
  if (op.role == OpRole::GroupedLinear && type == DataType::FP4 &&
      !traits.fusedExperts)
    type = DataType::FP8;
  OpFeature f = productFeature(op, type);
  int64_t x = operand(op, 0).bytes();
  int64_t input = operand(op, 0).elements;
  int64_t weights = operand(op, 1).elements;
  int64_t output = result(op).elements;
  for (int i = number + 1; i < int(block.ops.size()); ++i) {
    if (leaderOf(i) != number)
      continue;
    const RankOp &other = block.ops[i];
    f.shape.n += other.cost.shape.n;
    f.forward += other.cost.forward;
    f.backward += other.cost.backward;
    // The input is read once, its gradient written once.
    f.forward.bytesRead -= x;
    f.backward.bytesRead -= x;
    f.backward.bytesWritten -= x;
    weights += operand(other, 1).elements;
    output += result(other).elements;
  }
  if (op.role == OpRole::Head) {
    // The graph has logits in 32 bits, stacks hold them in 16.
    int64_t surplus = result(op).bytes() - 2 * output;
    f.forward.bytesWritten -= surplus;
    f.backward.bytesRead -= 2 * surplus;
  }
  f.selective = redone(number);
  finishProduct(std::move(f), input, weights, output);
  carriers[number] = int(out.ops.size()) - 1;
  if (precision.frozen)
    adapter(input, output);
  if (facts.joint[number].leader != number)
    sumInputGradient(input);
}

/// The input's gradient of a product is added to that of the one before: a
/// kernel of its own, or one operand more of the compiled kernel that reads it
/// next.
void BlockLowering::sumInputGradient(int64_t input) {
  OpFeature f;
  f.kernel = KernelClass::Elementwise;
  f.forwardLaunches = 0;
  f.backwardLaunches = traits.fusedElementwise ? 0 : 1;
  f.backward.vectorFlops = input;
  f.backward.bytesRead = (traits.fusedElementwise ? 2 : 4) * input;
  f.backward.bytesWritten = traits.fusedElementwise ? 0 : 2 * input;
  add(f);
}

void BlockLowering::router(int number) {
  const RankOp &op = block.ops[number];
  int64_t x = operand(op, 0).elements, w = operand(op, 1).elements;
  int64_t scores = op.cost.shape.m * op.experts;
  OpFeature f = productFeature(op, DataType::BF16);
  f.kernel = KernelClass::Matmul;
  f.forward = {op.cost.forward.matmulFlops, 0, 2 * (x + w), 2 * scores};
  f.backward = {op.cost.backward.matmulFlops, 0, 2 * (x + w + 2 * scores),
                2 * (x + w)};
  finishProduct(std::move(f), x, w, scores);
  if (precision.frozen)
    adapter(x, scores);
  // Scores, choice and weights in 32 bits, a handful of small kernels.
  OpFeature choice =
      sweep(double(scores), 4, 4, 1.0, KernelClass::RowReduction, {6, 7});
  choice.savedBytes = 4 * scores;
  carriers[number] = add(choice);
}

/// A low-rank adapter beside a frozen weight: two thin products that read the
/// input and add to the output, and the same backward.
void BlockLowering::adapter(int64_t input, int64_t output) {
  OpFeature f;
  f.kernel = KernelClass::Elementwise;
  f.forward.bytesRead = 2 * (input + output);
  f.forward.bytesWritten = 2 * output;
  f.backward.bytesRead = 2 * (2 * input + output);
  f.backward.bytesWritten = 2 * input;
  f.forwardLaunches = 3;
  f.backwardLaunches = 5;
  add(f);
}

/// A tensor is read once and written as it is and transposed, a byte an element
/// each. Where experts' products are kernels of their own, each direction reads
/// it anew, and scales are brought into the order that the product wants:
/// pytorch/ao measures 1.58 ns for a thousand elements of the input and 2.1 of
/// the gradient on B200 (torchao/prototype/moe_training/README.md, "MXFP8
/// Kernel Breakdown by Pass"), four times as long as one such pass at the
/// memory's speed.
void BlockLowering::quantise(int64_t input, int64_t gradient, bool experts) {
  double passes = experts && !traits.fusedExperts ? 4.0 : 1.0;
  OpFeature f;
  f.kernel = KernelClass::Elementwise;
  f.forward.bytesRead = f.forward.bytesWritten = int64_t(2 * passes * input);
  f.backward.bytesRead = f.backward.bytesWritten =
      int64_t(2 * passes * gradient);
  f.forwardLaunches = f.backwardLaunches = 0; // counted by the product
  add(f);
}
