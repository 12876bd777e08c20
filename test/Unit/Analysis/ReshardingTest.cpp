//===- ReshardingTest.cpp - planned collectives run on plain arrays -------===//
//
// Every pair of shardings on small meshes is planned and the plan is carried
// out on arrays, one per rank, by the definitions of the collectives. The
// reference is the directly sliced array: neither side knows the planner.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/Sharding/Resharding.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace tessera;

namespace {

using Shape = std::vector<int64_t>;

struct Array {
  Shape shape;
  std::vector<double> data;
  explicit Array(Shape s) : shape(std::move(s)) {
    int64_t n = 1;
    for (int64_t size : shape)
      n *= size;
    data.resize(n);
  }
};

/// Calls visit(index) for every multi-index of `shape`.
template <typename Visit>
void forEachIndex(const Shape &shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (int64_t size : shape)
    if (size == 0)
      return;
  while (true) {
    visit(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

double &at(Array &array, const Shape &index) {
  int64_t flat = 0;
  for (size_t d = 0; d < index.size(); ++d)
    flat = flat * array.shape[d] + index[d];
  return array.data[flat];
}

/// Position of `rank` in its group along `axes`, first axis slowest.
int64_t position(const Mesh &mesh, int64_t rank, const AxisList &axes) {
  int64_t p = 0;
  for (Axis axis : axes)
    p = p * mesh.axes[axis].size + mesh.coordinate(rank, axis);
  return p;
}

/// The ranks of `rank`'s group along `axes` in order of their position.
std::vector<int64_t> groupOf(const Mesh &mesh, int64_t rank,
                             const AxisList &axes) {
  std::map<int64_t, int64_t> members;
  for (int64_t other = 0; other < mesh.numRanks(); ++other) {
    bool same = true;
    for (Axis axis = 0; axis < mesh.axes.size(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end() &&
          mesh.coordinate(other, axis) != mesh.coordinate(rank, axis))
        same = false;
    if (same)
      members[position(mesh, other, axes)] = other;
  }
  std::vector<int64_t> group;
  for (auto &[p, member] : members)
    group.push_back(member);
  return group;
}

/// What `rank` holds of `full` under the split dimensions of `sharding`.
Array sliceOf(Array &full, const Mesh &mesh, const TensorSharding &sharding,
              int64_t rank) {
  Shape local = full.shape, offset(full.shape.size(), 0);
  for (size_t d = 0; d < local.size(); ++d) {
    local[d] /= mesh.sizeOf(sharding.dims[d]);
    offset[d] = position(mesh, rank, sharding.dims[d]) * local[d];
  }
  Array result(local);
  forEachIndex(local, [&](const Shape &index) {
    Shape global = index;
    for (size_t d = 0; d < index.size(); ++d)
      global[d] += offset[d];
    at(result, index) = at(full, global);
  });
  return result;
}

Array part(Array &array, size_t dim, int64_t n, int64_t i) {
  Shape shape = array.shape;
  shape[dim] /= n;
  Array result(shape);
  forEachIndex(shape, [&](const Shape &index) {
    Shape source = index;
    source[dim] += i * shape[dim];
    at(result, index) = at(array, source);
  });
  return result;
}

Array concatenate(std::vector<Array> parts, size_t dim) {
  Shape shape = parts[0].shape;
  int64_t size = shape[dim];
  shape[dim] *= parts.size();
  Array result(shape);
  forEachIndex(shape, [&](const Shape &index) {
    Shape source = index;
    source[dim] %= size;
    at(result, index) = at(parts[index[dim] / size], source);
  });
  return result;
}

Array reduce(const std::vector<Array> &parts, ReductionKind kind) {
  Array result = parts[0];
  for (size_t p = 1; p < parts.size(); ++p)
    for (size_t i = 0; i < result.data.size(); ++i)
      result.data[i] = kind == ReductionKind::Sum
                           ? result.data[i] + parts[p].data[i]
                           : std::max(result.data[i], parts[p].data[i]);
  return result;
}

/// All ranks carry out `step`, by the definition of the collective.
std::vector<Array> execute(const Mesh &mesh, const ReshardStep &step,
                           std::vector<Array> &state) {
  std::vector<Array> result;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    std::vector<int64_t> group = groupOf(mesh, rank, step.axes);
    int64_t n = group.size(), me = position(mesh, rank, step.axes);
    std::vector<Array> inputs;
    for (int64_t member : group)
      inputs.push_back(state[member]);
    switch (step.kind) {
    case ReshardKind::Slice:
      result.push_back(part(state[rank], step.dim, n, me));
      break;
    case ReshardKind::AllGather:
      result.push_back(concatenate(inputs, step.dim));
      break;
    case ReshardKind::AllToAll: {
      std::vector<Array> mine;
      for (Array &input : inputs)
        mine.push_back(part(input, step.dim, n, me));
      result.push_back(concatenate(mine, step.concatDim));
      break;
    }
    case ReshardKind::ReduceScatter: {
      Array sum = reduce(inputs, ReductionKind::Sum);
      result.push_back(part(sum, step.dim, n, me));
      break;
    }
    case ReshardKind::AllReduce:
      result.push_back(reduce(inputs, step.reduction));
      break;
    }
  }
  return result;
}

/// All shardings of a tensor of rank `rank` on `mesh`.
std::vector<TensorSharding> allShardings(const Mesh &mesh, unsigned rank,
                                         bool withPartial) {
  std::vector<TensorSharding> result;
  // Insert axis after axis at every position of every list.
  std::vector<TensorSharding> current{TensorSharding::replicated(rank)};
  for (Axis axis = 0; axis < mesh.axes.size(); ++axis) {
    std::vector<TensorSharding> next = current;
    for (const TensorSharding &sharding : current) {
      for (unsigned d = 0; d < rank; ++d)
        for (size_t at = 0; at <= sharding.dims[d].size(); ++at) {
          TensorSharding more = sharding;
          more.dims[d].insert(more.dims[d].begin() + at, axis);
          next.push_back(more);
        }
      if (withPartial) {
        TensorSharding more = sharding;
        more.partial.push_back(axis);
        next.push_back(more);
      }
    }
    current = next;
  }
  for (const TensorSharding &sharding : current) {
    result.push_back(sharding);
    if (sharding.isPartial()) {
      result.push_back(sharding);
      result.back().kind = ReductionKind::Max;
    }
  }
  return result;
}

struct Outcome {
  int planned = 0, refused = 0;
};

/// Plans and runs every pair of shardings; `full` is the global tensor.
Outcome runAllPairs(const Mesh &mesh, const Shape &shape, bool withPartial) {
  std::mt19937 random(7);
  Array full(shape);
  for (double &value : full.data)
    value = int(random() % 1000);
  Outcome outcome;
  auto whole = [&](const TensorSharding &s) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] % mesh.sizeOf(s.dims[d]) != 0)
        return false;
    return true;
  };
  std::vector<TensorSharding> all =
      allShardings(mesh, shape.size(), withPartial);
  for (const TensorSharding &from : all) {
    // What the ranks hold: pieces whose sum or maximum is the slice. Ranks
    // that share partial coordinates must hold equal pieces.
    std::vector<Array> initial;
    for (int64_t rank = 0; whole(from) && rank < mesh.numRanks(); ++rank) {
      initial.push_back(sliceOf(full, mesh, from, rank));
      int64_t p = position(mesh, rank, from.partial);
      int64_t n = mesh.sizeOf(from.partial);
      for (double &value : initial.back().data) {
        if (n == 1)
          continue;
        if (from.kind == ReductionKind::Sum)
          value = p == 0 ? value - 10 * n * (n - 1) / 2 : 10 * p;
        else
          value = p == int64_t(value) % n ? value : value - 1 - p;
      }
      // The first piece of a sum compensates 10 * (1 + ... + n - 1).
    }
    for (const TensorSharding &to : all) {
      std::string why;
      ReshardTensor tensor{{shape.begin(), shape.end()}, 4, 0};
      auto plan = planReshard(mesh, tensor, from, to, why);
      bool pendingFromNothing = false;
      for (Axis axis : to.partial)
        pendingFromNothing |=
            std::find(from.partial.begin(), from.partial.end(), axis) ==
                from.partial.end() ||
            from.kind != to.kind;
      bool possible = whole(from) && whole(to) && !pendingFromNothing;
      EXPECT_EQ(plan.has_value(), possible)
          << from.str(mesh) << " -> " << to.str(mesh) << ": " << why;
      if (!plan || !possible) {
        EXPECT_NE(why, "") << from.str(mesh) << " -> " << to.str(mesh);
        ++outcome.refused;
        continue;
      }
      ++outcome.planned;
      std::vector<Array> state = initial;
      for (const ReshardStep &step : *plan) {
        state = execute(mesh, step, state);
        EXPECT_EQ(state[0].shape, Shape(step.shape.begin(), step.shape.end()));
      }
      for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
        Array expected = sliceOf(full, mesh, to, rank);
        std::vector<Array> pieces;
        for (int64_t member : groupOf(mesh, rank, to.partial))
          pieces.push_back(state[member]);
        Array got = reduce(pieces, to.kind);
        EXPECT_EQ(got.shape, expected.shape);
        EXPECT_TRUE(got.data == expected.data)
            << from.str(mesh) << " -> " << to.str(mesh) << " on rank " << rank;
        if (testing::Test::HasFailure())
          return outcome;
      }
    }
  }
  return outcome;
}

Mesh makeMesh(std::vector<int64_t> sizes) {
  Mesh mesh;
  const char *names[] = {"a", "b", "c"};
  for (size_t i = 0; i < sizes.size(); ++i)
    mesh.axes.push_back({names[i], sizes[i]});
  return mesh;
}

TensorSharding sharding(std::vector<AxisList> dims, AxisList partial = {}) {
  TensorSharding result;
  result.dims.assign(dims.begin(), dims.end());
  result.partial = partial;
  return result;
}

TEST(Resharding, AllPairsTwoAxes) {
  Outcome outcome = runAllPairs(makeMesh({2, 3}), {6, 12}, true);
  EXPECT_GT(outcome.planned, 300);
}

TEST(Resharding, AllPairsThreeAxes) {
  Outcome outcome = runAllPairs(makeMesh({2, 3, 2}), {12, 12}, true);
  EXPECT_GT(outcome.planned, 5000);
}

TEST(Resharding, AllPairsRankThree) {
  Outcome outcome = runAllPairs(makeMesh({2, 2}), {4, 4, 4}, true);
  EXPECT_GT(outcome.planned, 500);
}

// Some shardings do not divide the tensor: exactly those must be refused, and
// the plans between the others must not lead through them.
TEST(Resharding, UnevenSizes) {
  Outcome outcome = runAllPairs(makeMesh({2, 3}), {6, 4}, true);
  EXPECT_GT(outcome.planned, 100);
  EXPECT_GT(outcome.refused, 100);
}

TEST(Resharding, TrivialAxesCostNothing) {
  Mesh mesh = makeMesh({1, 2});
  std::string why;
  auto plan = planReshard(mesh, {{4, 4}, 4, 0}, sharding({{0}, {}}, {}),
                          sharding({{}, {0}}), why);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->empty());
}

// The sequences that Megatron-style parallelism is known for (Korthikanti et
// al. 2022, arXiv 2205.05198): one reduce-scatter, one all-gather.
TEST(Resharding, SequenceParallelism) {
  Mesh mesh = makeMesh({2, 4});
  ReshardTensor x{{8, 16, 32}, 2, 0};
  TensorSharding partial = sharding({{0}, {}, {}}, {1});
  TensorSharding split = sharding({{0}, {1}, {}});
  std::string why;
  auto scatter = planReshard(mesh, x, partial, split, why);
  ASSERT_TRUE(scatter);
  ASSERT_EQ(scatter->size(), 1u);
  EXPECT_EQ(scatter->front().kind, ReshardKind::ReduceScatter);
  // 4 * 16 * 32 elements of 2 bytes, of which a rank receives 3 / 4.
  EXPECT_EQ(scatter->front().bytesMoved, 3072);
  auto gather = planReshard(mesh, x, split, sharding({{0}, {}, {}}), why);
  ASSERT_TRUE(gather);
  ASSERT_EQ(gather->size(), 1u);
  EXPECT_EQ(gather->front().kind, ReshardKind::AllGather);
  EXPECT_EQ(gather->front().bytesMoved, 3072);
}

// Several axes move in one collective, in major-to-minor order.
TEST(Resharding, OneStepForSeveralAxes) {
  Mesh mesh = makeMesh({2, 2});
  ReshardTensor x{{8, 8}, 4, 0};
  std::string why;
  auto plan =
      planReshard(mesh, x, sharding({{1, 0}, {}}), sharding({{}, {1, 0}}), why);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 1u);
  EXPECT_EQ(plan->front().kind, ReshardKind::AllToAll);
  EXPECT_EQ(plan->front().axes, AxisList({1, 0}));
}

TEST(Resharding, PaddedDimensionStaysSplit) {
  Mesh mesh = makeMesh({4});
  ReshardTensor x{{8, 10}, 4, 0b10};
  std::string why;
  EXPECT_TRUE(
      planReshard(mesh, x, sharding({{}, {0}}), sharding({{}, {0}}), why));
  EXPECT_FALSE(
      planReshard(mesh, x, sharding({{}, {0}}), sharding({{}, {}}), why));
  EXPECT_EQ(why, "no sequence of collectives leads from [{}, {a}] to [{}, {}]");
}

TEST(Resharding, SaysWhyNot) {
  Mesh mesh = makeMesh({4});
  std::string why;
  EXPECT_FALSE(planReshard(mesh, {{6, 8}, 4, 0}, sharding({{0}, {}}),
                           sharding({{}, {0}}), why));
  EXPECT_EQ(why, "dimension 0 of size 6 cannot be split into 4 equal parts");
  EXPECT_FALSE(planReshard(mesh, {{8, 8}, 4, 0}, sharding({{}, {}}),
                           sharding({{}, {}}, {0}), why));
  EXPECT_EQ(why, "a reduction over axis 'a' would have to become pending, "
                 "which no collective does");
}

} // namespace
