//===- PlanLayout.cpp - the layout of a mesh given by hand ----------------===//
//
// First the mesh is made: where there are fewer key-value heads than ranks
// along the tensor axis, the axis is split in two. Then every op is visited
// once and says where its parameters lie and whether its result is a decision.
// Everything that has to divide is checked with the op at hand, and the
// constraints on the tensor axis are collected, so that the error can name the
// nearest size that satisfies all of them.
//
//===----------------------------------------------------------------------===//
#include "tessera/Transforms/Plan/PlanLayout.h"

#include "tessera/Analysis/Sharding/Resharding.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Transforms/Plan/Roles.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

/// More ranks than any machine has; keeps products of sizes far from overflow.
static constexpr int64_t kMaxAxisSize = 1 << 20;

std::optional<Mesh> tessera::parseMesh(StringRef text, std::string &why) {
  const StringRef known[] = {kDataAxis, kTensorAxis};
  Mesh mesh;
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  for (StringRef entry : entries) {
    const StringRef name = entry.split('=').first.trim();
    int64_t size = 0;
    if (entry.split('=').second.trim().getAsInteger(10, size) || size < 1) {
      why = llvm::formatv("mesh '{0}': expected axis=size with a size of at "
                          "least 1, got '{1}'",
                          text, entry)
                .str();
      return std::nullopt;
    }
    if (!llvm::is_contained(known, name)) {
      why =
          llvm::formatv("mesh '{0}': unknown axis '{1}', expected dp or tp{2}",
                        text, name, didYouMean(name, known))
              .str();
      return std::nullopt;
    }
    if (size > kMaxAxisSize) {
      why = llvm::formatv("mesh '{0}': axis '{1}' has {2} ranks, at most {3} "
                          "are possible",
                          text, name, size, kMaxAxisSize)
                .str();
      return std::nullopt;
    }
    if (mesh.lookup(name)) {
      why = llvm::formatv("mesh '{0}': axis '{1}' occurs twice", text, name)
                .str();
      return std::nullopt;
    }
    mesh.axes.push_back({name.str(), size});
  }
  return mesh;
}

/// The sizes nearest to `size` (below it first) for which `isLegal` holds, as
/// text. Every legal size divides a number of `counts`, and 1 is legal.
static std::string nearestSizes(int64_t size, ArrayRef<int64_t> counts,
                                llvm::function_ref<bool(int64_t)> isLegal) {
  int64_t below = 1, above = INT64_MAX;
  auto consider = [&](int64_t n) {
    if (n < size ? n <= below : n == size || n >= above)
      return;
    if (isLegal(n))
      (n < size ? below : above) = n;
  };
  for (int64_t count : counts)
    for (int64_t n = 1; n <= count / n; ++n)
      if (count % n == 0) {
        consider(n);
        consider(count / n);
      }
  std::string text = std::to_string(below);
  if (above != INT64_MAX)
    text += " or " + std::to_string(above);
  return text;
}

namespace {
/// A count that has to fit the tensor axis.
struct TensorConstraint {
  Operation *op;
  int64_t count;
  const char *what;
  /// Whether fewer than ranks are allowed, being replicated.
  bool replicable = false;

  bool allows(int64_t ranks) const {
    return count % ranks == 0 || (replicable && ranks % count == 0);
  }
};

class Planner {
public:
  Planner(ModuleOp module, const PlanOptions &options, ShardingFailure &problem)
      : module(module), options(options), problem(problem),
        roles(deriveRoles(module)) {}

  std::optional<ShardingPlan> run();

private:
  LogicalResult fail(Operation *op, const llvm::Twine &message) {
    problem = {op, message.str()};
    return failure();
  }
  int64_t sizeOf(StringRef axis) const {
    std::optional<Axis> found = options.mesh.lookup(axis);
    return found ? options.mesh.axes[*found].size : 1;
  }

  LogicalResult checkTensorAxis();
  LogicalResult makeMesh();
  LogicalResult chooseSequenceParallelism();
  LogicalResult planFunction(func::FuncOp function);
  LogicalResult planOp(Operation *op);
  LogicalResult planLinear(LinearOp op);
  LogicalResult place(Value value, TensorSharding sharding);

  /// A residual-stream tensor, and the same with its whole sequence.
  TensorSharding residual() const {
    TensorSharding sharding;
    sharding.dims = {data, sequence, {}};
    return sharding;
  }
  TensorSharding gathered() const {
    TensorSharding sharding;
    sharding.dims = {data, {}, {}};
    return sharding;
  }
  /// The axes that split a wide value.
  const AxisList &widthOf(Value value) const {
    return roles.keyValue.contains(value) ? keyValue : tensor;
  }

  ModuleOp module;
  const PlanOptions &options;
  ShardingFailure &problem;
  ModelRoles roles;
  ShardingPlan layout;
  SmallVector<TensorConstraint> constraints; ///< of attention heads
  /// Axes of data parallelism, tensor parallelism, key-value heads, and of the
  /// sequence under sequence parallelism.
  AxisList data, tensor, keyValue, sequence;
};
} // namespace

static int64_t heads(Value value, int64_t headDim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(2) / headDim;
}

LogicalResult Planner::checkTensorAxis() {
  SmallVector<TensorConstraint> widths;
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<AttentionOp>([&](AttentionOp a) {
          constraints.push_back(
              {op, heads(a.getQ(), a.getHeadDim()), "attention heads"});
          constraints.push_back({op, heads(a.getK(), a.getHeadDim()),
                                 "key-value heads", /*replicable=*/true});
        })
        .Case<RelativeAttentionOp>([&](RelativeAttentionOp a) {
          constraints.push_back(
              {op, heads(a.getQ(), a.getHeadDim()), "attention heads"});
        })
        .Case<LatentAttentionOp>([&](LatentAttentionOp a) {
          constraints.push_back(
              {op, heads(a.getQ(), a.getNopeDim() + a.getRopeDim()),
               "attention heads"});
        })
        .Case<LinearOp>([&](LinearOp l) {
          if (roles.linears[op] == LinearRole::Whole)
            return;
          // Widths between linears; those of heads are checked as heads, the
          // vocabulary is padded where its parameter says so.
          auto read = l.getWeight().getDefiningOp<GetParameterOp>();
          auto parameter =
              read ? module.lookupSymbol<ParameterOp>(read.getParameter())
                   : ParameterOp();
          bool row = roles.linears[op] == LinearRole::Row;
          if (roles.keyValue.contains(l.getResult()) ||
              (!row && parameter && parameter.getPadded()))
            return;
          Value split = row ? l.getX() : l.getResult();
          widths.push_back(
              {op, cast<RankedTensorType>(split.getType()).getDimSize(2),
               row ? "inputs of a row-parallel linear"
                   : "outputs of a column-parallel linear"});
        });
  });
  int64_t ranks = sizeOf(kTensorAxis);
  auto isLegal = [&](int64_t n) {
    auto allows = [&](const TensorConstraint &c) { return c.allows(n); };
    return llvm::all_of(constraints, allows) && llvm::all_of(widths, allows);
  };
  // Heads are what people think in: report them before widths.
  SmallVector<TensorConstraint> ordered = constraints;
  ordered.append(widths.begin(), widths.end());
  for (const TensorConstraint &c : ordered) {
    if (c.allows(ranks))
      continue;
    // Where fewer heads than ranks are replicated, all heads bound the ranks.
    SmallVector<int64_t> counts;
    for (const TensorConstraint &other : ordered)
      counts.push_back(other.count);
    return fail(
        c.op, llvm::formatv("{0} {1} {2} with tp = {3}; the nearest legal tp "
                            "is {4}",
                            c.count, c.what,
                            c.replicable
                                ? "can be neither divided nor replicated evenly"
                                : "cannot be divided evenly",
                            ranks, nearestSizes(ranks, counts, isLegal))
                  .str());
  }
  return success();
}

LogicalResult Planner::makeMesh() {
  int64_t ranks = sizeOf(kTensorAxis), split = ranks;
  for (const TensorConstraint &c : constraints) {
    if (!c.replicable || c.count >= ranks)
      continue;
    if (split != ranks && split != c.count)
      return fail(c.op,
                  llvm::formatv("{0} key-value heads here and {1} in "
                                "another layer, both fewer than tp = "
                                "{2}, cannot share one tensor axis; the "
                                "nearest legal tp is {3}",
                                c.count, split, ranks, std::min(c.count, split))
                      .str());
    split = c.count;
  }
  for (const TensorConstraint &c : constraints)
    if (c.replicable && split != ranks && c.count % ranks == 0)
      return fail(
          c.op, llvm::formatv("{0} key-value heads here and {1} in another "
                              "layer cannot share one tensor axis of size {2}",
                              c.count, split, ranks)
                    .str());
  for (const MeshAxis &axis : options.mesh.axes) {
    Axis index = layout.mesh.axes.size();
    if (axis.name == kTensorAxis && split != ranks) {
      layout.mesh.axes.push_back({axis.name, split});
      layout.mesh.axes.push_back({kReplicaAxis.str(), ranks / split});
      tensor = {index, index + 1};
      keyValue = {index};
      continue;
    }
    layout.mesh.axes.push_back(axis);
    if (axis.name == kTensorAxis)
      tensor = keyValue = {index};
    else
      data = {index};
  }
  return success();
}

LogicalResult Planner::chooseSequenceParallelism() {
  if (options.sequenceParallel == SequenceParallel::Off)
    return success();
  int64_t ranks = sizeOf(kTensorAxis);
  for (auto [value, role] : roles.values) {
    if (role != ValueRole::Residual)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    int64_t length = type.getDimSize(1);
    if (length % ranks == 0)
      continue;
    if (options.sequenceParallel == SequenceParallel::Auto)
      return success();
    int64_t below = length / ranks * ranks;
    std::string nearest = std::to_string(below + ranks);
    nearest = below == 0 ? "sequence is " + nearest
                         : "sequences are " + std::to_string(below) + " and " +
                               nearest;
    return fail(module,
                llvm::formatv("sequence parallelism needs a sequence that tp = "
                              "{0} divides, got {1}; the nearest legal {2}",
                              ranks, length, nearest)
                    .str());
  }
  sequence = tensor;
  return success();
}

LogicalResult Planner::place(Value value, TensorSharding sharding) {
  auto read = value.getDefiningOp<GetParameterOp>();
  if (!read)
    return success();
  auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter());
  if (!parameter)
    return fail(read, "no parameter @" + read.getParameter());
  sharding = dropTrivialAxes(sharding, layout.mesh);
  auto type = cast<RankedTensorType>(parameter.getType());
  std::string why;
  if (!localShape(type.getShape(), sharding, layout.mesh,
                  parameter.getPadded() ? 1 : 0, &why))
    return fail(parameter, "parameter @" + parameter.getSymName() + ": " + why);
  auto [it, isNew] =
      layout.parameters.try_emplace(parameter.getSymNameAttr(), sharding);
  if (!isNew && it->second != sharding)
    return fail(parameter, "parameter @" + parameter.getSymName() +
                               " would have to lie as " +
                               it->second.str(layout.mesh) +
                               " for one op and " + sharding.str(layout.mesh) +
                               " for another");
  return success();
}

LogicalResult Planner::planLinear(LinearOp op) {
  bool outIn = op.getWeightLayout() == WeightLayout::OutIn;
  bool row = roles.linears[op] == LinearRole::Row;
  TensorSharding weight = TensorSharding::replicated(2);
  if (roles.linears[op] == LinearRole::Whole)
    return place(op.getWeight(), weight);
  if (row) {
    weight.dims[outIn ? 1 : 0] = widthOf(op.getX());
    layout.decisions[op.getResult()] = residual();
  } else {
    weight.dims[outIn ? 0 : 1] = widthOf(op.getResult());
  }
  return place(op.getWeight(), weight);
}

LogicalResult Planner::planOp(Operation *op) {
  auto replicate = [&](Value value) -> LogicalResult {
    if (!value)
      return success();
    auto type = cast<RankedTensorType>(value.getType());
    return place(value, TensorSharding::replicated(type.getRank()));
  };
  // A norm of the stream ends the sequence-parallel region: whoever reads it
  // next wants whole sequences, and one all-gather serves all of them. Not so
  // a norm that is added to the stream (post-norm), which stays as the stream
  // lies, or one that a router reads: each rank routes its own tokens.
  auto endRegion = [&](Value result) {
    if (!sequence.empty() && roles.of(result) == ValueRole::Normed &&
        llvm::any_of(result.getUsers(),
                     [&](Operation *user) {
                       return roles.linears.lookup(user) ==
                                  LinearRole::Column &&
                              isa<LinearOp>(user);
                     }) &&
        llvm::none_of(result.getUsers(), [](Operation *user) {
          return isa<AddOp, RouterOp, PermuteOp>(user);
        }))
      layout.decisions[result] = gathered();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<EmbeddingOp>([&](EmbeddingOp e) {
        layout.decisions[e.getResult()] = residual();
        TensorSharding table;
        table.dims = {tensor, {}};
        return place(e.getTable(), table);
      })
      .Case<AddPositionsOp>(
          [&](AddPositionsOp a) { return replicate(a.getTable()); })
      .Case<LinearOp>([&](LinearOp l) { return planLinear(l); })
      .Case<AddBiasOp>([&](AddBiasOp b) {
        TensorSharding bias = TensorSharding::replicated(1);
        if (roles.of(b.getX()) == ValueRole::Wide)
          bias.dims[0] = widthOf(b.getX());
        return place(b.getBias(), bias);
      })
      .Case<RelativeAttentionOp>([&](RelativeAttentionOp a) {
        TensorSharding bias = TensorSharding::replicated(1);
        bias.dims[0] = widthOf(a.getQ());
        return failed(place(a.getContentBias(), bias))
                   ? failure()
                   : place(a.getPositionBias(), bias);
      })
      .Case<RMSNormOp>([&](RMSNormOp n) {
        endRegion(n.getResult());
        return replicate(n.getWeight());
      })
      .Case<LayerNormOp>([&](LayerNormOp n) {
        endRegion(n.getResult());
        return failed(replicate(n.getWeight())) ? failure()
                                                : replicate(n.getBias());
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult Planner::planFunction(func::FuncOp function) {
  int64_t ranks = sizeOf(kDataAxis);
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() == 0)
      continue;
    if (!type.hasStaticShape())
      return fail(function, "argument #" + llvm::Twine(i) +
                                " has no static shape, which a layout needs");
    int64_t batch = type.getDimSize(0);
    if (batch % ranks != 0)
      return fail(function,
                  llvm::formatv(
                      "a batch of {0} (argument #{1}) cannot be divided evenly "
                      "with dp = {2}; the nearest legal dp is {3}",
                      batch, i, ranks,
                      nearestSizes(ranks, {batch},
                                   [&](int64_t n) { return batch % n == 0; }))
                      .str());
    TensorSharding sharding = TensorSharding::replicated(type.getRank());
    sharding.dims[0] = data;
    if (roles.of(argument) == ValueRole::Residual)
      sharding = residual();
    layout.decisions[argument] = sharding;
  }
  for (Operation &op : function.getOps())
    if (failed(planOp(&op)))
      return failure();
  return success();
}

std::optional<ShardingPlan> Planner::run() {
  if (failed(checkTensorAxis()) || failed(makeMesh()) ||
      failed(chooseSequenceParallelism()))
    return std::nullopt;
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(planFunction(function)))
      return std::nullopt;
  for (auto &[value, sharding] : layout.decisions)
    sharding = dropTrivialAxes(sharding, layout.mesh);
  return std::move(layout);
}

std::optional<ShardingPlan> tessera::planSharding(ModuleOp module,
                                                  const PlanOptions &options,
                                                  ShardingFailure &failure) {
  return Planner(module, options, failure).run();
}
