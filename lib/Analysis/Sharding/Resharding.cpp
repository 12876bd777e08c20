//===- Resharding.cpp - from one sharding to another ----------------------===//
//
// Uniform-cost search (Dijkstra 1959) over shardings. A state is a sharding,
// an edge a collective, its weight the bytes that a rank receives; equal bytes
// are decided by the number of steps. Only axes that the source or the target
// mentions take part: splitting over another one could only add steps that are
// undone later. There are a few hundred states for three axes and a tensor of
// rank 3.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/Sharding/Resharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <queue>
#include <vector>

using namespace tessera;
using llvm::ArrayRef;
using llvm::SmallVector;

llvm::StringRef tessera::stringify(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::Slice:
    return "slice";
  case ReshardKind::AllGather:
    return "all_gather";
  case ReshardKind::AllToAll:
    return "all_to_all";
  case ReshardKind::ReduceScatter:
    return "reduce_scatter";
  case ReshardKind::AllReduce:
    return "all_reduce";
  }
  return "";
}

TensorSharding tessera::dropTrivialAxes(const TensorSharding &sharding,
                                        const Mesh &mesh) {
  TensorSharding result = sharding;
  auto drop = [&](AxisList &axes) {
    llvm::erase_if(axes, [&](Axis axis) { return mesh.axes[axis].size == 1; });
  };
  llvm::for_each(result.dims, drop);
  drop(result.partial);
  if (result.partial.empty())
    result.kind = ReductionKind::Sum;
  return result;
}

/// Calls `visit` with every ordered, non-empty selection from `axes`.
template <typename Visit>
static void forEachSelection(ArrayRef<Axis> axes, AxisList &chosen,
                             Visit visit) {
  for (Axis axis : axes) {
    if (llvm::is_contained(chosen, axis))
      continue;
    chosen.push_back(axis);
    visit(chosen);
    forEachSelection(axes, chosen, visit);
    chosen.pop_back();
  }
}

/// Calls `visit` with every non-empty suffix of `axes`.
template <typename Visit>
static void forEachSuffix(ArrayRef<Axis> axes, Visit visit) {
  for (size_t n = 1; n <= axes.size(); ++n)
    visit(axes.take_back(n));
}

static int64_t bytesOf(const ReshardTensor &tensor, ArrayRef<int64_t> shape) {
  int64_t bytes = tensor.elementBytes;
  for (int64_t size : shape)
    bytes *= size;
  return bytes;
}

/// Whether the splitting of dimension `d` is frozen: it is padded and its size
/// is no multiple of the parts, so that gathering it would show the padding.
static bool isFrozen(const Mesh &mesh, const ReshardTensor &tensor,
                     const AxisList &axes, unsigned d) {
  return ((tensor.paddedDims >> d) & 1) &&
         tensor.globalShape[d] % mesh.sizeOf(axes) != 0;
}

SmallVector<ReshardStep, 8>
tessera::legalReshardSteps(const Mesh &mesh, const ReshardTensor &tensor,
                           const TensorSharding &from, ArrayRef<Axis> axes) {
  SmallVector<ReshardStep, 8> steps;
  auto shape =
      localShape(tensor.globalShape, from, mesh, tensor.paddedDims, nullptr);
  if (!shape)
    return steps;
  const int64_t bytes = bytesOf(tensor, *shape);
  const unsigned rank = from.dims.size();

  // Completes a step whose sharding is set and keeps it if its local shape is
  // whole. A step never creates padding: the new shape is checked without it
  // but in dimensions that are frozen already.
  auto add = [&](ReshardStep step) {
    uint32_t padded = 0;
    for (unsigned d = 0; d < rank; ++d)
      if (isFrozen(mesh, tensor, from.dims[d], d))
        padded |= 1u << d;
    auto local =
        localShape(tensor.globalShape, step.sharding, mesh, padded, nullptr);
    if (!local)
      return;
    step.shape = *local;
    const int64_t n = mesh.sizeOf(step.axes);
    switch (step.kind) {
    case ReshardKind::Slice:
      break;
    case ReshardKind::AllGather:
      step.bytesMoved = (n - 1) * bytes;
      break;
    case ReshardKind::ReduceScatter:
    case ReshardKind::AllToAll:
      step.bytesMoved = bytes / n * (n - 1);
      break;
    case ReshardKind::AllReduce:
      step.bytesMoved = 2 * (n - 1) * bytes / n;
      break;
    }
    if (step.sharding.partial.empty())
      step.sharding.kind = ReductionKind::Sum;
    steps.push_back(std::move(step));
  };
  auto make = [&](ReshardKind kind, ArrayRef<Axis> group, unsigned dim) {
    ReshardStep step;
    step.kind = kind;
    step.axes.assign(group.begin(), group.end());
    step.dim = dim;
    step.sharding = from;
    return step;
  };

  AxisList unused;
  for (Axis axis : axes)
    if (!llvm::is_contained(from.partial, axis) &&
        llvm::none_of(from.dims, [&](const AxisList &dim) {
          return llvm::is_contained(dim, axis);
        }))
      unused.push_back(axis);

  AxisList chosen;
  for (unsigned d = 0; d < rank; ++d) {
    if (isFrozen(mesh, tensor, from.dims[d], d))
      continue;
    forEachSelection(unused, chosen, [&](ArrayRef<Axis> group) {
      ReshardStep step = make(ReshardKind::Slice, group, d);
      step.sharding.dims[d].append(group.begin(), group.end());
      add(step);
    });
    if (from.kind == ReductionKind::Sum)
      forEachSelection(from.partial, chosen, [&](ArrayRef<Axis> group) {
        ReshardStep step = make(ReshardKind::ReduceScatter, group, d);
        step.sharding.dims[d].append(group.begin(), group.end());
        llvm::erase_if(step.sharding.partial, [&](Axis axis) {
          return llvm::is_contained(group, axis);
        });
        add(step);
      });
    forEachSuffix(from.dims[d], [&](ArrayRef<Axis> group) {
      ReshardStep step = make(ReshardKind::AllGather, group, d);
      step.sharding.dims[d].pop_back_n(group.size());
      add(step);
      for (unsigned to = 0; to < rank; ++to) {
        if (to == d || isFrozen(mesh, tensor, from.dims[to], to))
          continue;
        ReshardStep move = step;
        move.kind = ReshardKind::AllToAll;
        move.dim = to;
        move.concatDim = d;
        move.sharding.dims[to].append(group.begin(), group.end());
        add(move);
      }
    });
  }
  // The order within an all-reduce does not matter: take mesh order.
  forEachSelection(from.partial, chosen, [&](ArrayRef<Axis> group) {
    if (!llvm::is_sorted(group))
      return;
    ReshardStep step = make(ReshardKind::AllReduce, group, 0);
    step.reduction = from.kind;
    llvm::erase_if(step.sharding.partial,
                   [&](Axis axis) { return llvm::is_contained(group, axis); });
    add(step);
  });
  return steps;
}

namespace {
using Key = std::vector<uint8_t>;
struct Node {
  std::pair<int64_t, int> cost; ///< bytes moved, steps
  bool done = false;
  Key previous;
  ReshardStep step; ///< from `previous` to this state
};
} // namespace

/// A sharding as a map key; the set of partial axes is sorted.
static Key keyOf(const TensorSharding &sharding) {
  Key key;
  for (const AxisList &dim : sharding.dims) {
    key.insert(key.end(), dim.begin(), dim.end());
    key.push_back(0xff);
  }
  Key partial(sharding.partial.begin(), sharding.partial.end());
  llvm::sort(partial);
  key.insert(key.end(), partial.begin(), partial.end());
  return key;
}

std::optional<SmallVector<ReshardStep, 2>>
tessera::planReshard(const Mesh &mesh, const ReshardTensor &tensor,
                     const TensorSharding &fromGiven,
                     const TensorSharding &toGiven, std::string &why) {
  const TensorSharding from = dropTrivialAxes(fromGiven, mesh);
  const TensorSharding to = dropTrivialAxes(toGiven, mesh);
  for (const TensorSharding *end : {&from, &to})
    if (!localShape(tensor.globalShape, *end, mesh, tensor.paddedDims, &why))
      return std::nullopt;
  for (Axis axis : to.partial)
    if (!llvm::is_contained(from.partial, axis) || from.kind != to.kind) {
      why = llvm::formatv("a reduction over axis '{0}' would have to become "
                          "pending, which no collective does",
                          mesh.axes[axis].name)
                .str();
      return std::nullopt;
    }

  AxisList axes;
  for (Axis axis = 0; axis < mesh.axes.size(); ++axis) {
    auto mentions = [&](const TensorSharding &s) {
      return llvm::is_contained(s.partial, axis) ||
             llvm::any_of(s.dims, [&](const AxisList &dim) {
               return llvm::is_contained(dim, axis);
             });
    };
    if (mentions(from) || mentions(to))
      axes.push_back(axis);
  }

  std::map<Key, Node> nodes;
  using Entry = std::pair<std::pair<int64_t, int>, Key>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  const Key start = keyOf(from), goal = keyOf(to);
  nodes[start].step.sharding = from; // cost {0, 0}
  queue.push({{0, 0}, start});
  while (!queue.empty()) {
    auto [cost, key] = queue.top();
    queue.pop();
    Node &node = nodes[key];
    if (node.done)
      continue;
    node.done = true;
    if (key == goal)
      break;
    for (ReshardStep &step :
         legalReshardSteps(mesh, tensor, node.step.sharding, axes)) {
      std::pair<int64_t, int> next{cost.first + step.bytesMoved,
                                   cost.second + 1};
      auto [it, isNew] = nodes.try_emplace(keyOf(step.sharding));
      if (!isNew && it->second.cost <= next)
        continue;
      it->second = {next, false, key, std::move(step)};
      queue.push({next, it->first});
    }
  }
  auto found = nodes.find(goal);
  if (found == nodes.end()) {
    why = llvm::formatv("no sequence of collectives leads from {0} to {1}",
                        from.str(mesh), to.str(mesh))
              .str();
    return std::nullopt;
  }
  SmallVector<ReshardStep, 2> steps;
  for (Key key = goal; key != start; key = nodes[key].previous)
    steps.insert(steps.begin(), nodes[key].step);
  return steps;
}
