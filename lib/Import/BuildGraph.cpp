//===- BuildGraph.cpp - a model config to the forward graph ---------------===//
//
// Declares the parameters, builds one block function for each kind of layer
// (they differ in the attention window and in having experts) and the entry
// function, which calls the blocks over runs of layers of one kind.
//
//===----------------------------------------------------------------------===//
#include "tessera/Import/Import.h"

#include "lib/Import/GraphBuilder.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tessera;

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
      TypeAttr::get(typeOf(ref)), checkpoint,
      /*first_layer=*/IntegerAttr(), /*layer_count=*/IntegerAttr(),
      /*sharding=*/ShardingAttr(), /*padded=*/UnitAttr(),
      builder.getF64FloatAttr(ref.initMean),
      builder.getF64FloatAttr(ref.initStd));
  if (ref.isLayered()) {
    parameter.setFirstLayerAttr(builder.getI64IntegerAttr(ref.firstLayer));
    parameter.setLayerCountAttr(
        builder.getI64IntegerAttr(config.layersOf(ref)));
  }
  parameter.setPadded(ref.padded);
}

Value GraphBuilder::read(const ParameterRef &ref) {
  return GetParameterOp::create(builder, loc(ref), typeOf(ref),
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
                                config.causal, window);
  return linear(a, config.o);
}

Value GraphBuilder::relativeAttention(Value x) {
  const RelativeConfig &ref = *config.relative;
  Value table = SinusoidTableOp::create(
      builder, here(),
      RankedTensorType::get({1, sequence, config.hidden}, element));
  Value r = LinearOp::create(
      builder, loc(ref.projection.weight),
      RankedTensorType::get({1, sequence, ref.projection.weight.shape[0]},
                            element),
      table, read(ref.projection.weight), WeightLayout::OutIn);
  Value q = linear(x, config.q), k = linear(x, config.k);
  Value v = linear(x, config.v);
  Value a = RelativeAttentionOp::create(
      builder, here(), q.getType(), q, k, v, r, read(ref.contentBias),
      read(ref.positionBias), config.headDim, APFloat(config.attentionScale));
  return linear(a, config.o);
}

Value GraphBuilder::attend(Value x, int64_t window) {
  if (config.latent)
    return latentAttention(x);
  return config.relative ? relativeAttention(x) : attention(x, window);
}

Value GraphBuilder::mlp(Value x) {
  if (config.gate)
    return gatedMlp(x, *config.gate, config.up, config.down);
  Value up = linear(x, config.up);
  Value h = ActivationOp::create(builder, loc(config.up.weight), up.getType(),
                                 activationKind(), up);
  return linear(h, config.down);
}

Value GraphBuilder::gatedMlp(Value x, const LinearRef &gateRef,
                             const LinearRef &upRef, const LinearRef &down) {
  Value gate = linear(x, gateRef);
  Value up = linear(x, upRef);
  Value h = SwigluOp::create(builder, loc(upRef.weight), up.getType(), gate, up,
                             activationKind());
  return linear(h, down);
}

GraphBuilder::BlockKind GraphBuilder::kindOf(int64_t layer) const {
  return {effectiveWindow(config.windows[layer], sequence),
          config.hasExperts(layer)};
}

func::FuncOp GraphBuilder::buildBlock(BlockKind kind) {
  std::string name = kind.experts ? "block_experts" : "block";
  if (kind.window != 0)
    name += "_window_" + std::to_string(kind.window);
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
  if (config.postNorm) {
    Value h = norm(add(x, attend(x, kind.window)), config.attentionNorm,
                   config.layerNorm);
    Value y = norm(add(h, mlp(h)), config.mlpNorm, config.layerNorm);
    func::ReturnOp::create(builder, here(), y);
    return block;
  }
  Value normed = norm(x, config.attentionNorm, config.layerNorm);
  Value h = add(x, attend(normed, kind.window));
  // In parallel both halves read the block's input, else the second reads the
  // sum of the first.
  normed =
      norm(config.parallelResidual ? x : h, config.mlpNorm, config.layerNorm);
  Value y = kind.experts ? experts(normed) : mlp(normed);
  func::ReturnOp::create(builder, here(), add(h, y));
  return block;
}

void GraphBuilder::buildForward(const Blocks &blocks) {
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
  if (config.tokenType)
    x = AddBiasOp::create(builder, loc(*config.tokenType), type, x,
                          read(*config.tokenType));
  if (config.embeddingNorm)
    x = norm(x, *config.embeddingNorm, config.layerNorm);
  for (int64_t first = 0, end; first < config.layers; first = end) {
    BlockKind kind = kindOf(first);
    for (end = first + 1; end < config.layers && kindOf(end) == kind;)
      ++end;
    for (auto [blockKind, block] : blocks)
      if (blockKind == kind)
        x = LayersOp::create(builder, here(), TypeRange{type}, block.getName(),
                             ValueRange{x}, first, end - first)
                .getResult(0);
  }
  if (config.finalNorm)
    x = norm(x, *config.finalNorm, config.layerNorm);
  if (config.headTransform) {
    Value h = linear(x, config.headTransform->dense);
    h = ActivationOp::create(builder, here(), h.getType(), activationKind(), h);
    x = norm(h, config.headTransform->norm, config.layerNorm);
  }
  const ParameterRef &head = config.head ? *config.head : config.embedding;
  auto logitsType = RankedTensorType::get({batch, sequence, config.vocab},
                                          builder.getF32Type());
  Value logits =
      LinearOp::create(builder, loc(head), logitsType, x,
                       config.head ? read(head) : table, WeightLayout::OutIn);
  if (config.headBias)
    logits = AddBiasOp::create(builder, loc(*config.headBias), logitsType,
                               logits, read(*config.headBias));
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
  Blocks blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    BlockKind kind = kindOf(layer);
    if (llvm::none_of(blocks, [&](auto &block) { return block.first == kind; }))
      blocks.push_back({kind, buildBlock(kind)});
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
  if (config.experts) {
    number("experts", config.experts->experts);
    number("experts_per_token", config.experts->topK);
    number("active_parameters", config.numActiveParameters());
  }
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
