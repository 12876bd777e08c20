//===- BuildGraph.cpp - a model config to the forward graph ---------------===//
//
// Declares the parameters, builds one block function for each kind of layer
// (they differ in the attention window alone and read the same parameters) and
// the entry function, which calls the blocks over runs of layers of one kind.
//
//===----------------------------------------------------------------------===//
#include "tessera/Import/Import.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tessera;

namespace {

class GraphBuilder {
public:
  GraphBuilder(MLIRContext &context, const ModelConfig &config, int64_t batch,
               int64_t sequence, Type element)
      : config(config), batch(batch), sequence(sequence), element(element),
        builder(&context) {}

  OwningOpRef<ModuleOp> build(DictionaryAttr facts);

private:
  void declare(const ParameterRef &parameter);
  /// A block function for layers whose attention has this window.
  func::FuncOp buildBlock(StringRef name, int64_t window);
  void buildForward(ArrayRef<std::pair<int64_t, func::FuncOp>> blocks);

  Value read(const ParameterRef &parameter);
  Value norm(Value x, const NormRef &ref, bool layerNorm);
  Value linear(Value x, const LinearRef &ref);
  Value mlp(Value x);
  Value attention(Value x, int64_t window);
  /// Head norm and rotary embedding of queries or keys.
  Value positioned(Value x, const std::optional<NormRef> &headNorm);

  RankedTensorType activation(int64_t width) {
    return RankedTensorType::get({batch, sequence, width}, element);
  }
  Location loc(const ParameterRef &parameter) {
    return NameLoc::get(builder.getStringAttr(parameter.symbol));
  }
  Location here() { return builder.getUnknownLoc(); }

  const ModelConfig &config;
  int64_t batch, sequence;
  Type element;
  OpBuilder builder;
  Value rotaryTable;
};

} // namespace

/// Sliding windows that hide nothing within the sequence count as none.
static int64_t effectiveWindow(int64_t window, int64_t sequence) {
  return window >= sequence ? 0 : window;
}

static RotaryAttr makeRotary(OpBuilder &builder, const RotaryConfig &rotary) {
  auto number = [&](std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  };
  std::optional<RotaryScaling> scaling = symbolizeRotaryScaling(rotary.scaling);
  assert(scaling && "the config reader knows the scalings");
  return RotaryAttr::get(
      builder.getContext(), number(rotary.theta), rotary.dim, *scaling,
      number(rotary.factor), number(rotary.lowFreqFactor),
      number(rotary.highFreqFactor), number(rotary.betaFast),
      number(rotary.betaSlow), number(rotary.attentionFactor),
      number(rotary.mscale), number(rotary.mscaleAllDim), rotary.truncate,
      rotary.originalPositions);
}

void GraphBuilder::declare(const ParameterRef &ref) {
  MLIRContext *context = builder.getContext();
  auto checkpoint =
      CheckpointAttr::get(context, builder.getStringAttr(ref.checkpoint),
                          ref.reshape, ref.dim, ref.index);
  auto parameter = ParameterOp::create(
      builder, loc(ref), builder.getStringAttr(ref.symbol),
      TypeAttr::get(RankedTensorType::get(ref.shape, element)), checkpoint,
      /*first_layer=*/IntegerAttr(), /*layer_count=*/IntegerAttr(),
      /*sharding=*/ShardingAttr(), /*padded=*/UnitAttr(),
      builder.getF64FloatAttr(ref.initMean),
      builder.getF64FloatAttr(ref.initStd));
  if (ref.isLayered()) {
    parameter.setFirstLayerAttr(builder.getI64IntegerAttr(0));
    parameter.setLayerCountAttr(builder.getI64IntegerAttr(config.layers));
  }
  parameter.setPadded(ref.padded);
}

Value GraphBuilder::read(const ParameterRef &ref) {
  return GetParameterOp::create(builder, loc(ref),
                                RankedTensorType::get(ref.shape, element),
                                builder.getAttr<FlatSymbolRefAttr>(ref.symbol));
}

Value GraphBuilder::norm(Value x, const NormRef &ref, bool layerNorm) {
  Value weight = read(ref.weight);
  APFloat eps(config.normEps);
  if (!layerNorm)
    return RMSNormOp::create(builder, loc(ref.weight), x.getType(), x, weight,
                             eps);
  Value bias = ref.bias ? read(*ref.bias) : Value();
  return LayerNormOp::create(builder, loc(ref.weight), x.getType(), x, weight,
                             bias, eps);
}

Value GraphBuilder::linear(Value x, const LinearRef &ref) {
  int64_t out = ref.weight.shape[ref.inOut ? 1 : 0];
  Value y = LinearOp::create(
      builder, loc(ref.weight), activation(out), x, read(ref.weight),
      ref.inOut ? WeightLayout::InOut : WeightLayout::OutIn);
  if (!ref.bias)
    return y;
  return AddBiasOp::create(builder, loc(*ref.bias), y.getType(), y,
                           read(*ref.bias));
}

Value GraphBuilder::positioned(Value x,
                               const std::optional<NormRef> &headNorm) {
  if (headNorm)
    x = norm(x, *headNorm, /*layerNorm=*/false);
  if (!rotaryTable)
    return x;
  return RotaryOp::create(builder, here(), x.getType(), x, rotaryTable,
                          config.headDim);
}

Value GraphBuilder::attention(Value x, int64_t window) {
  Value q = positioned(linear(x, config.q), config.qNorm);
  Value k = positioned(linear(x, config.k), config.kNorm);
  Value v = linear(x, config.v);
  Value a = AttentionOp::create(builder, here(), q.getType(), q, k, v,
                                config.headDim, APFloat(config.attentionScale),
                                /*causal=*/true, window);
  return linear(a, config.o);
}

Value GraphBuilder::mlp(Value x) {
  ActivationKind kind = *symbolizeActivationKind(config.activation);
  Value h;
  if (config.gate) {
    Value gate = linear(x, *config.gate);
    Value up = linear(x, config.up);
    h = SwigluOp::create(builder, loc(config.up.weight), up.getType(), gate, up,
                         kind);
  } else {
    Value up = linear(x, config.up);
    h = ActivationOp::create(builder, loc(config.up.weight), up.getType(), kind,
                             up);
  }
  return linear(h, config.down);
}

func::FuncOp GraphBuilder::buildBlock(StringRef name, int64_t window) {
  Type type = activation(config.hidden);
  auto block = func::FuncOp::create(builder, here(), name,
                                    builder.getFunctionType({type}, {type}));
  block.setPrivate();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(block.addEntryBlock());
  rotaryTable = {};
  if (config.rotary)
    rotaryTable = RotaryTableOp::create(
        builder, here(),
        RankedTensorType::get({sequence, config.rotary->dim / 2, 2},
                              builder.getF32Type()),
        makeRotary(builder, *config.rotary));
  Value x = block.getArgument(0);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return AddOp::create(builder, here(), lhs.getType(), lhs, rhs);
  };
  Value a = attention(norm(x, config.attentionNorm, config.layerNorm), window);
  Value h = add(x, a);
  // In parallel both halves read the block's input, else the second reads the
  // sum of the first.
  Value y = mlp(
      norm(config.parallelResidual ? x : h, config.mlpNorm, config.layerNorm));
  func::ReturnOp::create(builder, here(), add(h, y));
  return block;
}

void GraphBuilder::buildForward(
    ArrayRef<std::pair<int64_t, func::FuncOp>> blocks) {
  auto tokensType =
      RankedTensorType::get({batch, sequence}, builder.getI32Type());
  auto nllType = RankedTensorType::get({batch, sequence}, builder.getF32Type());
  auto lossType = RankedTensorType::get({}, builder.getF32Type());
  auto forward = func::FuncOp::create(
      builder, here(), "forward",
      builder.getFunctionType({tokensType, tokensType}, {nllType, lossType}));
  builder.setInsertionPointToStart(forward.addEntryBlock());
  Value tokens = forward.getArgument(0), labels = forward.getArgument(1);

  Type type = activation(config.hidden);
  Value table = read(config.embedding);
  Value x = EmbeddingOp::create(builder, loc(config.embedding), type, tokens,
                                table, /*offset=*/Value());
  if (config.positions)
    x = AddPositionsOp::create(builder, loc(*config.positions), type, x,
                               read(*config.positions), /*offset=*/Value(),
                               /*first=*/0);
  for (int64_t first = 0, end; first < config.layers; first = end) {
    int64_t window = effectiveWindow(config.windows[first], sequence);
    for (end = first + 1; end < config.layers; ++end)
      if (effectiveWindow(config.windows[end], sequence) != window)
        break;
    for (auto [blockWindow, block] : blocks)
      if (blockWindow == window)
        x = LayersOp::create(builder, here(), TypeRange{type}, block.getName(),
                             ValueRange{x}, first, end - first)
                .getResult(0);
  }
  x = norm(x, config.finalNorm, config.layerNorm);
  const ParameterRef &head = config.head ? *config.head : config.embedding;
  auto logitsType = RankedTensorType::get({batch, sequence, config.vocab},
                                          builder.getF32Type());
  Value logits =
      LinearOp::create(builder, loc(head), logitsType, x,
                       config.head ? read(head) : table, WeightLayout::OutIn);
  Value nll = CrossEntropyOp::create(builder, here(), nllType, logits, labels,
                                     config.vocab);
  auto sumType = RankedTensorType::get({2}, builder.getF32Type());
  Value sum = TokenSumOp::create(builder, here(), sumType, nll, labels);
  Value loss = TokenMeanOp::create(builder, here(), lossType, sum);
  func::ReturnOp::create(builder, here(), ValueRange{nll, loss});
}

OwningOpRef<ModuleOp> GraphBuilder::build(DictionaryAttr facts) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(here());
  module.get()->setAttr(kModelAttrName, facts);
  builder.setInsertionPointToEnd(module->getBody());
  config.forEachParameter([&](const ParameterRef &ref) { declare(ref); });
  SmallVector<std::pair<int64_t, func::FuncOp>> blocks;
  for (int64_t window : config.windows) {
    window = effectiveWindow(window, sequence);
    if (llvm::any_of(blocks,
                     [&](auto &block) { return block.first == window; }))
      continue;
    std::string name =
        window == 0 ? "block" : "block_window_" + std::to_string(window);
    blocks.push_back({window, buildBlock(name, window)});
  }
  buildForward(blocks);
  return module;
}

/// The facts that later phases and reports want, under `tessera.model`.
static DictionaryAttr makeFacts(MLIRContext &context, const ModelConfig &config,
                                int64_t batch, int64_t sequence,
                                StringRef dtype, StringRef weights) {
  Builder builder(&context);
  NamedAttrList facts;
  auto text = [&](StringRef name, StringRef value) {
    facts.set(name, builder.getStringAttr(value));
  };
  auto number = [&](StringRef name, int64_t value) {
    facts.set(name, builder.getI64IntegerAttr(value));
  };
  text("architecture", config.architecture);
  text("dtype", dtype);
  if (!weights.empty())
    text("weights", weights);
  number("batch", batch);
  number("sequence", sequence);
  number("hidden", config.hidden);
  number("intermediate", config.intermediate);
  number("layers", config.layers);
  number("heads", config.heads);
  number("kv_heads", config.kvHeads);
  number("head_dim", config.headDim);
  number("vocab", config.vocab);
  number("positions", config.maxPositions);
  number("window", *llvm::max_element(config.windows));
  number("parameters", config.numParameters());
  return facts.getDictionary(&context);
}

FailureOr<OwningOpRef<ModuleOp>>
tessera::buildModel(MLIRContext &context, const ModelConfig &config,
                    const ImportOptions &options, StringRef weights,
                    ErrorHandler error) {
  if (options.batch < 1 || options.batch > INT32_MAX) {
    error("batch must be from 1 to " + Twine(INT32_MAX) + ", got " +
          Twine(options.batch));
    return failure();
  }
  int64_t sequence = options.sequence ? options.sequence : config.maxPositions;
  if (sequence < 1 || sequence > config.maxPositions) {
    error("sequence must be from 1 to " + Twine(config.maxPositions) +
          ", the number of positions of the model, got " + Twine(sequence));
    return failure();
  }
  StringRef dtype = options.dtype.empty() ? config.dtype : options.dtype;
  if (dtype.empty())
    dtype = "f32";
  if (dtype != "f32" && dtype != "bf16") {
    if (options.dtype.empty())
      error("the model's dtype is " + dtype +
            ", which is not computed in; choose f32 or bf16");
    else
      error("dtype must be f32 or bf16, got '" + dtype + "'");
    return failure();
  }
  context.loadDialect<TesseraDialect, func::FuncDialect>();
  Builder types(&context);
  Type element =
      dtype == "bf16" ? Type(types.getBF16Type()) : types.getF32Type();
  GraphBuilder builder(context, config, options.batch, sequence, element);
  OwningOpRef<ModuleOp> module = builder.build(
      makeFacts(context, config, options.batch, sequence, dtype, weights));
  if (failed(verify(*module))) {
    error("the imported graph of " + Twine(config.architecture) +
          " is not valid");
    return failure();
  }
  return module;
}
