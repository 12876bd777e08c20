//===- VerifyPartition.cpp - checks one rank's program --------------------===//
//
// Abstract interpretation of a partitioned module: the value domain is
// TensorSharding, the transfer functions are the definitions of the local ops
// and of the collectives. They are written down here independently of the
// partition rules, so that a wrong rule and a wrong rewrite both show.
//
//===----------------------------------------------------------------------===//
#include "tessera/Transforms/Partition/Passes.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

namespace tessera {
#define GEN_PASS_DEF_VERIFYPARTITION
#include "lib/Transforms/Partition/Passes.h.inc"
} // namespace tessera

namespace {
class LocalProgramChecker {
public:
  LocalProgramChecker(ModuleOp module, Mesh mesh)
      : module(module), mesh(std::move(mesh)) {}

  LogicalResult check(func::FuncOp function);

private:
  using Sharding = TensorSharding;

  std::string str(const Sharding &s) const { return s.str(mesh); }
  const Sharding &of(Value value) { return known[value]; }

  /// Requires that `got` is `wanted`.
  LogicalResult want(Operation *op, const llvm::Twine &what,
                     const Sharding &got, const Sharding &wanted) {
    if (got == wanted)
      return success();
    return op->emitError() << what << " has sharding " << str(got)
                           << ", expected " << str(wanted);
  }
  LogicalResult complete(Operation *op) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (of(operand).isPartial())
        return op->emitError()
               << "operand #" << i << " has a pending reduction "
               << str(of(operand));
    return success();
  }
  LogicalResult whole(Operation *op, const llvm::Twine &what,
                      const AxisList &axes) {
    if (axes.empty())
      return success();
    return op->emitError() << what << " must not be split, but is over axis '"
                           << mesh.axes[axes.front()].name << "'";
  }
  /// Requires that an offset is the start of a part over `axes` of `size`
  /// elements, and that there is none where `axes` is empty.
  LogicalResult offset(Operation *op, Value value, const AxisList &axes,
                       int64_t size);
  LogicalResult axesOf(Operation *op, ArrayAttr names, AxisList &axes);
  FailureOr<Sharding> sharding(Operation *op, Attribute attribute,
                               const llvm::Twine &what);

  FailureOr<Sharding> transfer(Operation *op);
  FailureOr<Sharding> collective(Operation *op);
  FailureOr<Sharding> linear(LinearOp op);
  FailureOr<Sharding> attention(AttentionOp op);
  FailureOr<Sharding> latentAttention(LatentAttentionOp op);
  FailureOr<Sharding> relativeAttention(RelativeAttentionOp op);
  FailureOr<Sharding> experts(Operation *op);
  LogicalResult layers(LayersOp op);
  LogicalResult endOf(func::FuncOp function, func::ReturnOp op);

  ModuleOp module;
  Mesh mesh;
  DenseMap<Value, Sharding> known;
};
} // namespace

LogicalResult LocalProgramChecker::axesOf(Operation *op, ArrayAttr names,
                                          AxisList &axes) {
  for (auto name : names.getAsRange<StringAttr>()) {
    std::optional<Axis> axis = mesh.lookup(name.getValue());
    if (!axis)
      return op->emitError()
             << "the mesh has no axis '" << name.getValue() << "'";
    if (mesh.axes[*axis].size > 1)
      axes.push_back(*axis);
  }
  return success();
}

FailureOr<TensorSharding>
LocalProgramChecker::sharding(Operation *op, Attribute attribute,
                              const llvm::Twine &what) {
  auto shardingAttr = dyn_cast_or_null<ShardingAttr>(attribute);
  if (!shardingAttr)
    return op->emitError() << what << " has no '" << kShardingAttrName
                           << "': the module is not partitioned";
  llvm::Expected<TensorSharding> resolved = shardingAttr.resolve(mesh);
  if (!resolved)
    return op->emitError() << what << ": "
                           << llvm::toString(resolved.takeError());
  return dropTrivialAxes(*resolved, mesh);
}

LogicalResult LocalProgramChecker::offset(Operation *op, Value value,
                                          const AxisList &axes, int64_t size) {
  if (!value)
    return axes.empty() ? success()
                        : LogicalResult(op->emitError()
                                        << "needs an offset, since its slice "
                                           "depends on the rank");
  auto start = value.getDefiningOp<ShardOffsetOp>();
  AxisList startAxes;
  if (!start)
    return op->emitError("offset must come from a tessera.shard_offset");
  if (failed(axesOf(start, start.getAxes(), startAxes)))
    return failure();
  if (startAxes != axes || int64_t(start.getSize()) != size) {
    InFlightDiagnostic diagnostic =
        op->emitError("offset does not match how the op's slice is split, "
                      "expected size ")
        << size << ", got " << start.getSize();
    diagnostic.attachNote(start.getLoc()) << "the offset is made here";
    return diagnostic;
  }
  return success();
}

FailureOr<TensorSharding> LocalProgramChecker::linear(LinearOp op) {
  const Sharding &x = of(op.getX()), &weight = of(op.getWeight());
  bool outIn = op.getWeightLayout() == WeightLayout::OutIn;
  const AxisList &in = weight.dims[outIn ? 1 : 0];
  const AxisList &out = weight.dims[outIn ? 0 : 1];
  if (x.dims[2] != in)
    return op.emitError()
           << "contracts a dimension that lies differently in x, " << str(x)
           << ", and in the weight, " << str(weight);
  for (const AxisList &dim : {x.dims[0], x.dims[1]})
    for (Axis axis : dim)
      if (llvm::is_contained(out, axis) || llvm::is_contained(in, axis))
        return op.emitError() << "axis '" << mesh.axes[axis].name
                              << "' splits both the tokens and the weight";
  Sharding result = x;
  result.dims[2] = out;
  result.partial = in;
  return result;
}

FailureOr<TensorSharding> LocalProgramChecker::attention(AttentionOp op) {
  const Sharding &q = of(op.getQ()), &k = of(op.getK()), &v = of(op.getV());
  if (failed(whole(op, "the queries' sequence", q.dims[1])) ||
      failed(whole(op, "the keys' sequence", k.dims[1])) ||
      failed(want(op, "v", v, k)))
    return failure();
  ArrayRef<Axis> heads = q.dims[2], kvHeads = k.dims[2];
  if (q.dims[0] != k.dims[0] || kvHeads.size() > heads.size() ||
      heads.take_front(kvHeads.size()) != kvHeads)
    return op.emitError() << "the heads of q, " << str(q)
                          << ", do not lie with those of k, " << str(k);
  return q;
}

FailureOr<TensorSharding>
LocalProgramChecker::latentAttention(LatentAttentionOp op) {
  const Sharding &q = of(op.getQ());
  Sharding shared = q;
  shared.dims[2].clear();
  if (failed(whole(op, "the queries' sequence", q.dims[1])) ||
      failed(want(op, "kv", of(op.getKv()), q)) ||
      failed(want(op, "k_rope", of(op.getKRope()), shared)) ||
      failed(want(op, "table", of(op.getTable()), Sharding::replicated(3))))
    return failure();
  return q;
}

FailureOr<TensorSharding>
LocalProgramChecker::relativeAttention(RelativeAttentionOp op) {
  const Sharding &q = of(op.getQ());
  Sharding r = q, bias = Sharding::replicated(1);
  r.dims[0].clear();
  bias.dims[0] = q.dims[2];
  if (failed(whole(op, "the queries' sequence", q.dims[1])) ||
      failed(want(op, "k", of(op.getK()), q)) ||
      failed(want(op, "v", of(op.getV()), q)) ||
      failed(want(op, "r", of(op.getR()), r)) ||
      failed(want(op, "content_bias", of(op.getContentBias()), bias)) ||
      failed(want(op, "position_bias", of(op.getPositionBias()), bias)))
    return failure();
  return q;
}

/// The ops of a mixture of experts. `rows` are [experts, capacity, width], the
/// tokens' axes split the capacity.
FailureOr<TensorSharding> LocalProgramChecker::experts(Operation *op) {
  auto capacity = [&](const Sharding &tokens) {
    AxisList axes = tokens.dims[0];
    axes.append(tokens.dims[1].begin(), tokens.dims[1].end());
    return axes;
  };
  using Result = FailureOr<Sharding>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<RouterOp>([&](RouterOp router) -> Result {
        const Sharding &x = of(router.getX());
        if (failed(complete(op)) || failed(whole(op, "the width", x.dims[2])) ||
            failed(want(op, "weight", of(router.getWeight()),
                        Sharding::replicated(2))) ||
            (router.getBias() && failed(want(op, "bias", of(router.getBias()),
                                             Sharding::replicated(1)))))
          return failure();
        return x;
      })
      .Case<PermuteOp>([&](PermuteOp permute) -> Result {
        const Sharding &x = of(permute.getX());
        if (failed(complete(op)) || failed(whole(op, "the width", x.dims[2])) ||
            failed(want(op, "experts", of(permute.getExperts()), x)))
          return failure();
        Sharding rows = Sharding::replicated(3);
        rows.dims[1] = capacity(x);
        return rows;
      })
      .Case<GroupedLinearOp>([&](GroupedLinearOp linear) -> Result {
        const Sharding &x = of(linear.getX()), &w = of(linear.getWeight());
        if (failed(complete(op)))
          return failure();
        if (x.dims[0] != w.dims[0] || x.dims[2] != w.dims[2])
          return op->emitError() << "experts or contracted dimension lie "
                                    "differently in x, "
                                 << str(x) << ", and in the weight, " << str(w);
        Sharding result = x;
        result.dims[2] = w.dims[1];
        result.partial = w.dims[2];
        return result;
      })
      .Case<CombineOp>([&](CombineOp combine) -> Result {
        const Sharding &rows = of(combine.getRows());
        const Sharding &tokens = of(combine.getWeights());
        if (failed(want(op, "experts", of(combine.getExperts()), tokens)))
          return failure();
        if (tokens.isPartial() || !rows.dims[0].empty() ||
            rows.dims[1] != capacity(tokens))
          return op->emitError()
                 << "the rows, " << str(rows)
                 << ", are not those of the tokens, " << str(tokens);
        Sharding result = tokens;
        result.dims[2] = rows.dims[2];
        result.partial = rows.partial;
        return result;
      });
}

FailureOr<TensorSharding> LocalProgramChecker::collective(Operation *op) {
  Sharding result = of(op->getOperand(0));
  AxisList axes;
  if (failed(axesOf(op, op->getAttrOfType<ArrayAttr>("axes"), axes)))
    return failure();
  auto gather = [&](int64_t dim) -> LogicalResult {
    AxisList &list = result.dims[dim];
    ArrayRef<Axis> all = list;
    if (all.size() < axes.size() ||
        all.take_back(axes.size()) != ArrayRef<Axis>(axes))
      return op->emitError() << "gathers axes that are not the minor ones of "
                                "dimension "
                             << dim << " of " << str(result);
    list.pop_back_n(axes.size());
    return success();
  };
  auto scatter = [&](int64_t dim) -> LogicalResult {
    for (Axis axis : axes) {
      bool used = llvm::is_contained(result.partial, axis);
      for (const AxisList &list : result.dims)
        used |= llvm::is_contained(list, axis);
      if (used)
        return op->emitError() << "splits over axis '" << mesh.axes[axis].name
                               << "', which is in use in " << str(result);
    }
    result.dims[dim].append(axes.begin(), axes.end());
    return success();
  };
  auto reduce = [&](ReductionKind kind) -> LogicalResult {
    for (Axis axis : axes)
      if (!llvm::is_contained(result.partial, axis) || result.kind != kind)
        return op->emitError()
               << "reduces over axis '" << mesh.axes[axis].name
               << "', over which no such reduction is pending in "
               << str(result);
    llvm::erase_if(result.partial,
                   [&](Axis axis) { return llvm::is_contained(axes, axis); });
    if (result.partial.empty())
      result.kind = ReductionKind::Sum;
    return success();
  };
  LogicalResult legal =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<SliceOp>([&](SliceOp o) { return scatter(o.getDim()); })
          .Case<AllGatherOp>([&](AllGatherOp o) { return gather(o.getDim()); })
          .Case<AllToAllOp>([&](AllToAllOp o) {
            return failed(gather(o.getConcatDim())) ? failure()
                                                    : scatter(o.getSplitDim());
          })
          .Case<ReduceScatterOp>([&](ReduceScatterOp o) {
            return failed(reduce(ReductionKind::Sum)) ? failure()
                                                      : scatter(o.getDim());
          })
          .Case<AllReduceOp>([&](AllReduceOp o) {
            return reduce(o.getMaximum() ? ReductionKind::Max
                                         : ReductionKind::Sum);
          });
  if (failed(legal))
    return failure();
  return result;
}

FailureOr<TensorSharding> LocalProgramChecker::transfer(Operation *op) {
  if (isa<SliceOp, AllGatherOp, AllToAllOp, ReduceScatterOp, AllReduceOp>(op))
    return collective(op);
  if (isa<RouterOp, PermuteOp, GroupedLinearOp, CombineOp>(op))
    return experts(op);
  if (auto add = dyn_cast<AddOp>(op)) {
    if (failed(want(op, "rhs", of(add.getRhs()), of(add.getLhs()))))
      return failure();
    if (of(add.getLhs()).isPartial() &&
        of(add.getLhs()).kind != ReductionKind::Sum)
      return op->emitError() << "adds values that are pending maxima, "
                             << str(of(add.getLhs()));
    return of(add.getLhs());
  }
  if (failed(complete(op)))
    return failure();
  // The tokens of a [batch, sequence, ...] tensor.
  auto tokens = [&](Value value) {
    Sharding s = of(value);
    s.dims.resize(2);
    return s;
  };
  auto replicated = [&](Value value, const llvm::Twine &what) {
    return value ? want(op, what, of(value),
                        Sharding::replicated(of(value).dims.size()))
                 : success();
  };
  using Result = FailureOr<Sharding>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<GetParameterOp>([&](GetParameterOp read) -> Result {
        auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter());
        std::string why;
        RankedTensorType type = getLocalParameterType(parameter, mesh, &why);
        if (type != read.getType())
          return read.emitError()
                 << "expected one rank's part " << type
                 << " of the parameter, got " << read.getType() << " " << why;
        if (!parameter.getShardingAttr())
          return Sharding::replicated(type.getRank());
        return sharding(parameter, parameter.getShardingAttr(), "parameter");
      })
      .Case<RotaryTableOp, SinusoidTableOp>([&](auto table) -> Result {
        return Sharding::replicated(table.getType().getRank());
      })
      .Case<EmbeddingOp>([&](EmbeddingOp e) -> Result {
        const Sharding &table = of(e.getTable());
        if (failed(
                offset(op, e.getOffset(), table.dims[0],
                       cast<ShapedType>(e.getTable().getType()).getDimSize(0))))
          return failure();
        Sharding result = tokens(e.getTokens());
        result.dims.push_back(table.dims[1]);
        result.partial = table.dims[0];
        return result;
      })
      .Case<AddPositionsOp>([&](AddPositionsOp a) -> Result {
        const Sharding &x = of(a.getX());
        if (failed(replicated(a.getTable(), "table")) ||
            failed(offset(op, a.getOffset(), x.dims[1],
                          cast<ShapedType>(a.getX().getType()).getDimSize(1))))
          return failure();
        return x;
      })
      .Case<LinearOp>([&](LinearOp o) { return linear(o); })
      .Case<AddBiasOp>([&](AddBiasOp o) -> Result {
        if (of(o.getBias()).dims[0] != of(o.getX()).dims[2])
          return o.emitError() << "bias lies as " << str(of(o.getBias()))
                               << ", x as " << str(of(o.getX()));
        return of(o.getX());
      })
      .Case<RMSNormOp>([&](RMSNormOp o) -> Result {
        if (failed(replicated(o.getWeight(), "weight")))
          return failure();
        return of(o.getX());
      })
      .Case<LayerNormOp>([&](LayerNormOp o) -> Result {
        if (failed(replicated(o.getWeight(), "weight")) ||
            failed(replicated(o.getBias(), "bias")) ||
            failed(whole(op, "the normalised dimension", of(o.getX()).dims[2])))
          return failure();
        return of(o.getX());
      })
      .Case<RotaryOp>([&](RotaryOp o) -> Result {
        if (failed(replicated(o.getTable(), "table")) ||
            failed(whole(op, "the sequence", of(o.getX()).dims[1])))
          return failure();
        return of(o.getX());
      })
      .Case<AttentionOp>([&](AttentionOp o) { return attention(o); })
      .Case<LatentAttentionOp>(
          [&](LatentAttentionOp o) { return latentAttention(o); })
      .Case<RelativeAttentionOp>(
          [&](RelativeAttentionOp o) { return relativeAttention(o); })
      .Case<SplitOp>([&](SplitOp o) -> Result {
        if (failed(whole(op, "the width", of(o.getX()).dims[2])))
          return failure();
        return of(o.getX());
      })
      .Case<SwigluOp>([&](SwigluOp o) -> Result {
        if (failed(want(op, "up", of(o.getUp()), of(o.getGate()))))
          return failure();
        return of(o.getGate());
      })
      .Case<ActivationOp>(
          [&](ActivationOp o) -> Result { return of(o.getX()); })
      .Case<CrossEntropyOp>([&](CrossEntropyOp o) -> Result {
        if (failed(whole(op, "the vocabulary", of(o.getLogits()).dims[2])) ||
            failed(
                want(op, "labels", of(o.getLabels()), tokens(o.getLogits()))))
          return failure();
        return of(o.getLabels());
      })
      .Case<CrossEntropyStatsOp>([&](CrossEntropyStatsOp o) -> Result {
        const Sharding &logits = of(o.getLogits());
        if (failed(
                want(op, "labels", of(o.getLabels()), tokens(o.getLogits()))) ||
            failed(offset(
                op, o.getOffset(), logits.dims[2],
                cast<ShapedType>(o.getLogits().getType()).getDimSize(2))))
          return failure();
        // One triple per part of the vocabulary.
        return logits;
      })
      .Case<CrossEntropyCombineOp>([&](CrossEntropyCombineOp o) -> Result {
        if (failed(whole(op, "the statistics", of(o.getStats()).dims[2])) ||
            failed(want(op, "labels", of(o.getLabels()), tokens(o.getStats()))))
          return failure();
        return of(o.getLabels());
      })
      .Case<TokenSumOp>([&](TokenSumOp o) -> Result {
        const Sharding &nll = of(o.getNll());
        if (failed(want(op, "labels", of(o.getLabels()), nll)))
          return failure();
        Sharding result = Sharding::replicated(1);
        for (const AxisList &dim : nll.dims)
          result.partial.append(dim.begin(), dim.end());
        return result;
      })
      .Case<TokenMeanOp>([&](TokenMeanOp o) -> Result {
        if (failed(replicated(o.getSum(), "sum")))
          return failure();
        return Sharding::replicated(0);
      })
      .Default([](Operation *other) -> Result {
        return other->emitError("cannot be checked: it is no op of one rank's "
                                "program");
      });
}

LogicalResult LocalProgramChecker::layers(LayersOp op) {
  auto block = module.lookupSymbol<func::FuncOp>(op.getBlock());
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto wanted = sharding(block, block.getArgAttr(i, kShardingAttrName),
                           "argument #" + llvm::Twine(i));
    if (failed(wanted) ||
        failed(want(op, "operand #" + llvm::Twine(i), of(operand), *wanted)))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto wanted = sharding(block, block.getResultAttr(i, kShardingAttrName),
                           "result #" + llvm::Twine(i));
    if (failed(wanted))
      return failure();
    known[result] = *wanted;
  }
  return success();
}

LogicalResult LocalProgramChecker::endOf(func::FuncOp function,
                                         func::ReturnOp op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto wanted =
        sharding(function, function.getResultAttr(i, kShardingAttrName),
                 "result #" + llvm::Twine(i));
    if (failed(wanted) ||
        failed(want(op, "operand #" + llvm::Twine(i), of(operand), *wanted)))
      return failure();
  }
  return success();
}

LogicalResult LocalProgramChecker::check(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has control flow, which cannot be partitioned");
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto given = sharding(function, function.getArgAttr(i, kShardingAttrName),
                          "argument #" + llvm::Twine(i));
    if (failed(given))
      return failure();
    known[argument] = *given;
  }
  for (Operation &op : function.getBody().front()) {
    if (isa<ShardOffsetOp, AxisIndexOp>(op))
      continue;
    if (auto call = dyn_cast<LayersOp>(op)) {
      if (failed(layers(call)))
        return failure();
      continue;
    }
    if (auto end = dyn_cast<func::ReturnOp>(op))
      return endOf(function, end);
    FailureOr<Sharding> result = transfer(&op);
    if (failed(result))
      return failure();
    for (Value value : op.getResults()) {
      auto type = cast<RankedTensorType>(value.getType());
      if (type.getRank() != int64_t(result->dims.size()))
        return op.emitError() << "result of rank " << type.getRank()
                              << " cannot have sharding " << str(*result);
      known[value] = *result;
    }
  }
  return success();
}

namespace {
struct VerifyPartitionPass
    : tessera::impl::VerifyPartitionBase<VerifyPartitionPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttrName);
    if (!mesh) {
      getOperation().emitError() << "module has no '" << kMeshAttrName << "'";
      return signalPassFailure();
    }
    LocalProgramChecker checker(getOperation(), mesh.getMesh());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(checker.check(function)))
        return signalPassFailure();
  }
};
} // namespace
