//===- ProgramReader.cpp - from a partitioned graph to block specs --------===//
//
// The entry function is cut at its calls of layers: what comes before the first
// is the embedding, what comes after the last the head; both stay on the outer
// stages. Dimensions get their meaning from the graph's contract: activations
// begin with batch and sequence, the rows of experts with experts and rows.
//
//===----------------------------------------------------------------------===//
#include "lib/Forecast/ProgramReader.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::forecast;

ProgramReader::ProgramReader(RankProgram &program, const ShardingPlan &plan)
    : program(program), plan(plan), module(*program.module) {}

int ProgramReader::symbolOf(StringRef name) {
  return symbols.try_emplace(name, int(symbols.size())).first->second;
}

bool ProgramReader::hasRows(Value value) const { return rows.contains(value); }

/// Number of the tensor that stands for `value`, made where it is met first.
int ProgramReader::tensorOf(Value value) {
  auto [at, isNew] = tensors.try_emplace(value, int(block->tensors.size()));
  if (!isNew)
    return at->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return at->second = -1;
  TensorSpec tensor;
  tensor.element = type.getElementType();
  Operation *producer = value.getDefiningOp();
  bool scales = type.getRank() >= 2;
  if (isa_and_nonnull<GetParameterOp>(producer)) {
    tensor.kind = RankTensor::Kind::Weight;
    scales = false;
  } else if (isa_and_nonnull<RotaryTableOp, SinusoidTableOp>(producer)) {
    tensor.kind = RankTensor::Kind::Constant;
    scales = false;
  } else if (ofDistances.contains(value)) {
    scales = false;
  }
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    DimSpec dim{DimSpec::Fixed, size};
    if (scales && hasRows(value)) {
      bool exchanged = rows.lookup(value);
      if (i == 0 && exchanged)
        dim.kind = DimSpec::Experts;
      if (i == 1)
        dim.kind = exchanged ? DimSpec::ExchangedRows : DimSpec::Rows;
      if (i == 2 && innerRows.contains(value))
        dim.kind = DimSpec::ExpertWidth;
    } else if (scales && i < 2) {
      dim.kind = i == 0 ? DimSpec::Batch : DimSpec::Sequence;
    }
    tensor.dims.push_back(dim);
  }
  block->tensors.push_back(std::move(tensor));
  return at->second;
}

/// Whether `value`, perhaps with a bias, goes into the loss.
static bool makesLogits(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto bias = dyn_cast<AddBiasOp>(user))
      return makesLogits(bias.getResult());
    return isa<CrossEntropyOp, CrossEntropyStatsOp>(user);
  });
}

static std::optional<OpRole> roleOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<OpRole>>(op)
      .Case<EmbeddingOp>([](auto) { return OpRole::Embedding; })
      .Case<AddPositionsOp>([](auto) { return OpRole::Positions; })
      .Case<LinearOp>([](LinearOp linear) {
        return makesLogits(linear.getResult()) ? OpRole::Head : OpRole::Linear;
      })
      .Case<AddBiasOp>([](auto) { return OpRole::Bias; })
      .Case<RMSNormOp, LayerNormOp>([](auto) { return OpRole::Norm; })
      .Case<RotaryOp>([](auto) { return OpRole::Rotary; })
      .Case<AttentionOp, RelativeAttentionOp>(
          [](auto) { return OpRole::Attention; })
      .Case<LatentAttentionOp>([](auto) { return OpRole::LatentAttention; })
      .Case<SwigluOp, ActivationOp>([](auto) { return OpRole::Activation; })
      .Case<AddOp>([](auto) { return OpRole::Add; })
      .Case<CrossEntropyOp, CrossEntropyStatsOp>(
          [](auto) { return OpRole::Loss; })
      .Case<CrossEntropyCombineOp, TokenSumOp, TokenMeanOp>(
          [](auto) { return OpRole::LossTail; })
      .Case<RouterOp>([](auto) { return OpRole::Router; })
      .Case<PermuteOp>([](auto) { return OpRole::Permute; })
      .Case<CombineOp>([](auto) { return OpRole::Combine; })
      .Case<GroupedLinearOp>([](auto) { return OpRole::GroupedLinear; })
      .Case<SplitOp>([](auto) { return OpRole::View; })
      .Case<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, SliceOp>(
          [](auto) { return OpRole::Collective; })
      .Default([](Operation *) { return std::nullopt; });
}

static CollectiveKind kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, CollectiveKind>(op)
      .Case<AllGatherOp>([](auto) { return CollectiveKind::AllGather; })
      .Case<ReduceScatterOp>([](auto) { return CollectiveKind::ReduceScatter; })
      .Case<AllToAllOp>([](auto) { return CollectiveKind::AllToAll; })
      .Default([](Operation *) { return CollectiveKind::AllReduce; });
}

void ProgramReader::describe(Operation *op, RankOp &base) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<LinearOp>([&](LinearOp linear) {
        auto read = linear.getWeight().getDefiningOp<GetParameterOp>();
        if (!read)
          return;
        auto found = plan.parameters.find(read.getParameterAttr().getAttr());
        bool outIn = linear.getWeightLayout() == WeightLayout::OutIn;
        base.splitsOutput = found != plan.parameters.end() &&
                            !found->second.dims[outIn ? 0 : 1].empty();
      })
      .Case<RMSNormOp>([&](auto) { base.rootMeanSquare = true; })
      .Case<AttentionOp>([&](AttentionOp a) {
        auto q = cast<RankedTensorType>(a.getQ().getType());
        base.attention.heads = q.getDimSize(2) / a.getHeadDim();
        base.attention.keyWidth = base.attention.valueWidth = a.getHeadDim();
        base.attention.rows = base.attention.keys = q.getDimSize(1);
      })
      .Case<RelativeAttentionOp>([&](RelativeAttentionOp a) {
        auto q = cast<RankedTensorType>(a.getQ().getType());
        base.attention.heads = q.getDimSize(2) / a.getHeadDim();
        base.attention.keyWidth = base.attention.valueWidth = a.getHeadDim();
        base.attention.rows = base.attention.keys = q.getDimSize(1);
        base.attention.relative = true;
      })
      .Case<LatentAttentionOp>([&](LatentAttentionOp a) {
        auto q = cast<RankedTensorType>(a.getQ().getType());
        base.attention.keyWidth = a.getNopeDim() + a.getRopeDim();
        base.attention.valueWidth = a.getValueDim();
        base.attention.rotaryWidth = a.getRopeDim();
        base.attention.heads = q.getDimSize(2) / base.attention.keyWidth;
        base.attention.rows = base.attention.keys = q.getDimSize(1);
      })
      .Case<RouterOp>([&](RouterOp router) {
        base.experts = router.getWeight().getType().getDimSize(0);
        base.chosen = router.getTopK();
      })
      .Case<PermuteOp>([&](PermuteOp permute) {
        block->routedPositions = permute.getX().getType().getDimSize(1);
        block->experts = permute.getRows().getType().getDimSize(0);
        block->chosen = permute.getExperts().getType().getDimSize(2);
      })
      .Case<GroupedLinearOp>([&](GroupedLinearOp g) {
        base.experts = g.getWeight().getType().getDimSize(0);
      });
  if (base.role == OpRole::Collective) {
    base.collective.kind = kindOf(op);
    base.collective.slice = isa<SliceOp>(op);
  }
}

/// Marks where the results' tokens lie. An expert's first products make its
/// inner width, the last one leads back to the model's.
void ProgramReader::markRows(Operation *op) {
  if (op->getNumResults() == 0)
    return;
  Value result = op->getResult(0);
  if (isa<PermuteOp>(op)) {
    rows[result] = false;
  } else if (auto product = dyn_cast<GroupedLinearOp>(op)) {
    rows[result] = true;
    bool down = innerRows.contains(product.getX());
    if (!down)
      innerRows.insert(result);
    int weight = tensorOf(product.getWeight());
    auto &dims = block->tensors[weight].dims;
    dims[0].kind = DimSpec::Experts;
    dims[down ? 2 : 1].kind = DimSpec::ExpertWidth;
  } else if (op->getNumOperands() > 0 && !isa<CombineOp>(op) &&
             hasRows(op->getOperand(0))) {
    rows[result] = rows.lookup(op->getOperand(0));
    if (innerRows.contains(op->getOperand(0)))
      innerRows.insert(result);
  }
}

void ProgramReader::addParameter(GetParameterOp read) {
  int tensor = tensorOf(read.getResult());
  int symbol = symbolOf(read.getParameter());
  bool expert = llvm::any_of(read->getUsers(), [](Operation *user) {
    return isa<GroupedLinearOp>(user);
  });
  auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter());
  bool perLayer = parameter && parameter.getLayerCount();
  if (llvm::none_of(block->parameters, [&](const ParameterSpec &p) {
        return p.symbol == symbol;
      }))
    block->parameters.push_back({symbol, tensor, expert, perLayer});
}

llvm::Error ProgramReader::visit(Operation *op) {
  if (isa<func::ReturnOp, ShardOffsetOp, AxisIndexOp>(op))
    return llvm::Error::success();
  if (auto read = dyn_cast<GetParameterOp>(op)) {
    addParameter(read);
    return llvm::Error::success();
  }
  if (isa<RotaryTableOp, SinusoidTableOp>(op)) {
    if (isa<SinusoidTableOp>(op))
      ofDistances.insert(op->getResult(0));
    tensorOf(op->getResult(0));
    return llvm::Error::success();
  }
  std::optional<OpRole> role = roleOf(op);
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!role || !cost)
    return llvm::createStringError(
        "'" + op->getName().getStringRef() +
        "' is not known to the planner: it states no role or cost");
  markRows(op);
  // What is made of the distances' encodings alone is the same for all
  // sequences and positions.
  if (op->getNumOperands() > 0 && ofDistances.contains(op->getOperand(0)))
    ofDistances.insert(op->getResult(0));
  OpSpec spec;
  spec.op = cost;
  spec.base.role = *role;
  describe(op, spec.base);
  for (Value operand : op->getOperands()) {
    // A table that embedding and head share is read once for both.
    if (auto read = operand.getDefiningOp<GetParameterOp>())
      addParameter(read);
    int tensor = tensorOf(operand);
    if (isa<GroupedLinearOp>(op) && hasRows(operand) && !rows.lookup(operand))
      tensor = exchange(tensor, /*dispatch=*/true);
    if (isa<CombineOp>(op) && hasRows(operand) && rows.lookup(operand))
      tensor = exchange(tensor, /*dispatch=*/false);
    spec.base.operands.push_back(tensor);
  }
  int number = int(block->ops.size());
  for (Value result : op->getResults()) {
    int tensor = tensorOf(result);
    spec.base.results.push_back(tensor);
    if (tensor >= 0)
      block->tensors[tensor].producer = number;
  }
  block->ops.push_back(std::move(spec));
  return llvm::Error::success();
}

void ProgramReader::begin(StringRef name, Value input) {
  program.blocks.emplace_back();
  block = &program.blocks.back();
  block->name = name.str();
  tensors.clear();
  rows.clear();
  innerRows.clear();
  ofDistances.clear();
  exchanged.clear();
  if (input)
    block->input = tensorOf(input);
}

llvm::Error ProgramReader::readBlock(func::FuncOp function) {
  begin(function.getSymName(), function.getArgument(0));
  for (Operation &op : function.getOps())
    if (llvm::Error error = visit(&op))
      return error;
  return llvm::Error::success();
}

llvm::Error ProgramReader::run() {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward)
    return llvm::createStringError("the graph has no @forward");
  // Block functions in the order of their first call.
  llvm::StringMap<int> numbers;
  SmallVector<LayersOp> layers(forward.getOps<LayersOp>());
  begin("embedding", Value());
  program.calls.push_back({0, 1, true});
  bool seenLayers = false;
  auto op = forward.getBody().front().begin();
  auto end = forward.getBody().front().end();
  for (; op != end && !isa<LayersOp>(*op); ++op)
    if (llvm::Error error = visit(&*op))
      return error;
  Value stream;
  for (LayersOp call : layers) {
    auto [at, isNew] =
        numbers.try_emplace(call.getBlock(), int(program.blocks.size()));
    if (isNew) {
      auto function = module.lookupSymbol<func::FuncOp>(call.getBlock());
      if (llvm::Error error = readBlock(function))
        return error;
    }
    program.calls.push_back({at->second, int(call.getCount()), false});
    seenLayers = true;
    stream = call->getResult(0);
  }
  if (!seenLayers)
    return llvm::createStringError("the graph has no layers");
  begin("head", stream);
  program.calls.push_back({int(program.blocks.size()) - 1, 1, true});
  for (; op != end; ++op)
    if (!isa<LayersOp>(*op))
      if (llvm::Error error = visit(&*op))
        return error;
  return llvm::Error::success();
}
