//===- GraphConfig.cpp - the config that a graph was built from -----------===//
//
// Reads sizes, parts and parameters off the ops of a forward graph, going
// backwards from attention, activation and loss, where the families of models
// do not differ. What is read is then built again and compared with the graph
// op by op (SameGraph.cpp): a graph that is no model of a known form is an
// error that names the op, never a plan for another model.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/GraphConfig.h"
#include "lib/Import/Architectures.h"

#include "tessera/Import/Import.h"
#include "tessera/Support/Error.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

namespace {
class GraphReader {
public:
  explicit GraphReader(ModuleOp module) : module(module) {}
  /// False after a failure, with `failure` set.
  bool read(ModelConfig &config, ImportOptions &options);

  std::string failure;

private:
  bool fail(const llvm::Twine &message) {
    if (failure.empty())
      failure = message.str();
    return false;
  }
  std::optional<ParameterRef> parameter(Value value);
  /// Fills `ref` from a read parameter.
  void take(Value value, ParameterRef &ref) {
    if (std::optional<ParameterRef> found = parameter(value))
      ref = *found;
    else
      fail("an operand that should be a parameter is none");
  }
  Value takeLinear(Value result, LinearRef &ref);
  Value takeNorm(Value result, NormRef &ref);
  Value takeHeads(Value value, LinearRef &ref, std::optional<NormRef> &norm);
  /// The result of the linear (and its bias) that reads `value`.
  Value takeUser(Value value, LinearRef &ref);
  void readRotary(Value table);
  void readBlock(func::FuncOp block);
  void readAttention(Operation *op);
  void readLatent(LatentAttentionOp op);
  void readNorms(func::FuncOp block, Value attended, Value mlpInput);
  Value readDense(Operation *op, std::optional<LinearRef> &gate, LinearRef &up,
                  LinearRef &down);
  Value readExperts(RouterOp router);
  void readEmbedding(func::FuncOp forward);
  void readHead(func::FuncOp forward);
  void readFacts(ImportOptions &options);

  ModuleOp module;
  ModelConfig config;
  Type element;
  int64_t batch = 0, sequence = 0;
};
} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static int64_t widthOf(Value value) { return typeOf(value).getShape().back(); }

template <typename Op>
static Op definedBy(Value value) {
  return value ? value.getDefiningOp<Op>() : Op();
}

std::optional<ParameterRef> GraphReader::parameter(Value value) {
  auto get = definedBy<GetParameterOp>(value);
  auto op = get ? module.lookupSymbol<ParameterOp>(get.getParameter())
                : ParameterOp();
  if (!op)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getType());
  ParameterRef ref;
  ref.symbol = op.getSymName().str();
  CheckpointAttr checkpoint = op.getCheckpoint();
  ref.checkpoint = checkpoint.getName().str();
  ref.shape.assign(type.getShape().begin(), type.getShape().end());
  ref.reshape.assign(checkpoint.getReshape().begin(),
                     checkpoint.getReshape().end());
  ref.storedShape = ref.reshape;
  ref.dim = checkpoint.getDim();
  ref.index = checkpoint.getIndex();
  ref.initMean = op.getInitMean().convertToDouble();
  ref.initStd = op.getInitStd().convertToDouble();
  ref.padded = op.getPadded();
  ref.f32 = type.getElementType() != element;
  ref.firstLayer = op.getFirstLayer().value_or(0);
  ref.layerCount = op.getLayerCount().value_or(-1);
  return ref;
}

Value GraphReader::takeLinear(Value result, LinearRef &ref) {
  ref = {};
  if (auto bias = definedBy<AddBiasOp>(result)) {
    ref.bias.emplace();
    take(bias.getBias(), *ref.bias);
    result = bias.getX();
  }
  auto linear = definedBy<LinearOp>(result);
  if (!linear) {
    fail("a value that should come from a linear does not");
    return {};
  }
  take(linear.getWeight(), ref.weight);
  ref.inOut = linear.getWeightLayout() == WeightLayout::InOut;
  return linear.getX();
}

Value GraphReader::takeNorm(Value result, NormRef &ref) {
  ref = {};
  if (auto rms = definedBy<RMSNormOp>(result)) {
    config.normEps = rms.getEps().convertToDouble();
    take(rms.getWeight(), ref.weight);
    return rms.getX();
  }
  auto norm = definedBy<LayerNormOp>(result);
  if (!norm) {
    fail("a value that should come from a norm does not");
    return {};
  }
  config.normEps = norm.getEps().convertToDouble();
  config.layerNorm = true;
  take(norm.getWeight(), ref.weight);
  if (norm.getBias()) {
    ref.bias.emplace();
    take(norm.getBias(), *ref.bias);
  }
  return norm.getX();
}

Value GraphReader::takeUser(Value value, LinearRef &ref) {
  for (Operation *user : value.getUsers()) {
    auto linear = dyn_cast<LinearOp>(user);
    if (!linear || linear.getX() != value)
      continue;
    Value result = linear.getResult();
    if (result.hasOneUse())
      if (auto bias = dyn_cast<AddBiasOp>(*result.getUsers().begin()))
        result = bias.getResult();
    takeLinear(result, ref);
    return result;
  }
  fail("no linear reads the result of an attention or an activation");
  return {};
}

void GraphReader::readRotary(Value table) {
  auto op = definedBy<RotaryTableOp>(table);
  if (!op) {
    fail("a rotary embedding reads no rotary table");
    return;
  }
  RotaryAttr attr = op.getRotary();
  auto number = [](FloatAttr value) -> std::optional<double> {
    if (!value)
      return std::nullopt;
    return value.getValueAsDouble();
  };
  RotaryConfig rotary;
  rotary.theta = attr.getTheta().getValueAsDouble();
  rotary.dim = attr.getDim();
  rotary.scaling = stringifyRotaryScaling(attr.getScaling()).str();
  rotary.factor = number(attr.getFactor());
  rotary.lowFreqFactor = number(attr.getLowFreqFactor());
  rotary.highFreqFactor = number(attr.getHighFreqFactor());
  rotary.betaFast = number(attr.getBetaFast());
  rotary.betaSlow = number(attr.getBetaSlow());
  rotary.attentionFactor = number(attr.getAttentionFactor());
  rotary.mscale = number(attr.getMscale());
  rotary.mscaleAllDim = number(attr.getMscaleAllDim());
  rotary.truncate = attr.getTruncate();
  rotary.originalPositions = attr.getOriginalPositions();
  config.rotary = rotary;
}

/// Queries, keys or values back to what they are projected from.
Value GraphReader::takeHeads(Value value, LinearRef &ref,
                             std::optional<NormRef> &norm) {
  if (auto rotary = definedBy<RotaryOp>(value)) {
    readRotary(rotary.getTable());
    value = rotary.getX();
  }
  if (auto rms = definedBy<RMSNormOp>(value)) {
    norm.emplace();
    value = takeNorm(rms.getResult(), *norm);
  }
  return takeLinear(value, ref);
}

void GraphReader::readLatent(LatentAttentionOp op) {
  LatentConfig latent;
  latent.nopeDim = op.getNopeDim();
  latent.ropeDim = op.getRopeDim();
  latent.valueDim = op.getValueDim();
  config.headDim = latent.nopeDim + latent.ropeDim;
  config.heads = config.kvHeads = widthOf(op.getQ()) / config.headDim;
  config.attentionScale = op.getScale().convertToDouble();
  config.causal = op.getCausal();
  readRotary(op.getTable());
  Value x = takeLinear(op.getQ(), latent.q);
  if (auto norm = definedBy<RMSNormOp>(x);
      norm && definedBy<LinearOp>(norm.getX())) {
    latent.qNorm.emplace();
    latent.qDown.emplace();
    takeLinear(takeNorm(x, *latent.qNorm), *latent.qDown);
  }
  Value rows = takeNorm(takeLinear(op.getKv(), latent.kvUp), latent.kvNorm);
  if (auto split = definedBy<SplitOp>(rows))
    takeLinear(split.getX(), latent.kvDown);
  else
    fail("the compressed rows of a latent attention come from no split");
  latent.kvRank = rows ? widthOf(rows) : 0;
  config.latent = std::move(latent);
}

void GraphReader::readAttention(Operation *op) {
  std::optional<NormRef> none;
  if (auto a = dyn_cast<AttentionOp>(op)) {
    config.headDim = a.getHeadDim();
    config.heads = widthOf(a.getQ()) / config.headDim;
    config.kvHeads = widthOf(a.getK()) / config.headDim;
    config.attentionScale = a.getScale().convertToDouble();
    config.causal = a.getCausal();
    takeHeads(a.getQ(), config.q, config.qNorm);
    takeHeads(a.getK(), config.k, config.kNorm);
    takeHeads(a.getV(), config.v, none);
  } else if (auto a = dyn_cast<RelativeAttentionOp>(op)) {
    config.headDim = a.getHeadDim();
    config.heads = config.kvHeads = widthOf(a.getQ()) / config.headDim;
    config.attentionScale = a.getScale().convertToDouble();
    RelativeConfig relative;
    takeLinear(a.getQ(), config.q);
    takeLinear(a.getK(), config.k);
    takeLinear(a.getV(), config.v);
    takeLinear(a.getR(), relative.projection);
    take(a.getContentBias(), relative.contentBias);
    take(a.getPositionBias(), relative.positionBias);
    config.relative = std::move(relative);
  } else {
    readLatent(cast<LatentAttentionOp>(op));
  }
}

/// What the projections of an attention read.
static Value attentionInput(Operation *op) {
  Value value = op->getOperand(0);
  // Queries back to the block's stream, or its norm.
  while (Operation *def = value.getDefiningOp()) {
    bool norm = isa<RMSNormOp, LayerNormOp>(def);
    if (norm && !definedBy<LinearOp>(def->getOperand(0)) &&
        !definedBy<AddBiasOp>(def->getOperand(0)))
      break;
    if (!norm && !isa<LinearOp, AddBiasOp, RotaryOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

/// The MLP around a `swiglu` or `activation`; returns what it reads.
Value GraphReader::readDense(Operation *op, std::optional<LinearRef> &gate,
                             LinearRef &up, LinearRef &down) {
  Value x;
  if (auto swiglu = dyn_cast<SwigluOp>(op)) {
    config.activation = stringifyActivationKind(swiglu.getActivation()).str();
    gate.emplace();
    takeLinear(swiglu.getGate(), *gate);
    x = takeLinear(swiglu.getUp(), up);
  } else {
    auto activation = cast<ActivationOp>(op);
    config.activation = stringifyActivationKind(activation.getKind()).str();
    x = takeLinear(activation.getX(), up);
  }
  takeUser(op->getResult(0), down);
  return x;
}

Value GraphReader::readExperts(RouterOp router) {
  ExpertsConfig experts;
  experts.topK = router.getTopK();
  experts.scoring = stringifyRouterScoring(router.getScoring()).str();
  experts.normalize = router.getNormalize();
  experts.scale = router.getScale().convertToDouble();
  experts.groups = router.getGroups();
  experts.topGroups = router.getTopGroups();
  take(router.getWeight(), experts.router);
  experts.experts = typeOf(router.getWeight()).getDimSize(0);
  if (router.getBias()) {
    experts.routerBias.emplace();
    take(router.getBias(), *experts.routerBias);
  }
  for (Operation &op : *router->getBlock()) {
    auto swiglu = dyn_cast<SwigluOp>(op);
    if (!swiglu)
      continue;
    auto gate = definedBy<GroupedLinearOp>(swiglu.getGate());
    auto up = definedBy<GroupedLinearOp>(swiglu.getUp());
    if (!gate || !up) {
      experts.sharedUp.emplace();
      experts.sharedDown.emplace();
      readDense(&op, experts.sharedGate, *experts.sharedUp,
                *experts.sharedDown);
      experts.sharedIntermediate = widthOf(swiglu.getResult());
      continue;
    }
    config.activation = stringifyActivationKind(swiglu.getActivation()).str();
    take(gate.getWeight(), experts.gate);
    take(up.getWeight(), experts.up);
    experts.intermediate = widthOf(swiglu.getResult());
    for (Operation *user : swiglu->getUsers())
      if (auto down = dyn_cast<GroupedLinearOp>(user))
        take(down.getWeight(), experts.down);
  }
  for (const ParameterRef *weight : {&experts.gate, &experts.up, &experts.down})
    if (weight->shape.empty())
      fail("the experts of a router are no gated MLP of three grouped linears");
  config.experts = std::move(experts);
  return router.getX();
}

/// Norms before the halves, or behind their sums.
void GraphReader::readNorms(func::FuncOp block, Value attended,
                            Value mlpInput) {
  Value stream = block.getArgument(0);
  Value result = block.getBody().front().getTerminator()->getOperand(0);
  config.postNorm = attended == stream;
  takeNorm(config.postNorm ? mlpInput : attended, config.attentionNorm);
  Value before = takeNorm(config.postNorm ? result : mlpInput, config.mlpNorm);
  config.parallelResidual = !config.postNorm && before == stream;
}

void GraphReader::readBlock(func::FuncOp block) {
  Operation *attention = nullptr, *dense = nullptr;
  RouterOp router;
  for (Operation &op : block.getOps()) {
    if (isa<AttentionOp, LatentAttentionOp, RelativeAttentionOp>(op)) {
      if (attention)
        fail("@" + block.getSymName() + " has two attentions");
      attention = &op;
    }
    if (isa<SwigluOp, ActivationOp>(op))
      dense = &op;
    if (auto found = dyn_cast<RouterOp>(op))
      router = found;
  }
  if (!attention || !dense || block.getNumArguments() != 1) {
    fail("@" + block.getSymName() +
         " is no layer of a transformer: it needs one argument, an attention "
         "and an activation");
    return;
  }
  readAttention(attention);
  takeUser(attention->getResult(0), config.o);
  Value x;
  if (router) {
    x = readExperts(router);
  } else {
    x = readDense(dense, config.gate, config.up, config.down);
    config.intermediate = widthOf(dense->getResult(0));
  }
  if (x)
    readNorms(block, attentionInput(attention), x);
}

void GraphReader::readEmbedding(func::FuncOp forward) {
  for (Operation &op : forward.getOps()) {
    if (auto e = dyn_cast<EmbeddingOp>(op)) {
      element = e.getType().getElementType();
      batch = e.getType().getDimSize(0);
      sequence = e.getType().getDimSize(1);
      take(e.getTable(), config.embedding);
      config.vocab = typeOf(e.getTable()).getDimSize(0);
      config.hidden = widthOf(e.getResult());
    } else if (auto a = dyn_cast<AddPositionsOp>(op)) {
      config.positions.emplace();
      take(a.getTable(), *config.positions);
    } else if (auto b = dyn_cast<AddBiasOp>(op)) {
      config.tokenType.emplace();
      take(b.getBias(), *config.tokenType);
    } else if (isa<RMSNormOp, LayerNormOp>(op)) {
      config.embeddingNorm.emplace();
      takeNorm(op.getResult(0), *config.embeddingNorm);
    } else if (isa<LayersOp>(op)) {
      return;
    }
  }
}

void GraphReader::readHead(func::FuncOp forward) {
  auto losses = forward.getOps<CrossEntropyOp>();
  if (losses.empty()) {
    fail("@" + forward.getSymName() + " ends in no cross-entropy");
    return;
  }
  CrossEntropyOp loss = *losses.begin();
  config.vocab = loss.getVocab();
  LinearRef head;
  Value x = takeLinear(loss.getLogits(), head);
  config.headBias = head.bias;
  if (head.weight.symbol != config.embedding.symbol)
    config.head = head.weight;
  if (!x || definedBy<LayersOp>(x))
    return;
  NormRef norm;
  x = takeNorm(x, norm);
  if (auto activation = definedBy<ActivationOp>(x)) {
    HeadTransform transform;
    transform.norm = norm;
    x = takeLinear(activation.getX(), transform.dense);
    config.headTransform = std::move(transform);
    if (x && !definedBy<LayersOp>(x)) {
      config.finalNorm.emplace();
      takeNorm(x, *config.finalNorm);
    }
    return;
  }
  config.finalNorm = norm;
}

void GraphReader::readFacts(ImportOptions &options) {
  options.batch = batch;
  options.sequence = sequence;
  options.dtype = element && element.isBF16() ? "bf16" : "f32";
  config.dtype = options.dtype;
  config.architecture = "graph";
  config.maxPositions = sequence;
  if (config.positions)
    config.maxPositions = config.positions->shape[0];
  auto facts = module->getAttrOfType<DictionaryAttr>(kModelAttrName);
  if (!facts)
    return;
  if (auto name = facts.getAs<StringAttr>("architecture"))
    config.architecture = name.str();
  if (auto positions = facts.getAs<IntegerAttr>("positions"))
    config.maxPositions = std::max(
        config.maxPositions, positions.getValue().trySExtValue().value_or(0));
}

bool GraphReader::read(ModelConfig &out, ImportOptions &options) {
  if (module->hasAttr(kMeshAttrName))
    return fail("the graph is laid out or partitioned already; give the one "
                "that 'import' leaves");
  func::FuncOp forward;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.getOps<LayersOp>().empty())
      forward = function;
  if (!forward)
    return fail("no function calls layers (tessera.layers)");
  readEmbedding(forward);
  if (!element)
    return fail("@" + forward.getSymName() + " has no embedding");
  llvm::StringMap<bool> seen;
  for (auto call : forward.getOps<LayersOp>()) {
    auto block = module.lookupSymbol<func::FuncOp>(call.getBlock());
    if (!block || block.isExternal())
      return fail("@" + call.getBlock() + " is no function here");
    if (int64_t(call.getFirst()) != config.layers)
      return fail("layers are not called in order: expected first " +
                  llvm::Twine(config.layers) + ", got " +
                  llvm::Twine(call.getFirst()));
    if (int64_t(call.getCount()) < 1 ||
        int64_t(call.getCount()) > kMaxLayers - config.layers)
      return fail("@" + call.getBlock() + " is called for " +
                  llvm::Twine(int64_t(call.getCount())) +
                  " layers; a model has from 1 to " + llvm::Twine(kMaxLayers));
    if (seen.try_emplace(call.getBlock(), true).second)
      readBlock(block);
    int64_t window = 0;
    for (auto attention : block.getOps<AttentionOp>())
      window = attention.getWindow();
    config.layers += call.getCount();
    config.windows.resize(config.layers, window);
    config.expertLayers.resize(config.layers,
                               !block.getOps<RouterOp>().empty());
  }
  if (!config.experts)
    config.expertLayers.clear();
  readHead(forward);
  readFacts(options);
  if (config.activation.empty())
    fail("no activation function was found in the layers");
  if (!failure.empty())
    return false;
  out = std::move(config);
  return true;
}

llvm::Expected<ModelConfig> tessera::configOfGraph(ModuleOp module) {
  GraphReader reader(module);
  ModelConfig config;
  ImportOptions options;
  if (!reader.read(config, options))
    return makeError(reader.failure);
  std::string why;
  auto rebuilt =
      buildModel(*module.getContext(), config, options, /*weights=*/"",
                 [&](const llvm::Twine &message) { why = message.str(); });
  if (failed(rebuilt))
    return makeError("the graph is no model of a known form: " + why);
  if (!isSameGraph(module, **rebuilt, why))
    return makeError(why);
  return config;
}
