//===- UnbuiltAxes.cpp - axes the partitioner does not build yet ----------===//
//
// Sources: ring attention arXiv 2310.01889, its load-balanced form and the
// gathered form as in Transformer Engine and arXiv 2407.21783 section 3.3.2,
// Ulysses arXiv 2309.14509; experts as Megatron-Core's all-to-all dispatcher.
//
//===----------------------------------------------------------------------===//
#include "lib/Forecast/UnbuiltAxes.h"

#include "lib/Forecast/ProgramReader.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::forecast;

int64_t forecast::rowsOfExpert(int64_t routed, int64_t experts) {
  return std::max<int64_t>(1, (routed + experts - 1) / experts);
}

int64_t forecast::exchangedRowsOfExpert(int64_t routed, int64_t experts,
                                        const RankSizes &s) {
  int64_t local = std::max<int64_t>(1, experts / s.ep);
  return std::max<int64_t>(1, routed * s.etp / local);
}

int64_t forecast::exchangeBytes(const RankCollective &collective,
                                int64_t routed, int64_t rowBytes,
                                const RankSizes &s) {
  int64_t bytes = routed * rowBytes;
  return collective.axis == ParallelAxis::ETP ? bytes * s.etp : bytes;
}

int ProgramReader::exchange(int tensor, bool dispatch) {
  if (tensor < 0)
    return tensor;
  auto [at, isNew] = exchanged.try_emplace(tensor, tensor);
  if (!isNew)
    return at->second;
  auto add = [&](int from, bool byExpert, CollectiveKind kind,
                 ParallelAxis axis) {
    TensorSpec result = block->tensors[from];
    result.dims[0].kind = byExpert ? DimSpec::Experts : DimSpec::Fixed;
    result.dims[1].kind = byExpert ? DimSpec::ExchangedRows : DimSpec::Rows;
    result.producer = int(block->ops.size());
    int number = int(block->tensors.size());
    OpSpec spec;
    spec.base.role = OpRole::Collective;
    spec.base.collective.kind = kind;
    spec.base.collective.axis = axis;
    spec.base.chosen = block->chosen;
    spec.base.operands.push_back(from);
    spec.base.results.push_back(number);
    block->tensors.push_back(std::move(result));
    block->ops.push_back(std::move(spec));
    return number;
  };
  int result;
  if (dispatch) {
    int sent = add(tensor, false, CollectiveKind::AllToAll, ParallelAxis::EP);
    result = add(sent, true, CollectiveKind::AllGather, ParallelAxis::ETP);
  } else {
    int summed =
        add(tensor, false, CollectiveKind::ReduceScatter, ParallelAxis::ETP);
    result = add(summed, false, CollectiveKind::AllToAll, ParallelAxis::EP);
  }
  return exchanged[tensor] = result;
}

bool forecast::gathersTokens(const Layout &l) {
  return l.ep > 1 && l.dispatcher == DispatcherKind::AllGather;
}

/// Megatron-Core's all-gather dispatcher: a rank gets the tokens of the whole
/// group with their routing (a flag and a 32-bit weight for each expert) and
/// picks those of its own experts; what these give is added to a sum of the
/// same size, which is reduced and scattered.
void forecast::addTokenGathering(const RankBlock &block, const Layout &l,
                                 BlockFeatures &out) {
  int64_t experts = 0, tokens = 0, bytes = 0;
  for (const RankOp &op : block.ops) {
    if (op.role == OpRole::Router) {
      experts = op.experts;
      tokens = op.cost.shape.m * l.ep;
    }
    if (op.role == OpRole::Permute)
      bytes = block.tensors[op.operands[0]].bytes() * l.ep;
  }
  auto add = [&](CollectiveKind kind, int64_t size, int forward, int backward) {
    out.collectives.push_back(
        {kind, ParallelAxis::EP, size, forward, backward, false});
  };
  add(CollectiveKind::AllGather, bytes, 1, 1);
  add(CollectiveKind::ReduceScatter, bytes, 1, 1);
  add(CollectiveKind::AllGather, 5 * tokens * experts, 1, 0);
  add(CollectiveKind::ReduceScatter, 4 * tokens * experts, 0, 1);
  out.transientBytes = std::max(out.transientBytes, 2 * bytes * l.etp);
}

static PassCost divided(const PassCost &cost, int by) {
  return {cost.matmulFlops / by, cost.vectorFlops / by, cost.bytesRead / by,
          cost.bytesWritten / by};
}

OpCost forecast::contextShare(const OpCost &whole, int cp) {
  OpCost share = whole;
  share.forward = divided(whole.forward, cp);
  share.backward = divided(whole.backward, cp);
  share.savedExtraBytes = whole.savedExtraBytes / cp;
  // Load-balanced context parallelism works in halves of a rank's rows.
  share.shape.m = std::max<int64_t>(1, whole.shape.m / (2 * cp));
  return share;
}

void forecast::addContextExchange(const RankBlock &block, const RankOp &op,
                                  const Layout &l,
                                  std::vector<CollectiveFeature> &out) {
  if (l.cp <= 1)
    return;
  const AttentionSizes &a = op.attention;
  auto bytesOf = [&](int i) { return block.tensors[op.operands[i]].bytes(); };
  int64_t queries = bytesOf(0);
  // Latent attention exchanges the keys and values of all heads.
  int64_t keys = op.role == OpRole::LatentAttention
                     ? queries / a.keyWidth * (a.keyWidth + a.valueWidth)
                     : bytesOf(1) + bytesOf(2);
  int64_t result = block.tensors[op.results[0]].bytes();
  auto add = [&](CollectiveKind kind, int64_t bytes, int forward, int backward,
                 bool overlappable) {
    out.push_back(
        {kind, ParallelAxis::CP, bytes, forward, backward, overlappable});
  };
  switch (l.contextKind) {
  case ContextKind::Ring:
    add(CollectiveKind::SendRecv, keys, l.cp - 1, 2 * (l.cp - 1), true);
    return;
  case ContextKind::AllGather:
    add(CollectiveKind::AllGather, keys * l.cp, 1, 1, false);
    add(CollectiveKind::ReduceScatter, keys * l.cp, 0, 1, false);
    return;
  case ContextKind::Ulysses:
    add(CollectiveKind::AllToAll, queries + keys, 1, 1, false);
    add(CollectiveKind::AllToAll, result, 1, 1, false);
    return;
  }
}
