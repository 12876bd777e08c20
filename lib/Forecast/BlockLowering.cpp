//===- BlockLowering.cpp - one block on a software stack ------------------===//
//
// Sources of what stacks do: arXiv 2205.05198 (unfused attention and its
// activations, what "selective" recomputes), Megatron-Core (biases in the
// product's or the next kernel, latent attention's rotary halves applied and
// concatenated), PyTorch's cross-entropy in 32 bits.
//
//===----------------------------------------------------------------------===//
#include "lib/Forecast/BlockLowering.h"

#include "lib/Forecast/UnbuiltAxes.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using namespace tessera::forecast;

OpFeature BlockLowering::sweep(double elements, double read, double written,
                               double backwardShare, KernelClass kernel,
                               Launches n) const {
  OpFeature f;
  f.kernel = kernel;
  f.forward = {0, int64_t(4 * elements), int64_t(elements * read),
               int64_t(elements * written)};
  f.backward = {0, int64_t(8 * elements),
                int64_t(elements * read * backwardShare),
                int64_t(elements * written * backwardShare)};
  f.forwardLaunches = n.forward;
  f.backwardLaunches = n.backward;
  return f;
}

/// The op as it states itself, in so many kernels.
void BlockLowering::pass(int number, Launches n) {
  const RankOp &op = block.ops[number];
  OpFeature f;
  f.kernel = op.cost.kernel;
  f.forward = op.cost.forward;
  f.backward = op.cost.backward;
  f.forwardLaunches = n.forward;
  f.backwardLaunches = n.backward;
  f.savedBytes = op.cost.savedExtraBytes;
  f.selective = redone(number);
  carriers[number] = add(f);
}

bool BlockLowering::redone(int number) const {
  const RankOp &op = block.ops[number];
  if (!fusedAttention) // unfusedAttention() says what is of its core
    return false;
  switch (traits.selective) {
  case SelectivePart::Light:
    // "Recomputation of RMSNorm and MLA up-projection": arXiv 2412.19437,
    // section 3.2.3.
    return op.role == OpRole::Norm || op.role == OpRole::Activation ||
           feedsLatentAttention(number);
  case SelectivePart::Modules:
    return redoneModule(op, number);
  }
  return false;
}

bool BlockLowering::feedsLatentAttention(int number) const {
  return block.ops[number].role == OpRole::Linear &&
         consumer(block, number) == OpRole::LatentAttention;
}

/// selectiveModules() of tessera/Planning/Framework.h. "layernorm" finds the
/// norms that are no part of the product behind them: the one before experts,
/// and with latent attention the one before that, whose own norms belong to
/// "mla_up_proj".
bool BlockLowering::redoneModule(const RankOp &op, int number) const {
  if (!facts.lightModules)
    return op.role == OpRole::Attention;
  if (op.role == OpRole::Norm) {
    bool last =
        llvm::none_of(llvm::ArrayRef(block.ops).drop_front(number + 1),
                      [](const RankOp &o) { return o.role == OpRole::Norm; });
    return last ? facts.hasExperts : facts.hasLatent;
  }
  if (op.role == OpRole::Activation) {
    int maker = operand(op, 0).producer;
    return maker >= 0 && block.ops[maker].role == OpRole::GroupedLinear;
  }
  return feedsLatentAttention(number);
}

/// Passes over the last op's elements where PyTorch's operations are kernels of
/// their own. RMSNorm casts to 32 bits, squares, takes the mean, scales, casts
/// back and multiplies by the gain; a rotation casts, multiplies as complex
/// numbers (or by cosine and sine, and adds) and casts back; a gate is applied
/// after its activation (Llama's reference model.py, transformers'
/// modeling_llama.py). Backward each has its kernels too, gradients of 32-bit
/// values are in 32 bits.
void BlockLowering::compose(int number) {
  const RankOp &op = block.ops[number];
  int64_t n = op.cost.forward.bytesWritten / 2;
  auto set = [&](int64_t read, int64_t written, int64_t backwardRead,
                 int64_t backwardWritten, Launches launches) {
    OpFeature &f = out.ops.back();
    f.forward.bytesRead = read * n;
    f.forward.bytesWritten = written * n;
    f.backward.bytesRead = backwardRead * n;
    f.backward.bytesWritten = backwardWritten * n;
    f.forwardLaunches = launches.forward;
    f.backwardLaunches = launches.backward;
  };
  // Norms without a shift stand in models of PyTorch's one-kernel layer norm
  // too; those have neither gates nor rotations.
  bool llama = llvm::any_of(block.ops, [](const RankOp &o) {
    return o.role == OpRole::Rotary ||
           (o.role == OpRole::Activation && o.operands.size() > 1);
  });
  if (op.role == OpRole::Norm && op.rootMeanSquare && llama)
    set(20, 16, 60, 30, {7, 15});
  else if (op.role == OpRole::Rotary)
    set(11, 10, 12, 11, {6, 6});
  else if (op.role == OpRole::Activation && op.operands.size() > 1)
    set(6, 4, 12, 6, {2, 3});
}

/// The residual sum, with the dropout before it. Backward the skip's gradient
/// joins the branch's: one tensor more is read where that is written.
void BlockLowering::addition(int number) {
  const RankOp &op = block.ops[number];
  pass(number, {traits.fusedElementwise ? 1 : 3, 2});
  OpFeature &f = out.ops.back();
  int64_t n = result(op).elements;
  f.backward.bytesRead += 2 * n;
  if (traits.dropout) {
    f.forward.bytesWritten += n; // the mask
    f.savedBytes += n;
    f.backward.bytesRead += n;
    f.backward.bytesWritten += 2 * n;
  }
}

/// Frameworks sort tokens once more by expert after an unfused dispatch.
bool BlockLowering::sortsAgain(const RankOp &op) const {
  if (layout.ep <= 1 || layout.dispatcher != DispatcherKind::AllToAll)
    return false;
  for (const RankOp &other : block.ops)
    if (other.role == OpRole::GroupedLinear)
      return other.experts > 1;
  return false;
}

void BlockLowering::gather(int number, int launches) {
  const RankOp &op = block.ops[number];
  bool rows = op.role == OpRole::Permute || op.role == OpRole::Combine;
  pass(number, {launches, launches + 1});
  // The table's gradient arises whole before it is added to the sum.
  if (op.role == OpRole::Embedding)
    out.transientBytes += 2 * operand(op, 1).elements;
  if (op.role == OpRole::Embedding && traits.dropout) {
    OpFeature &f = out.ops.back();
    f.forward.bytesWritten += 3 * result(op).elements;
    f.savedBytes += result(op).elements;
  }
  if (op.role == OpRole::Combine && gathersTokens(layout)) {
    // Into a sum of all tokens of the group.
    int64_t more = result(op).bytes() * (layout.ep * layout.etp - 1);
    out.ops.back().forward.bytesWritten += more;
    out.ops.back().backward.bytesRead += more;
  }
  if (rows && sortsAgain(op)) {
    const RankTensor &t =
        op.role == OpRole::Permute ? result(op) : operand(op, 0);
    add(sweep(double(t.elements), 2, 2, 1.0, KernelClass::Gather, {2, 3}));
  }
}

/// Softmax and loss in 32 bits. Megatron's vocab_parallel_cross_entropy of 2021
/// casts, takes the maximum, subtracts, exponentiates, sums and divides, each a
/// pass of its own; PyTorch's loss makes half as many, a compiled one one.
/// Transformer Engine's fused loss reads the 16-bit logits twice and once more
/// for their gradient, which it writes. (Beside FlashAttention's, llm-foundry
/// computes its training metrics from the logits, so that it takes no fewer.)
void BlockLowering::loss(int number) {
  const RankOp &op = block.ops[number];
  const RankTensor &logits = operand(op, 0);
  double n = double(logits.elements);
  KernelClass kernel = KernelClass::RowReduction;
  OpFeature f = traits.fusedElementwise ? sweep(n, 6, 4, 0.6, kernel, {3, 4})
                : traits.fsdp ? sweep(n, 12, 8, 0.6, kernel, {10, 11})
                              : sweep(n, 22, 16, 0.37, kernel, {10, 11});
  if (traits.fusedLoss && traits.fusedElementwise) {
    f = sweep(n, 4, 0, 0.5, kernel, {2, 1});
    f.backward.bytesWritten = 2 * logits.elements;
  }
  f.savedBytes = traits.lossBytes() * logits.elements;
  // Gradient of the logits; eager losses hold one more 32-bit copy, and one
  // more where the vocabulary is split
  // (torch/distributed/tensor/parallel/loss.py).
  int eager = layout.tp > 1 ? 12 : 8;
  out.transientBytes += int64_t(n * (traits.fusedLoss ? 2
                                     : traits.fsdp    ? eager
                                                      : 4));
  if (traits.fsdp && layout.sequenceParallel && logits.producer >= 0) {
    // The product's gathered input is kept and its gradient arises whole where
    // the framework's tensors do the gathering (DTensor).
    int64_t x = 2 * operand(block.ops[logits.producer], 0).elements;
    f.savedBytes += x;
    out.transientBytes += x;
  }
  carriers[number] = add(f);
  // Maximum, sum and the label's logit of each token.
  if (layout.tp > 1)
    out.collectives.push_back({CollectiveKind::AllReduce, ParallelAxis::TP,
                               4 * operand(op, 1).elements, 3, 0, false});
}

void BlockLowering::attention(int number) {
  const RankOp &op = block.ops[number];
  const AttentionSizes &a = op.attention;
  addContextExchange(block, op, layout, out.collectives);
  if (op.role == OpRole::LatentAttention) {
    // Rotary halves are applied and concatenated: queries and keys pass once
    // more through memory, and the keys of all heads are kept.
    double queries = double(operand(op, 0).elements);
    OpFeature f =
        sweep(2 * queries, 2, 2, 1.0, KernelClass::Elementwise, {4, 5});
    f.selective = fusedAttention;
    f.savedBytes = 2 * operand(op, 0).elements / a.keyWidth * a.rotaryWidth;
    add(f);
  }
  if (!fusedAttention)
    return unfusedAttention(number);
  pass(number, {1, 3});
  out.ops.back().shape = op.cost.shape;
  out.ops.back().shape.k = (a.keyWidth + a.valueWidth) / 2;
  if (!out.ops.back().selective)
    return;
  // Its result stays: the next product needs it and is not done again.
  OpFeature kept;
  kept.forwardLaunches = kept.backwardLaunches = 0;
  carriers[number] = add(kept);
}

/// Scores pass through memory. They are kept after softmax (2 bytes), with
/// dropout's mask (1) and result (2): 5 a s^2 b of arXiv 2205.05198.
void BlockLowering::unfusedAttention(int number) {
  const RankOp &op = block.ops[number];
  const AttentionSizes &a = op.attention;
  bool rotated = llvm::any_of(block.ops, [](const RankOp &o) {
    return o.role == OpRole::Rotary || o.role == OpRole::LatentAttention;
  });
  // Queries, keys and values are transposed for the batched products; rotary
  // embeddings do that on their way.
  double elements = 0;
  for (int i = 0; i < 3 && !rotated; ++i)
    elements += double(operand(op, i).elements);
  Launches transposes = rotated ? Launches{0, 0} : Launches{2, 3};
  carriers[number] =
      add(sweep(elements, 2, 2, 1.0, KernelClass::Elementwise, transposes));
  double scores = double(a.heads) * a.rows * a.keys;
  auto product = [&](int64_t n, int64_t k) {
    OpFeature f;
    f.kernel = KernelClass::Matmul;
    f.selective = true;
    f.shape = {a.heads, a.rows, n, k};
    f.forward.matmulFlops = 2 * a.heads * a.rows * n * k;
    double bytes = 2.0 * a.heads * (a.rows * n + a.rows * k + n * k);
    f.forward.bytesRead = int64_t(bytes * 0.7);
    f.forward.bytesWritten = int64_t(bytes * 0.3);
    f.backward.matmulFlops = 2 * f.forward.matmulFlops;
    f.backward.bytesRead = int64_t(bytes * 1.4);
    f.backward.bytesWritten = int64_t(bytes * 0.6);
    f.backwardLaunches = 2;
    add(f);
  };
  auto row = [&](double written, double saved, double backward,
                 KernelClass kernel) {
    OpFeature f = sweep(scores, 2, written, backward, kernel, {1, 2});
    f.savedBytes = int64_t(scores * saved);
    f.selective = true;
    add(f);
  };
  product(a.keys, a.keyWidth);
  if (a.relative)
    product(a.keys, a.keyWidth);
  row(2, 2, 1.5, KernelClass::RowReduction);
  if (traits.dropout)
    row(3, 3, 1.0, KernelClass::Elementwise);
  product(a.valueWidth, a.keys);
}

void BlockLowering::lower(int number) {
  size_t before = out.ops.size();
  lowerRole(number);
  if (traits.composed && out.ops.size() == before + 1)
    compose(number);
}

void BlockLowering::lowerRole(int number) {
  const RankOp &op = block.ops[number];
  switch (op.role) {
  case OpRole::Linear:
  case OpRole::Head:
  case OpRole::GroupedLinear:
    return product(number);
  case OpRole::Router:
    return router(number);
  case OpRole::Norm:
    return pass(number, {1, 2});
  case OpRole::Activation: {
    int n = traits.fusedElementwise ? 1 : 2;
    return pass(number, {n, n + 1});
  }
  case OpRole::Add:
    return addition(number);
  case OpRole::Rotary:
    return pass(number, {1, 2});
  case OpRole::Positions:
    return pass(number, {2, 2});
  case OpRole::Embedding:
    return gather(number, 1);
  case OpRole::Permute:
    return gather(number, 3);
  case OpRole::Combine:
    return gather(number, 2);
  case OpRole::Attention:
  case OpRole::LatentAttention:
    return attention(number);
  case OpRole::Loss:
    return loss(number);
  case OpRole::Bias:     // in the product's or the next kernel
  case OpRole::LossTail: // a few numbers
  case OpRole::View:
  case OpRole::Collective:
    return;
  }
}

/// Hands what is kept to the features that make it, so that recomputing those
/// frees it; to the one that needs it where nothing of the block makes it anew.
void BlockLowering::keep() {
  int input = -1;
  for (const KeptTensor &k : needs.kept) {
    const RankOp &keeper = block.ops[k.keeper];
    if (keeper.role == OpRole::Loss || keeper.role == OpRole::LossTail)
      continue; // loss() says what is kept of the logits
    if (keeper.role == OpRole::Combine && traits.weighsInActivation &&
        k.tensor == keeper.operands[0])
      continue;
    const RankTensor &tensor = block.tensors[k.tensor];
    int64_t bytes = tensor.bytes();
    if (k.onlyProducts && tensor.elementBytes == 2)
      bytes = int64_t(double(tensor.elements) * bytesOf(precision.linear));
    int op = tensor.producer, carrier = -1;
    while (op >= 0 && (carrier = carriers[op]) < 0 &&
           block.ops[op].role != OpRole::Collective)
      op = block.tensors[block.ops[op].operands[0]].producer;
    if (carrier < 0 && op >= 0)
      carrier = carriers[k.keeper];
    if (carrier < 0) {
      if (input < 0) {
        OpFeature f; // holds the block's input, takes no time
        f.forwardLaunches = f.backwardLaunches = 0;
        input = add(f);
      }
      carrier = input;
    }
    out.ops[carrier].savedBytes += bytes;
  }
}

/// "Save every odd mm, recompute every even mm", and attention and collectives
/// (torchtitan/distributed/activation_checkpoint.py): of Llama's seven products
/// keys, the attention's output and up are made again. A query that is kept
/// before its rotation is a tensor more than the backward pass asks for.
void BlockLowering::selectOperations() {
  for (OpFeature &f : out.ops)
    f.selective =
        f.kernel != KernelClass::None && f.kernel != KernelClass::Attention;
  int products = 0;
  for (int i = 0; i < int(block.ops.size()); ++i) {
    if (block.ops[i].role != OpRole::Linear || leaderOf(i) != i ||
        ++products % 2 == 0)
      continue;
    OpFeature &f = out.ops[carriers[i]];
    f.selective = false;
    f.selectiveBytes =
        std::max<int64_t>(0, 2 * result(block.ops[i]).elements - f.savedBytes);
  }
}

void BlockLowering::collectives() {
  double narrow = facts.isOuter ? 1.0 : bytesOf(precision.linear) / 2.0;
  for (CollectiveFeature c : bothDirections(block, needs)) {
    if ((c.axis == ParallelAxis::EP && layout.ep <= 1) ||
        (c.axis == ParallelAxis::ETP && layout.etp <= 1))
      continue; // nobody to exchange with
    if (gathersTokens(layout)) {
      if (c.axis == ParallelAxis::EP)
        continue;
      if (c.axis == ParallelAxis::ETP)
        c.bytes = c.bytes * layout.ep / chosen();
    }
    // Inputs of products are gathered in their number format.
    if (c.kind == CollectiveKind::AllGather && c.axis == ParallelAxis::TP)
      c.bytes = int64_t(double(c.bytes) * narrow);
    // Without weight gradients nothing is gathered for them.
    if (precision.frozen && c.overlappable && c.axis == ParallelAxis::TP)
      continue;
    out.collectives.push_back(c);
  }
  if (facts.hasExperts && gathersTokens(layout))
    addTokenGathering(block, layout, out);
}

/// Experts of each token.
int64_t BlockLowering::chosen() const {
  for (const RankOp &op : block.ops)
    if (op.role == OpRole::Router)
      return std::max<int64_t>(1, op.chosen);
  return 1;
}

BlockFeatures BlockLowering::run() {
  out.name = block.name;
  out.ops.reserve(block.ops.size());
  carriers.assign(block.ops.size(), -1);
  for (int i = 0; i < int(block.ops.size()); ++i)
    lower(i);
  keep();
  if (traits.selectsOperations)
    selectOperations();
  collectives();
  if (block.input >= 0)
    out.inputBytes = block.tensors[block.input].bytes();
  for (const RankParameter &p : block.parameters)
    (p.expert ? out.expertParameters : out.denseParameters) += p.elements;
  return std::move(out);
}

BlockFeatures forecast::lowerToStack(const RankBlock &block,
                                     const BlockFacts &facts,
                                     const Layout &layout,
                                     const FeatureQuery &query) {
  return BlockLowering(block, facts, layout, query).run();
}
