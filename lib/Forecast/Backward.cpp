//===- Backward.cpp - what a forward program implies for its backward -----===//
//
// Under sequence parallelism the gathered input of a product is not kept: its
// part is, and it is gathered again beside the gradient of the input
// (Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2).
//
//===----------------------------------------------------------------------===//
#include "lib/Forecast/Backward.h"

#include "lib/Forecast/Lowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using namespace tessera::forecast;

static bool isProduct(OpRole role) {
  return role == OpRole::Linear || role == OpRole::Head ||
         role == OpRole::GroupedLinear;
}

static const RankOp *producerOf(const RankBlock &block, int tensor) {
  int op = block.tensors[tensor].producer;
  return op < 0 ? nullptr : &block.ops[op];
}

/// An all-gather along `tp`, whose operand is kept in place of its result.
static bool isGather(const RankOp *op) {
  return op && op->role == OpRole::Collective &&
         op->collective.kind == CollectiveKind::AllGather &&
         op->collective.axis == ParallelAxis::TP;
}

BackwardNeeds forecast::backwardNeeds(const RankBlock &block) {
  BackwardNeeds needs;
  needs.gathersAgain.resize(block.ops.size());
  needs.reducesInput.resize(block.ops.size());
  std::vector<int> index(block.tensors.size(), -1);
  std::vector<bool> reduced(block.tensors.size());
  auto keep = [&](int tensor, int keeper) {
    const RankOp &op = block.ops[keeper];
    const RankOp *producer = producerOf(block, tensor);
    if (isGather(producer) && isProduct(op.role)) {
      needs.gathersAgain[block.tensors[tensor].producer] = true;
      tensor = producer->operands[0];
    }
    if (index[tensor] < 0) {
      index[tensor] = int(needs.kept.size());
      needs.kept.push_back({tensor, keeper, true});
    }
    if (op.role != OpRole::Linear && op.role != OpRole::GroupedLinear)
      needs.kept[index[tensor]].onlyProducts = false;
  };
  auto isKept = [&](int tensor) {
    return tensor >= 0 &&
           block.tensors[tensor].kind == RankTensor::Kind::Activation;
  };
  for (int i = 0; i < int(block.ops.size()); ++i) {
    const RankOp &op = block.ops[i];
    for (auto [bit, tensor] : llvm::enumerate(op.operands))
      if ((op.cost.savedOperands >> bit & 1) && isKept(tensor))
        keep(tensor, i);
    for (auto [bit, tensor] : llvm::enumerate(op.results))
      if ((op.cost.savedResults >> bit & 1) && isKept(tensor))
        keep(tensor, i);
    if (op.splitsOutput && isKept(op.operands[0]) &&
        !isGather(producerOf(block, op.operands[0])) &&
        !reduced[op.operands[0]]) {
      reduced[op.operands[0]] = true;
      needs.reducesInput[i] = true;
    }
  }
  return needs;
}

BlockFacts forecast::factsOf(const RankBlock &block) {
  BlockFacts facts;
  facts.needs = backwardNeeds(block);
  facts.joint = jointProducts(block);
  for (const RankOp &op : block.ops) {
    facts.hasExperts |= op.role == OpRole::GroupedLinear;
    facts.hasLatent |= op.role == OpRole::LatentAttention;
    facts.isOuter |= op.role == OpRole::Head || op.role == OpRole::Embedding;
  }
  return facts;
}

static void merge(std::vector<CollectiveFeature> &list,
                  const CollectiveFeature &c) {
  if (c.forwardCount == 0 && c.backwardCount == 0)
    return;
  for (CollectiveFeature &other : list)
    if (other.kind == c.kind && other.axis == c.axis &&
        other.bytes == c.bytes && other.overlappable == c.overlappable &&
        other.copies == c.copies) {
      other.forwardCount += c.forwardCount;
      other.backwardCount += c.backwardCount;
      return;
    }
  list.push_back(c);
}

std::vector<CollectiveFeature>
forecast::bothDirections(const RankBlock &block, const BackwardNeeds &needs) {
  std::vector<CollectiveFeature> list;
  for (int i = 0; i < int(block.ops.size()); ++i) {
    const RankOp &op = block.ops[i];
    if (needs.reducesInput[i])
      merge(list, {CollectiveKind::AllReduce, ParallelAxis::TP,
                   block.tensors[op.operands[0]].bytes(), 0, 1, false});
    if (op.role != OpRole::Collective)
      continue;
    const RankOp *producer = producerOf(block, op.operands[0]);
    if (producer &&
        (producer->role == OpRole::Loss || producer->role == OpRole::LossTail))
      continue;
    const RankCollective &c = op.collective;
    CollectiveFeature forward{c.kind,          c.axis, c.bytes,
                              c.slice ? 0 : 1, 0,      false};
    CollectiveFeature backward = forward;
    backward.forwardCount = 0;
    backward.backwardCount = 1;
    switch (c.kind) {
    case CollectiveKind::AllGather:
      backward.kind = CollectiveKind::ReduceScatter;
      break;
    case CollectiveKind::ReduceScatter:
      backward.kind = CollectiveKind::AllGather;
      break;
    case CollectiveKind::AllReduce:
      if (c.slice)
        backward.kind = CollectiveKind::AllGather;
      else
        backward.backwardCount = 0;
      break;
    case CollectiveKind::AllToAll:
      forward.copies = backward.copies = std::max(1, int(op.chosen));
      break;
    case CollectiveKind::SendRecv:
      break;
    }
    merge(list, forward);
    merge(list, backward);
    if (needs.gathersAgain[i])
      merge(list, {c.kind, c.axis, c.bytes, 0, 1, /*overlappable=*/true});
  }
  return list;
}
