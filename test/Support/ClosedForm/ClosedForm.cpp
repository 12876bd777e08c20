//===- ClosedForm.cpp - features of models in closed form -----------------===//
//
// Block structure after Megatron-LM (arXiv 1909.08053, 2205.05198) for dense
// models, DeepSeek-V2/V3 (arXiv 2405.04434, 2412.19437) for latent attention
// and shared experts.
//
//===----------------------------------------------------------------------===//
#include "ClosedForm.h"
#include <algorithm>

using namespace tessera;

namespace {
/// Collects the ops of one block.
class Builder {
public:
  Builder(const ModelShape &s, const Layout &l, const StackTraits &t,
          const Precision &p)
      : s(s), l(l), t(t), p(p) {
    fused = t.attention != AttentionKernel::Unfused;
    tokens = l.microBatch * s.sequence / l.cp;
    // Outside the matrix products, sequence parallelism splits the tokens.
    split = l.sequenceParallel ? tokens / l.tp : tokens;
  }

  void elementwise(double elements, double readBytes, double writeBytes,
                   double savedBytes, KernelClass kernel,
                   double backwardFactor = 1.5, int launches = 1) {
    OpFeature op;
    op.kernel = kernel;
    op.forward.bytesRead = int64_t(elements * readBytes);
    op.forward.bytesWritten = int64_t(elements * writeBytes);
    op.forward.vectorFlops = int64_t(4 * elements);
    op.backward.bytesRead = int64_t(elements * readBytes * backwardFactor);
    op.backward.bytesWritten = int64_t(elements * writeBytes * backwardFactor);
    op.backward.vectorFlops = int64_t(8 * elements);
    op.savedBytes = int64_t(elements * savedBytes);
    op.forwardLaunches = launches;
    op.backwardLaunches = launches + 1;
    block.ops.push_back(op);
  }

  /// [m, k] x [k, n] with its weight; `saved` bytes of input kept.
  void linear(int64_t m, int64_t n, int64_t k, double saved, DataType type,
              int64_t batch = 1, bool expert = false) {
    OpFeature op;
    op.kernel =
        batch > 1 || expert ? KernelClass::GroupedMatmul : KernelClass::Matmul;
    op.type = type;
    op.shape = {batch, m, n, k};
    double in = bytesOf(type);
    int64_t weights = batch * n * k;
    op.forward.matmulFlops = 2 * batch * m * n * k;
    op.forward.bytesRead = int64_t(in * (batch * m * k + weights));
    op.forward.bytesWritten = 2 * batch * m * n;
    op.backward.matmulFlops = (p.frozen ? 1 : 2) * op.forward.matmulFlops;
    op.backward.bytesRead =
        int64_t(in * (2 * batch * m * n + batch * m * k + weights));
    op.backward.bytesWritten = 2 * batch * m * k;
    if (!p.frozen) {
      // The weight gradient: added in place in 32 bits, or written in 16.
      bool inPlace = t.fusedGradientAccumulation && l.zeroStage < 3;
      op.backward.bytesRead += inPlace ? 4 * weights : 0;
      op.backward.bytesWritten += (inPlace ? 4 : 2) * weights;
    }
    op.savedBytes = int64_t(saved);
    // Libraries start one kernel per expert.
    op.forwardLaunches = int(batch);
    op.backwardLaunches = int(2 * batch);
    if (in < 2) {
      // Quantising input and gradient, each with its transpose.
      op.forwardLaunches += int(batch);
      op.backwardLaunches += int(batch);
      quantise(batch * m * k, batch * m * n);
    }
    block.ops.push_back(op);
    if (p.frozen)
      adapter(batch * m * k, batch * m * n);
    (expert ? block.expertParameters : block.denseParameters) += weights;
  }

  void collective(CollectiveKind kind, ParallelAxis axis, double bytes,
                  int forward, int backward, bool overlappable = false) {
    if (forward || backward)
      block.collectives.push_back(
          {kind, axis, int64_t(bytes), forward, backward, overlappable});
  }

  /// What leaves one tensor-parallel region and enters the next.
  void tensorParallel(int regions) {
    if (l.tp <= 1)
      return;
    double bytes = 2.0 * tokens * s.hidden;
    if (!l.sequenceParallel) {
      collective(CollectiveKind::AllReduce, ParallelAxis::TP, bytes, regions,
                 regions);
      return;
    }
    double gathered = bytesOf(p.linear) / 2.0 * bytes;
    collective(CollectiveKind::AllGather, ParallelAxis::TP, gathered, regions,
               regions);
    collective(CollectiveKind::ReduceScatter, ParallelAxis::TP, bytes, regions,
               regions);
    // The saved input is gathered again for the weight gradient.
    if (!p.frozen)
      collective(CollectiveKind::AllGather, ParallelAxis::TP, gathered, 0,
                 regions, /*overlappable=*/true);
  }

  /// A norm keeps its output (a product's input, `saved` bytes an element; its
  /// own input belongs to the residual sum before it). Where attention is
  /// fused, "selective" recomputes norms and activation functions instead.
  void norm(double count, double saved) {
    elementwise(count, 2, 2, saved, KernelClass::RowReduction, 1.5);
    block.ops.back().selective = fused;
  }
  /// Reads `inputs` tensors of `elements`, keeps its output; its input is kept
  /// by the product before it.
  void activation(double elements, int64_t inputs, double saved) {
    elementwise(elements, 2 * inputs, 2, saved, KernelClass::Elementwise, 1.4,
                t.fusedElementwise ? 1 : 2);
    block.ops.back().selective = fused;
  }
  void residual() {
    double elements = double(split) * s.hidden;
    if (t.dropout)
      elementwise(elements, 4, 3, 3, KernelClass::Elementwise, 0.8);
    else
      elementwise(elements, 4, 2, 2, KernelClass::Elementwise, 0.4);
    if (!t.fusedElementwise)
      block.ops.back().forwardLaunches += 2;
  }

  /// `keepsInputs`: queries, keys and values are counted here.
  void attentionCore(int64_t queryDim, int64_t valueDim, int64_t heads,
                     int64_t kvHeads, bool keepsInputs = true);
  void attention();
  void contextExchange(int64_t queries, int64_t keyValues, int64_t result);
  void denseFfn(int64_t width);
  void experts();
  BlockFeatures take() {
    BlockFeatures done = std::move(block);
    block = {};
    return done;
  }

  const ModelShape &s;
  const Layout &l;
  const StackTraits &t;
  const Precision &p;
  int64_t tokens, split;
  bool fused; ///< attention
  BlockFeatures block;

private:
  /// A low-rank adapter beside a frozen weight: two thin products that read the
  /// input and add to the output, and the same backward.
  void adapter(int64_t input, int64_t output) {
    OpFeature op;
    op.kernel = KernelClass::Elementwise;
    op.forward.bytesRead = 2 * (input + output);
    op.forward.bytesWritten = 2 * output;
    op.backward.bytesRead = 2 * (2 * input + output);
    op.backward.bytesWritten = 2 * input;
    op.forwardLaunches = 3;
    op.backwardLaunches = 5;
    block.ops.push_back(op);
  }
  void quantise(int64_t input, int64_t gradient) {
    OpFeature op;
    op.kernel = KernelClass::Elementwise;
    op.forward.bytesRead = 2 * input;
    op.forward.bytesWritten = 2 * input;
    op.backward.bytesRead = 2 * gradient;
    op.backward.bytesWritten = 2 * gradient;
    op.forwardLaunches = op.backwardLaunches = 0; // counted by the product
    block.ops.push_back(op);
  }
};
} // namespace

void Builder::attentionCore(int64_t queryDim, int64_t valueDim, int64_t heads,
                            int64_t kvHeads, bool keepsInputs) {
  int64_t b = l.microBatch, seq = s.sequence;
  int64_t rows = seq / l.cp; // of this rank
  if (fused) {
    OpFeature op;
    op.kernel = KernelClass::Attention;
    // Load-balanced context parallelism works in halves of a rank's rows.
    op.shape = {b * heads, l.cp > 1 ? rows / 2 : rows, seq,
                (queryDim + valueDim) / 2};
    double flops = double(b) * heads * rows * seq *
                   ((s.relative ? 2 : 1) * queryDim + valueDim);
    if (s.bidirectional)
      flops *= 2;
    op.forward.matmulFlops = int64_t(flops); // 2 products x 2 / causal half
    // Five products for two, eight for three with scores by distance.
    op.backward.matmulFlops = int64_t((s.relative ? 8.0 / 3 : 2.5) * flops);
    double q = double(tokens) * heads * queryDim;
    double kv = double(tokens) * kvHeads * (queryDim + valueDim);
    double o = double(tokens) * heads * valueDim;
    op.forward.bytesRead = int64_t(2 * (q + kv));
    op.forward.bytesWritten = int64_t(2 * o);
    op.backward.bytesRead = int64_t(2 * (q + kv + 2 * o));
    op.backward.bytesWritten = int64_t(2 * (q + kv));
    op.savedBytes = int64_t(2 * ((keepsInputs ? q + kv : 0) + o) +
                            4 * double(tokens) * heads);
    op.backwardLaunches = 3;
    block.ops.push_back(op);
    return;
  }
  double scores = double(b) * heads * rows * seq;
  auto product = [&](int64_t n, int64_t k, double saved) {
    OpFeature op;
    op.kernel = KernelClass::Matmul;
    op.selective = true;
    op.shape = {b * heads, rows, n, k};
    op.forward.matmulFlops = 2 * b * heads * rows * n * k;
    double bytes = 2.0 * b * heads * (rows * n + rows * k + n * k);
    op.forward.bytesRead = int64_t(bytes * 0.7);
    op.forward.bytesWritten = int64_t(bytes * 0.3);
    op.backward.matmulFlops = 2 * op.forward.matmulFlops;
    op.backward.bytesRead = int64_t(bytes * 1.4);
    op.backward.bytesWritten = int64_t(bytes * 0.6);
    op.savedBytes = int64_t(saved);
    op.forwardLaunches = 1;
    op.backwardLaunches = 2;
    block.ops.push_back(op);
  };
  // Queries, keys and values are kept outside what is recomputed; scores after
  // softmax (2 bytes), dropout's mask (1) and result (2) inside: 5abs^2.
  product(seq, queryDim, 0);
  elementwise(scores, 2, 2, 2, KernelClass::RowReduction, 1.5);
  block.ops.back().selective = true;
  if (t.dropout) {
    elementwise(scores, 2, 3, 3, KernelClass::Elementwise, 1.0);
    block.ops.back().selective = true;
  }
  product(valueDim, seq, 0);
}

void Builder::attention() {
  int64_t h = s.hidden, heads = s.heads / l.tp;
  DataType type = p.linear;
  double kept = bytesOf(type);
  norm(double(split) * h, kept);
  if (s.latent()) {
    int64_t q = s.nopeDim + s.ropeDim, v = s.valueDim;
    // The low-rank projections down are replicated over tensor parallelism.
    int64_t rows = split;
    // Projections up and rotation are redone with the norms (arXiv 2412.19437,
    // section 3.2.3), so what they make is kept with them.
    auto up = [&](int64_t width, int64_t rank) {
      linear(tokens, heads * width, rank, 2.0 * tokens * heads * width, type);
      block.ops.back().selective = fused;
    };
    if (s.queryRank) {
      linear(rows, s.queryRank, h, 2.0 * rows * s.queryRank, type);
      norm(double(rows) * s.queryRank, kept);
      up(q, s.queryRank);
    } else {
      up(q, h);
    }
    linear(rows, s.keyRank + s.ropeDim, h, 2.0 * rows * s.keyRank, type);
    norm(double(rows) * s.keyRank, kept);
    up(s.nopeDim + v, s.keyRank);
    // Rotary halves are applied and concatenated: queries and keys pass once
    // more through memory.
    elementwise(double(tokens) * heads * q * 2, 2, 2, double(s.ropeDim) / q,
                KernelClass::Elementwise, 1.0, 4);
    block.ops.back().selective = fused;
    attentionCore(q, v, heads, heads, /*keepsInputs=*/!fused);
    contextExchange(heads * q, heads * (q + v), heads * v);
    linear(tokens, h, heads * v, 0, type);
  } else {
    int64_t d = s.headDim, kv = std::max<int64_t>(1, s.kvHeads / l.tp);
    linear(tokens, (heads + 2 * kv) * d, h, 0, type);
    // The encodings of the distances are the same for all sequences.
    if (s.relative)
      linear(s.sequence, heads * d, h, 2.0 * s.sequence * heads * d, type);
    if (!s.learnedPositions && !s.relative)
      elementwise(double(tokens) * (heads + kv) * d, 2, 2, 0,
                  KernelClass::Elementwise, 1.0, 2);
    else if (!fused)
      // Queries, keys and values, transposed for the batched products; they
      // are what the attention core starts from.
      elementwise(double(tokens) * (heads + 2 * kv) * d, 2, 2, 2,
                  KernelClass::Elementwise, 1.0, 2);
    attentionCore(d, d, heads, kv);
    linear(tokens, h, heads * d, fused ? 0 : 2.0 * tokens * heads * d, type);
    contextExchange(heads * d, 2 * kv * d, heads * d);
  }
  residual();
}

/// What context parallelism moves around the attention core; widths of a token
/// on this rank.
void Builder::contextExchange(int64_t queries, int64_t keyValues,
                              int64_t result) {
  if (l.cp <= 1)
    return;
  double keys = 2.0 * tokens * keyValues;
  switch (l.contextKind) {
  case ContextKind::Ring:
    collective(CollectiveKind::SendRecv, ParallelAxis::CP, keys, l.cp - 1,
               2 * (l.cp - 1), true);
    return;
  case ContextKind::AllGather:
    collective(CollectiveKind::AllGather, ParallelAxis::CP, keys * l.cp, 1, 1);
    collective(CollectiveKind::ReduceScatter, ParallelAxis::CP, keys * l.cp, 0,
               1);
    return;
  case ContextKind::Ulysses:
    collective(CollectiveKind::AllToAll, ParallelAxis::CP,
               2.0 * tokens * queries + keys, 1, 1);
    collective(CollectiveKind::AllToAll, ParallelAxis::CP,
               2.0 * tokens * result, 1, 1);
    return;
  }
}

void Builder::denseFfn(int64_t width) {
  int64_t h = s.hidden, f = width / l.tp, inputs = s.gated ? 2 : 1;
  double kept = bytesOf(p.linear), elements = double(tokens) * f;
  norm(double(split) * h, kept);
  linear(tokens, inputs * f, h, 2 * inputs * elements, p.linear);
  activation(elements, inputs, kept);
  linear(tokens, h, f, 0, p.linear);
  residual();
}

void Builder::experts() {
  int64_t h = s.hidden, f = s.expertFfn / l.etp;
  double kept = bytesOf(p.linear);
  // Tensor-parallel ranks hold different tokens when they come to the experts.
  int64_t mine = std::max<int64_t>(1, tokens / l.tp);
  double routed = double(mine) * s.topk;
  int64_t local = std::max<int64_t>(1, s.experts / l.ep);
  int64_t rows = std::max<int64_t>(1, int64_t(routed * l.etp) / local);
  norm(double(mine) * h, 2);
  linear(mine, s.experts, h, 0, DataType::BF16);
  elementwise(double(mine) * s.experts, 4, 4, 4, KernelClass::RowReduction, 1.0,
              6);
  // Permute, dispatch, (permute again by expert), products, the way back.
  elementwise(routed * h, 2, 2, 0, KernelClass::Gather, 1.0, 3);
  double dispatched = 2.0 * routed * h, combined = 2.0 / s.topk;
  bool gathered = l.ep > 1 && l.dispatcher == DispatcherKind::AllGather;
  if (gathered) {
    // Megatron-Core's all-gather dispatcher: a rank gets the tokens of the
    // whole group with their routing (a flag and a 32-bit weight for each
    // expert) and picks those of its own experts; what these give is added to
    // a sum of the same size, which is reduced and scattered.
    dispatched = 2.0 * mine * l.ep * h;
    combined = 2.0 * l.ep * l.etp / s.topk;
    double choices = double(mine) * l.ep * s.experts;
    collective(CollectiveKind::AllGather, ParallelAxis::EP, dispatched, 1, 1);
    collective(CollectiveKind::ReduceScatter, ParallelAxis::EP, dispatched, 1,
               1);
    collective(CollectiveKind::AllGather, ParallelAxis::EP, 5 * choices, 1, 0);
    collective(CollectiveKind::ReduceScatter, ParallelAxis::EP, 4 * choices, 0,
               1);
    block.transientBytes =
        std::max(block.transientBytes, int64_t(2 * dispatched * l.etp));
  } else {
    collective(CollectiveKind::AllToAll, ParallelAxis::EP, dispatched, 2, 2);
    block.collectives.back().copies = int(s.topk);
  }
  bool again =
      l.ep > 1 && local > 1 && l.dispatcher == DispatcherKind::AllToAll;
  if (again)
    elementwise(routed * h, 2, 2, 0, KernelClass::Gather, 1.0, 2);
  if (l.etp > 1) {
    collective(CollectiveKind::AllGather, ParallelAxis::ETP, dispatched * l.etp,
               1, 1);
    collective(CollectiveKind::ReduceScatter, ParallelAxis::ETP,
               dispatched * l.etp, 1, 1);
  }
  double inside = double(rows) * local * f;
  linear(rows, 2 * f, h, kept * routed * h + 4 * inside, p.linear, local, true);
  activation(inside, 2, kept);
  linear(rows, h, f, 0, p.linear, local, true);
  if (again)
    elementwise(routed * h, 2, 2, 0, KernelClass::Gather, 1.0, 2);
  elementwise(routed * h, 2, combined, t.weighsInActivation ? 0 : 2,
              KernelClass::Gather, 1.0, 2);
  if (s.sharedFfn) {
    int64_t sf = s.sharedFfn / l.tp;
    double elements = double(tokens) * sf;
    linear(tokens, 2 * sf, h, 4 * elements, p.linear);
    activation(elements, 2, kept);
    linear(tokens, h, sf, 0, p.linear);
    tensorParallel(1);
  }
  residual();
}

static BlockFeatures head(Builder &b) {
  const ModelShape &s = b.s;
  b.norm(double(b.split) * s.hidden, 2);
  if (s.headTransform)
    b.linear(b.split, s.hidden, s.hidden, 2.0 * b.split * s.hidden,
             DataType::BF16);
  double logits = double(b.tokens) * s.vocab / b.l.tp;
  b.linear(b.tokens, s.vocab / b.l.tp, s.hidden, 0, DataType::BF16);
  if (s.tied && b.l.pp == 1)
    b.block.denseParameters -= s.vocab / b.l.tp * s.hidden;
  // Softmax and loss in 32 bits. Megatron's vocab_parallel_cross_entropy of
  // 2021 casts, takes the maximum, subtracts, exponentiates, sums and divides,
  // each a pass of its own; PyTorch's loss makes half as many, a fused one one.
  int kept = b.t.fusedLoss ? 2 : 6;
  if (b.t.fusedLoss && b.t.fusedElementwise)
    b.elementwise(logits, 4, 0, kept, KernelClass::RowReduction, 0.5, 2);
  else if (b.t.fusedElementwise)
    b.elementwise(logits, 6, 4, 6, KernelClass::RowReduction, 0.6, 3);
  else if (b.t.fsdp)
    b.elementwise(logits, 12, 8, kept, KernelClass::RowReduction, 0.6, 10);
  else
    b.elementwise(logits, 22, 16, kept, KernelClass::RowReduction, 0.37, 10);
  // The product's gathered input is kept and its gradient arises whole where
  // the framework's tensors do the gathering (DTensor).
  if (b.t.fsdp && b.l.sequenceParallel) {
    b.block.ops.back().savedBytes += 2 * b.tokens * s.hidden;
    b.block.transientBytes += 2 * b.tokens * s.hidden;
  }
  // Gradient of the logits; eager losses hold one more 32-bit copy.
  b.block.transientBytes += int64_t(logits * (b.t.fusedLoss ? 2
                                              : b.t.fsdp    ? 8
                                                            : 4));
  if (b.l.tp > 1) {
    double bytes = 2.0 * b.tokens * s.hidden;
    if (b.l.sequenceParallel) {
      b.collective(CollectiveKind::AllGather, ParallelAxis::TP, bytes, 1, 1);
      b.collective(CollectiveKind::ReduceScatter, ParallelAxis::TP, bytes, 0,
                   1);
    } else {
      b.collective(CollectiveKind::AllReduce, ParallelAxis::TP, bytes, 0, 1);
    }
    b.collective(CollectiveKind::AllReduce, ParallelAxis::TP, 4.0 * b.tokens, 3,
                 0);
  }
  b.block.name = "head";
  return b.take();
}

static BlockFeatures embedding(Builder &b) {
  const ModelShape &s = b.s;
  double elements = double(b.split) * s.hidden;
  b.elementwise(elements, 2, b.t.dropout ? 5 : 2, b.t.dropout ? 1 : 0,
                KernelClass::Gather, 2.0, b.s.learnedPositions ? 3 : 1);
  b.block.denseParameters = s.vocab / b.l.tp * s.hidden +
                            (s.learnedPositions ? s.sequence * s.hidden : 0);
  // Its gradient arises whole before it is added to the sum.
  b.block.transientBytes = 2 * (s.vocab / b.l.tp) * s.hidden;
  if (b.l.tp > 1)
    b.collective(b.l.sequenceParallel ? CollectiveKind::ReduceScatter
                                      : CollectiveKind::AllReduce,
                 ParallelAxis::TP, 2.0 * b.tokens * s.hidden, 1,
                 b.l.sequenceParallel ? 1 : 0);
  b.block.name = "embedding";
  return b.take();
}

ModelFeatures tessera::closedFormFeatures(const ModelShape &s, const Layout &l,
                                          const StackTraits &traits,
                                          const Precision &precision) {
  Builder b(s, l, traits, precision);
  ModelFeatures f;
  f.blocks.push_back(embedding(b));
  int64_t sparse = s.experts ? s.layers - s.denseLayers : 0;
  int64_t input = 2 * b.split * s.hidden;
  f.calls.push_back({0, 1, true});
  if (s.layers > sparse) {
    b.attention();
    b.denseFfn(s.ffn);
    b.tensorParallel(2);
    b.block.name = "dense";
    b.block.inputBytes = input;
    f.calls.push_back({int(f.blocks.size()), int(s.layers - sparse), false});
    f.blocks.push_back(b.take());
  }
  if (sparse > 0) {
    b.attention();
    b.experts();
    b.tensorParallel(1);
    b.block.name = "experts";
    b.block.inputBytes = input;
    f.calls.push_back({int(f.blocks.size()), int(sparse), false});
    f.blocks.push_back(b.take());
  }
  f.calls.push_back({int(f.blocks.size()), 1, true});
  f.blocks.push_back(head(b));
  // Megatron scatters the boundary over tensor-parallel ranks (section 4.1 of
  // arXiv 2104.04473); sequence parallelism has it scattered already.
  f.boundaryBytes = 2 * b.tokens * s.hidden / l.tp;
  return f;
}

ModelFeatures ClosedFormProvider::features(const Layout &layout) const {
  ModelFeatures f = closedFormFeatures(shape, layout, traits, precision);
  applyExpertSkew(f, shape, layout, skew);
  return f;
}
