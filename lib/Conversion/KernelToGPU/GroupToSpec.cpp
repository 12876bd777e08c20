//===- GroupToSpec.cpp - which kernel computes a group --------------------===//
//
// Reads a group's body from its first op on: the first op decides the kernel,
// the ops behind it must be parts of that kernel's epilogue in their order, or
// the group is refused.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/GroupToSpec.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Analysis/ArenaPlan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;
using kernel::Family;
using kernel::GroupOp;

namespace {
/// An epilogue and the group operands that it takes.
struct Epilogue {
  std::optional<unsigned> bias, gate, residual;
  Activation activation = Activation::None;
  Activation gateActivation = Activation::None;

  bool isEmpty() const {
    return !bias && !gate && !residual && activation == Activation::None;
  }
  EpilogueSpec spec() const {
    EpilogueSpec spec;
    spec.hasBias = bias.has_value();
    spec.activation = activation;
    spec.hasGate = gate.has_value();
    spec.gateActivation = gateActivation;
    spec.hasResidual = residual.has_value();
    return spec;
  }
};

class GroupReader {
public:
  explicit GroupReader(GroupOp group)
      : group(group), ops(llvm::map_to_vector(
                          group.getOps(), [](Operation &op) { return &op; })) {}

  FailureOr<GroupKernel> read();

private:
  using Result = FailureOr<GroupKernel>;

  InFlightDiagnostic refuse(Operation *op, const llvm::Twine &why) {
    InFlightDiagnostic diagnostic = group.emitOpError()
                                    << "cannot become a kernel: " << why;
    diagnostic.attachNote(op->getLoc()) << "the op is here";
    return diagnostic;
  }

  /// The group operand that `value` is.
  FailureOr<unsigned> operand(Operation *op, Value value);
  /// Appends the operands to `kernel.inputs`.
  LogicalResult inputs(Operation *op, ValueRange values, GroupKernel &kernel);
  LogicalResult offset(Operation *op, Value value, GroupKernel &kernel);
  FailureOr<Element> element(Operation *op, Type type);
  LogicalResult only(Operation *op);
  /// Reads the inputs of a kernel that computes `op` alone.
  LogicalResult single(Operation *op, Family wanted, ValueRange values,
                       GroupKernel &kernel);
  /// The same; `type` becomes the element type of `typed`.
  LogicalResult single(Operation *op, Family wanted, ValueRange values,
                       GroupKernel &kernel, Value typed, Element &type);
  LogicalResult family(Operation *op, Family wanted);
  /// Reads `op` and what follows as the epilogue of `main`.
  LogicalResult epilogue(Value main, ArrayRef<Operation *> rest,
                         Epilogue &result);
  LogicalResult appendEpilogue(const Epilogue &parts, GroupKernel &kernel);

  Result matmul(LinearOp op);
  Result attention(AttentionOp op);
  Result norm(Operation *op);
  Result rotary(RotaryOp op);
  Result elementwise(Operation *op);
  Result embedding(EmbeddingOp op);
  Result positions(AddPositionsOp op);
  Result crossEntropy(Operation *op, Value logits, Value labels, int64_t vocab,
                      Value start);
  Result combine(CrossEntropyCombineOp op);
  Result tokenSum(TokenSumOp op);
  Result tokenMean(TokenMeanOp op);
  LogicalResult checkTypes();

  GroupOp group;
  SmallVector<Operation *> ops;
};
} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
/// All elements but those of the last dimension.
static int64_t rowsOf(Value value) {
  return typeOf(value).getNumElements() / typeOf(value).getShape().back();
}
static int64_t colsOf(Value value) { return typeOf(value).getShape().back(); }

static Activation convert(ActivationKind kind) {
  switch (kind) {
  case ActivationKind::Gelu:
    return Activation::Gelu;
  case ActivationKind::GeluTanh:
    return Activation::GeluTanh;
  case ActivationKind::Silu:
    return Activation::Silu;
  case ActivationKind::Relu:
    return Activation::Relu;
  }
  return Activation::None;
}

FailureOr<unsigned> GroupReader::operand(Operation *op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return refuse(op, "it takes a value that another op of the group makes");
  return argument.getArgNumber();
}

LogicalResult GroupReader::inputs(Operation *op, ValueRange values,
                                  GroupKernel &kernel) {
  for (Value value : values) {
    FailureOr<unsigned> index = operand(op, value);
    if (failed(index))
      return failure();
    kernel.inputs.push_back(*index);
  }
  return success();
}

LogicalResult GroupReader::offset(Operation *op, Value value,
                                  GroupKernel &kernel) {
  if (!value)
    return success();
  FailureOr<unsigned> index = operand(op, value);
  if (failed(index))
    return failure();
  kernel.offset = *index;
  return success();
}

FailureOr<Element> GroupReader::element(Operation *op, Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (element.isF32())
    return Element::F32;
  if (element.isBF16())
    return Element::BF16;
  return refuse(op, "element type must be f32 or bf16");
}

LogicalResult GroupReader::family(Operation *op, Family wanted) {
  if (group.getFamily() == wanted)
    return success();
  return refuse(op, "'" + op->getName().getStringRef() +
                        "' is computed by the family '" +
                        stringifyFamily(wanted) + "', the group's is '" +
                        stringifyFamily(group.getFamily()) + "'");
}

LogicalResult GroupReader::only(Operation *op) {
  if (ops.size() == 1)
    return success();
  return refuse(ops[1], "no kernel computes it together with '" +
                            op->getName().getStringRef() + "'");
}

LogicalResult GroupReader::single(Operation *op, Family wanted,
                                  ValueRange values, GroupKernel &kernel) {
  return success(succeeded(family(op, wanted)) && succeeded(only(op)) &&
                 succeeded(inputs(op, values, kernel)));
}

LogicalResult GroupReader::single(Operation *op, Family wanted,
                                  ValueRange values, GroupKernel &kernel,
                                  Value typed, Element &type) {
  FailureOr<Element> known = element(op, typed.getType());
  if (failed(known))
    return failure();
  type = *known;
  return single(op, wanted, values, kernel);
}

LogicalResult GroupReader::epilogue(Value main, ArrayRef<Operation *> rest,
                                    Epilogue &result) {
  // Parts come in the order bias, activation, gate, residual.
  int stage = 0;
  for (Operation *op : rest) {
    if (!llvm::is_contained(op->getOperands(), main))
      return refuse(op, "it does not use the result of the op before it");
    if (!main.hasOneUse() && isa<OpResult>(main))
      return refuse(op, "the value before it is used twice");
    int next = 0;
    LogicalResult known =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<AddBiasOp>([&](AddBiasOp o) {
              next = 1;
              FailureOr<unsigned> index = operand(op, o.getBias());
              if (succeeded(index))
                result.bias = *index;
              return LogicalResult(index);
            })
            .Case<ActivationOp>([&](ActivationOp o) {
              next = 2;
              result.activation = convert(o.getKind());
              return success();
            })
            .Case<SwigluOp>([&](SwigluOp o) {
              bool isUp = main == o.getUp();
              FailureOr<unsigned> index =
                  operand(op, isUp ? o.getGate() : o.getUp());
              if (failed(index))
                return failure();
              result.gate = *index;
              // With the gate as main value the activation is its own.
              if (isUp)
                result.gateActivation = convert(o.getActivation());
              else if (stage < 2)
                result.activation = convert(o.getActivation());
              else
                return LogicalResult(
                    refuse(op, "its gate has gone through an activation"));
              next = 3;
              return success();
            })
            .Case<AddOp>([&](AddOp o) {
              next = 4;
              FailureOr<unsigned> index =
                  operand(op, main == o.getLhs() ? o.getRhs() : o.getLhs());
              if (succeeded(index))
                result.residual = *index;
              return LogicalResult(index);
            })
            .Default([&](Operation *other) {
              return LogicalResult(
                  refuse(other, "'" + other->getName().getStringRef() +
                                    "' is no part of an epilogue"));
            });
    if (failed(known))
      return failure();
    if (next <= stage)
      return refuse(op, "an epilogue is bias, activation, gate, residual, each "
                        "at most once and in this order");
    stage = next;
    main = op->getResult(0);
  }
  return success();
}

LogicalResult GroupReader::appendEpilogue(const Epilogue &parts,
                                          GroupKernel &kernel) {
  for (std::optional<unsigned> part : {parts.bias, parts.gate, parts.residual})
    if (part)
      kernel.inputs.push_back(*part);
  return success();
}

FailureOr<GroupKernel> GroupReader::matmul(LinearOp op) {
  MatmulSpec spec;
  GroupKernel kernel;
  Epilogue parts;
  FailureOr<Element> type = element(op, op.getX().getType());
  FailureOr<Element> outType = element(op, op.getType());
  if (failed(family(op, Family::Matmul)) || failed(type) || failed(outType) ||
      failed(inputs(op, {op.getX(), op.getWeight()}, kernel)) ||
      failed(epilogue(op.getResult(), ArrayRef(ops).drop_front(), parts)))
    return failure();
  if (!parts.isEmpty() && *type != *outType)
    return refuse(op, "an epilogue needs a product of the operands' type");
  spec.m = rowsOf(op.getX());
  spec.k = colsOf(op.getX());
  spec.n = colsOf(op.getResult());
  spec.type = *type;
  spec.outType = *outType;
  spec.weightOutIn = op.getWeightLayout() == WeightLayout::OutIn;
  static_cast<EpilogueSpec &>(spec) = parts.spec();
  if (failed(appendEpilogue(parts, kernel)))
    return failure();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::attention(AttentionOp op) {
  AttentionSpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::Attention, {op.getQ(), op.getK(), op.getV()},
                    kernel, op.getQ(), spec.type)))
    return failure();
  spec.batch = typeOf(op.getQ()).getDimSize(0);
  spec.seqQ = typeOf(op.getQ()).getDimSize(1);
  spec.seqKV = typeOf(op.getK()).getDimSize(1);
  spec.headDim = op.getHeadDim();
  spec.heads = colsOf(op.getQ()) / spec.headDim;
  spec.kvHeads = colsOf(op.getK()) / spec.headDim;
  spec.scale = op.getScale().convertToDouble();
  spec.causal = op.getCausal();
  spec.window = op.getWindow();
  kernel.spec = spec;
  return kernel;
}

/// A norm, or a residual add and the norm of the sum.
FailureOr<GroupKernel> GroupReader::norm(Operation *op) {
  NormSpec spec;
  GroupKernel kernel;
  auto add = dyn_cast<AddOp>(ops.front());
  Value weight, bias;
  if (auto rms = dyn_cast<RMSNormOp>(op)) {
    spec.kind = NormSpec::Kind::RMS;
    spec.eps = rms.getEps().convertToDouble();
    weight = rms.getWeight();
  } else {
    auto layer = cast<LayerNormOp>(op);
    spec.kind = NormSpec::Kind::Layer;
    spec.eps = layer.getEps().convertToDouble();
    weight = layer.getWeight();
    bias = layer.getBias();
  }
  Value x = op->getOperand(0);
  FailureOr<Element> type = element(op, x.getType());
  if (failed(family(op, Family::Row)) || failed(type))
    return failure();
  if (ops.size() != (add ? 2u : 1u) || (add && x != add.getResult()))
    return refuse(op, "a norm takes a residual add before it and nothing else");
  if (failed(add ? inputs(add, {add.getLhs(), add.getRhs()}, kernel)
                 : inputs(op, x, kernel)) ||
      failed(inputs(op, weight, kernel)) ||
      (bias && failed(inputs(op, bias, kernel))))
    return failure();
  spec.cols = colsOf(weight);
  spec.rows = typeOf(x).getNumElements() / spec.cols;
  spec.type = *type;
  spec.hasBias = static_cast<bool>(bias);
  spec.hasResidual = static_cast<bool>(add);
  if (add) {
    // The kernel stores the sum and then the norm.
    SmallVector<Value> order{add.getResult(), op->getResult(0)};
    for (Value value : order) {
      auto at = llvm::find(group.getYielded(), value);
      if (at == group.getYielded().end())
        return refuse(op, "both the sum and its norm must be yielded");
      kernel.outputs.push_back(at - group.getYielded().begin());
    }
  }
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::rotary(RotaryOp op) {
  RotarySpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::Elementwise, {op.getX(), op.getTable()}, kernel,
                    op.getX(), spec.type)))
    return failure();
  spec.batch = typeOf(op.getX()).getDimSize(0);
  spec.seq = typeOf(op.getX()).getDimSize(1);
  spec.headDim = op.getHeadDim();
  spec.heads = colsOf(op.getX()) / spec.headDim;
  spec.positions = typeOf(op.getTable()).getDimSize(0);
  spec.rotaryDim = 2 * typeOf(op.getTable()).getDimSize(1);
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::elementwise(Operation *op) {
  ElementwiseSpec spec;
  GroupKernel kernel;
  Epilogue parts;
  auto swiglu = dyn_cast<SwigluOp>(op);
  Value x = swiglu ? swiglu.getUp() : op->getOperand(0);
  FailureOr<Element> type = element(op, x.getType());
  if (failed(family(op, Family::Elementwise)) || failed(type) ||
      failed(inputs(op, x, kernel)) || failed(epilogue(x, ops, parts)) ||
      failed(appendEpilogue(parts, kernel)))
    return failure();
  spec.rows = rowsOf(x);
  spec.cols = colsOf(x);
  spec.type = *type;
  static_cast<EpilogueSpec &>(spec) = parts.spec();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::embedding(EmbeddingOp op) {
  EmbeddingSpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::Embedding, {op.getTokens(), op.getTable()},
                    kernel, op.getTable(), spec.type)) ||
      failed(offset(op, op.getOffset(), kernel)))
    return failure();
  spec.count = typeOf(op.getTokens()).getNumElements();
  spec.rows = typeOf(op.getTable()).getDimSize(0);
  spec.cols = colsOf(op.getTable());
  spec.hasOffset = kernel.offset.has_value();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::positions(AddPositionsOp op) {
  PositionsSpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::Embedding, {op.getX(), op.getTable()}, kernel,
                    op.getX(), spec.type)) ||
      failed(offset(op, op.getOffset(), kernel)))
    return failure();
  spec.batch = typeOf(op.getX()).getDimSize(0);
  spec.seq = typeOf(op.getX()).getDimSize(1);
  spec.cols = colsOf(op.getX());
  spec.positions = typeOf(op.getTable()).getDimSize(0);
  spec.first = op.getFirst();
  spec.hasOffset = kernel.offset.has_value();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::crossEntropy(Operation *op, Value logits,
                                                 Value labels, int64_t vocab,
                                                 Value start) {
  CrossEntropySpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::CrossEntropy, {logits, labels}, kernel, logits,
                    spec.type)) ||
      failed(offset(op, start, kernel)))
    return failure();
  spec.rows = rowsOf(logits);
  spec.cols = colsOf(logits);
  spec.vocab = vocab;
  spec.statsOnly = kernel.offset.has_value();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::combine(CrossEntropyCombineOp op) {
  CrossEntropyCombineSpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::CrossEntropy, {op.getStats(), op.getLabels()},
                    kernel)))
    return failure();
  spec.rows = rowsOf(op.getStats());
  spec.ranks = colsOf(op.getStats()) / 3;
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::tokenSum(TokenSumOp op) {
  TokenSumSpec spec;
  GroupKernel kernel;
  if (failed(single(op, Family::CrossEntropy, {op.getNll(), op.getLabels()},
                    kernel)))
    return failure();
  spec.rows = typeOf(op.getNll()).getNumElements();
  kernel.spec = spec;
  return kernel;
}

FailureOr<GroupKernel> GroupReader::tokenMean(TokenMeanOp op) {
  GroupKernel kernel;
  if (failed(single(op, Family::CrossEntropy, op.getSum(), kernel)))
    return failure();
  kernel.spec = TokenMeanSpec{};
  return kernel;
}

/// The shapes that the functions above divide and multiply.
LogicalResult GroupReader::checkTypes() {
  for (Operation *op : ops) {
    auto check = [&](Type type) -> LogicalResult {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return success();
      if (std::string why = whyNotStorable(type); !why.empty())
        return refuse(op, why);
      if (llvm::is_contained(tensor.getShape(), 0))
        return refuse(op, "a tensor without elements");
      if (tensor.getRank() == 0 && !isa<TokenMeanOp>(op))
        return refuse(op, "a tensor without dimensions");
      return success();
    };
    for (Type type : op->getOperandTypes())
      if (failed(check(type)))
        return failure();
    for (Type type : op->getResultTypes())
      if (failed(check(type)))
        return failure();
  }
  return success();
}

FailureOr<GroupKernel> GroupReader::read() {
  if (failed(checkTypes()))
    return failure();
  Operation *first = ops.front();
  // An add in front of a norm belongs to the norm.
  if (isa<AddOp>(first) && ops.size() == 2 &&
      isa<RMSNormOp, LayerNormOp>(ops[1]))
    return norm(ops[1]);
  if (group.getNumResults() != 1 ||
      group.getYielded().front() != ops.back()->getResult(0))
    return refuse(ops.back(), "exactly the last op's result must be yielded");
  Result kernel =
      llvm::TypeSwitch<Operation *, Result>(first)
          .Case<LinearOp>([&](LinearOp op) { return matmul(op); })
          .Case<AttentionOp>([&](AttentionOp op) { return attention(op); })
          .Case<RMSNormOp, LayerNormOp>([&](Operation *op) { return norm(op); })
          .Case<RotaryOp>([&](RotaryOp op) { return rotary(op); })
          .Case<AddBiasOp, ActivationOp, SwigluOp, AddOp>(
              [&](Operation *op) { return elementwise(op); })
          .Case<EmbeddingOp>([&](EmbeddingOp op) { return embedding(op); })
          .Case<AddPositionsOp>(
              [&](AddPositionsOp op) { return positions(op); })
          .Case<CrossEntropyOp>([&](CrossEntropyOp op) {
            return crossEntropy(op, op.getLogits(), op.getLabels(),
                                op.getVocab(), {});
          })
          .Case<CrossEntropyStatsOp>([&](CrossEntropyStatsOp op) {
            return crossEntropy(op, op.getLogits(), op.getLabels(),
                                op.getVocab(), op.getOffset());
          })
          .Case<CrossEntropyCombineOp>(
              [&](CrossEntropyCombineOp op) { return combine(op); })
          .Case<TokenSumOp>([&](TokenSumOp op) { return tokenSum(op); })
          .Case<TokenMeanOp>([&](TokenMeanOp op) { return tokenMean(op); })
          .Default([&](Operation *op) -> Result {
            return refuse(op, "no kernel computes '" +
                                  op->getName().getStringRef() + "'");
          });
  if (succeeded(kernel) && kernel->outputs.empty())
    kernel->outputs.push_back(0);
  return kernel;
}

FailureOr<GroupKernel> tessera::groupToSpec(GroupOp group) {
  return GroupReader(group).read();
}
