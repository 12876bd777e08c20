//===- TesseraModelVerifiers.cpp - parameters, tables and block calls -----===//
#include "dialects/Tessera/TesseraVerify.h"

#include <cmath>

using namespace mlir;
using namespace tessera;

/// Numbers of layers that sums and products of sizes can take.
static constexpr uint64_t kMostLayers = INT32_MAX;

/// A view must carve exactly the parameter out of the stored tensor.
static LogicalResult verifyView(ParameterOp op) {
  CheckpointAttr checkpoint = op.getCheckpoint();
  ArrayRef<int64_t> reshape = checkpoint.getReshape();
  if (reshape.empty())
    return success();
  int64_t rank = reshape.size();
  int64_t dim = checkpoint.getDim(), index = checkpoint.getIndex();
  if (dim < 0 || dim >= rank)
    return op.emitOpError()
           << "has a view with dim " << dim << ", expected 0 to " << rank - 1;
  int64_t elements = 1;
  for (auto [i, size] : llvm::enumerate(reshape)) {
    if (size < 1)
      return op.emitOpError()
             << "has a view of size " << size << " in dimension " << i;
    if (static_cast<int64_t>(i) != dim)
      elements *= size;
  }
  if (index < 0 || index >= reshape[dim])
    return op.emitOpError() << "has a view with index " << index
                            << ", expected 0 to " << reshape[dim] - 1;
  auto type = cast<RankedTensorType>(op.getType());
  if (elements != type.getNumElements())
    return op.emitOpError()
           << "has a view of " << elements
           << " elements, but the parameter has " << type.getNumElements();
  return success();
}

LogicalResult ParameterOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  StringRef name = getCheckpoint().getName().getValue();
  if (name.empty())
    return emitOpError() << "has an empty checkpoint name";
  bool named = name.contains("{layer}");
  if (getFirstLayer().has_value() != getLayerCount().has_value())
    return emitOpError()
           << "expects first_layer and layer_count together or neither";
  if (getFirstLayer()) {
    if (static_cast<int64_t>(*getFirstLayer()) < 0 ||
        static_cast<int64_t>(*getLayerCount()) < 1)
      return emitOpError()
             << "expects layers from 0 on and at least one, got first "
             << static_cast<int64_t>(*getFirstLayer()) << " count "
             << static_cast<int64_t>(*getLayerCount());
    if (*getFirstLayer() + *getLayerCount() > kMostLayers)
      return emitOpError() << "expects layers below " << kMostLayers
                           << ", got first " << *getFirstLayer() << " count "
                           << *getLayerCount();
    if (!named)
      return emitOpError() << "is repeated over layers, but its checkpoint "
                              "name \""
                           << name << "\" has no {layer}";
  } else if (named) {
    return emitOpError() << "has {layer} in its checkpoint name \"" << name
                         << "\", but no layers";
  }
  if (failed(verifyView(*this)))
    return failure();
  for (auto [what, value] : {std::pair<StringRef, double>{
                                 "init_mean", getInitMean().convertToDouble()},
                             {"init_std", getInitStd().convertToDouble()}})
    if (!std::isfinite(value) || (what == "init_std" && value < 0))
      return emitOpError() << "expects a finite " << what
                           << (what == "init_std" ? " of at least 0" : "")
                           << ", got " << value;
  if (std::optional<ShardingAttr> sharding = getSharding()) {
    if (static_cast<int64_t>(sharding->getDims().size()) != type.getRank())
      return emitOpError() << "has a sharding of " << sharding->getDims().size()
                           << " dimensions, but " << type.getRank()
                           << " dimensions";
    if (!sharding->getPartial().empty())
      return emitOpError() << "cannot have a partial sharding";
  }
  return success();
}

LogicalResult RotaryTableOp::verify() {
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  int64_t half = getRotary().getDim() / 2;
  if (shape.size() == 3 && shape[1] == half && shape[2] == 2)
    return success();
  auto diag = emitOpError() << "expects a result of shape [positions, " << half
                            << ", 2], got [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

LogicalResult LayersOp::verify() {
  if (static_cast<int64_t>(getFirst()) < 0)
    return emitOpError() << "expects first to be at least 0, got "
                         << static_cast<int64_t>(getFirst());
  if (static_cast<int64_t>(getCount()) < 1)
    return emitOpError() << "expects a count of at least 1, got "
                         << static_cast<int64_t>(getCount());
  if (getFirst() + getCount() > kMostLayers)
    return emitOpError() << "expects layers below " << kMostLayers
                         << ", got first " << getFirst() << " and count "
                         << getCount();
  if (getOperandTypes() == getResultTypes())
    return success();
  return emitOpError() << "expects results of the operands' types ("
                       << getOperandTypes() << "), got (" << getResultTypes()
                       << ")";
}

LogicalResult RotaryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FloatAttr theta, int64_t dim,
                                 RotaryScaling scaling, FloatAttr factor,
                                 FloatAttr lowFreqFactor,
                                 FloatAttr highFreqFactor, FloatAttr betaFast,
                                 FloatAttr betaSlow, FloatAttr attentionFactor,
                                 FloatAttr mscale, FloatAttr mscaleAllDim,
                                 bool truncate, int64_t originalPositions) {
  if (dim < 2 || dim % 2 != 0)
    return emitError() << "rotary dim must be even and at least 2, got " << dim;
  auto positive = [&](StringRef name, FloatAttr value,
                      bool required) -> LogicalResult {
    if (!value)
      return required ? emitError() << "rotary scaling '"
                                    << stringifyRotaryScaling(scaling)
                                    << "' needs " << name
                      : success();
    double number = value.getValueAsDouble();
    if (number > 0 && std::isfinite(number))
      return success();
    return emitError() << "rotary " << name << " must be positive, got "
                       << number;
  };
  bool llama3 = scaling == RotaryScaling::Llama3;
  bool yarn = scaling == RotaryScaling::Yarn;
  if (failed(positive("theta", theta, true)) ||
      failed(positive("factor", factor, scaling != RotaryScaling::None)) ||
      failed(positive("low_freq_factor", lowFreqFactor, llama3)) ||
      failed(positive("high_freq_factor", highFreqFactor, llama3)) ||
      failed(positive("beta_fast", betaFast, false)) ||
      failed(positive("beta_slow", betaSlow, false)) ||
      failed(positive("attention_factor", attentionFactor, false)))
    return failure();
  if (llama3 &&
      lowFreqFactor.getValueAsDouble() >= highFreqFactor.getValueAsDouble())
    return emitError() << "rotary low_freq_factor must be below "
                          "high_freq_factor, got "
                       << lowFreqFactor.getValueAsDouble() << " and "
                       << highFreqFactor.getValueAsDouble();
  if ((llama3 || yarn) && originalPositions < 1)
    return emitError() << "rotary scaling '" << stringifyRotaryScaling(scaling)
                       << "' needs positive original_positions, got "
                       << originalPositions;
  if (yarn && theta.getValueAsDouble() == 1.0)
    return emitError() << "rotary scaling 'yarn' needs a theta other than 1";
  return success();
}
