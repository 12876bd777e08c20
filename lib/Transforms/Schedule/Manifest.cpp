//===- Manifest.cpp - what the runtime must know of a program -------------===//
//
// The JSON of docs/design.md, "Program ABI". The entry function's arguments are
// (tokens, labels), its results (nll, loss); further ones are numbered.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Schedule/HostProgram.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

static json::Array shapeOf(RankedTensorType type) {
  return json::Array(type.getShape());
}

/// One list of axis names per dimension; all empty without a sharding.
static json::Array shardingOf(ShardingAttr sharding, int64_t rank) {
  json::Array dims;
  for (int64_t i = 0; i < rank; ++i) {
    json::Array names;
    if (sharding)
      for (auto name : sharding.getDims()[i].getAsValueRange<StringAttr>())
        names.push_back(name);
    dims.push_back(std::move(names));
  }
  return dims;
}

/// The shape before splitting.
static json::Array globalShape(RankedTensorType local, ShardingAttr sharding,
                               const Mesh &mesh) {
  SmallVector<int64_t> shape(local.getShape());
  if (sharding)
    for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDims()))
      for (auto name : axes.getAsValueRange<StringAttr>())
        size *= mesh.axes[*mesh.lookup(name)].size;
  return json::Array(shape);
}

static json::Object bufferOf(const HostProgram &program, StringRef name,
                             Value value, Attribute attribute) {
  auto type = cast<RankedTensorType>(value.getType());
  auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
  const FunctionArena &arena = program.plan.get(program.plan.getEntry());
  return json::Object{
      {"name", name.str()},
      {"dtype", typeName(type.getElementType())},
      {"global_shape", globalShape(type, sharding, program.mesh)},
      {"shape", shapeOf(type)},
      {"sharding", shardingOf(sharding, type.getRank())},
      {"offset", arena.values.find(value)->second.offset}};
}

static std::string nameOf(ArrayRef<StringRef> names, StringRef other,
                          size_t index) {
  if (index < names.size())
    return names[index].str();
  return llvm::formatv("{0}{1}", other, index);
}

static json::Object parameterOf(const ParameterPlace &place) {
  ParameterOp op = place.op;
  auto global = cast<RankedTensorType>(op.getType());
  CheckpointAttr checkpoint = op.getCheckpoint();
  json::Object result{
      {"name", op.getSymName()},
      {"checkpoint", checkpoint.getName().getValue()},
      {"layers", nullptr},
      {"dtype", typeName(global.getElementType())},
      {"global_shape", shapeOf(global)},
      {"shape", shapeOf(place.localType)},
      {"sharding", shardingOf(op.getShardingAttr(), global.getRank())},
      {"offset", place.offset},
      {"layer_stride", place.layerStride},
      {"view", nullptr},
      {"padded", op.getPadded()},
      {"init_mean", op.getInitMean().convertToDouble()},
      {"init_std", op.getInitStd().convertToDouble()}};
  if (op.getFirstLayer())
    result["layers"] =
        json::Object{{"first", place.firstLayer}, {"count", place.layerCount}};
  if (!checkpoint.getReshape().empty())
    result["view"] =
        json::Object{{"reshape", json::Array(checkpoint.getReshape())},
                     {"dim", checkpoint.getDim()},
                     {"index", checkpoint.getIndex()}};
  return result;
}

static json::Object tableOf(const TablePlace &place, size_t index) {
  return json::Object{
      {"name", llvm::formatv("rotary{0}", index).str()},
      {"kind", "rotary"},
      {"inv_freq", json::Array(place.rotary.getInverseFrequencies())},
      {"attention_factor", place.rotary.getCosSinFactor()},
      {"positions", place.type.getDimSize(0)},
      {"offset", place.offset}};
}

/// A fact about the model as JSON.
static json::Value toJSON(Attribute attribute) {
  if (auto text = dyn_cast_or_null<StringAttr>(attribute))
    return text.getValue();
  if (auto flag = dyn_cast_or_null<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
    return integer.getInt();
  if (auto number = dyn_cast_or_null<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto type = dyn_cast_or_null<TypeAttr>(attribute))
    return typeName(type.getValue());
  return nullptr;
}

FailureOr<std::string> tessera::buildManifest(const HostProgram &program) {
  func::FuncOp entry = program.plan.getEntry();
  ModuleOp module = program.module;
  json::Array mesh, communicators, inputs, outputs, parameters, tables,
      collectives, kernels;
  for (const MeshAxis &axis : program.mesh.axes)
    mesh.push_back(json::Object{{"name", axis.name}, {"size", axis.size}});
  for (ArrayAttr axes : program.communicators) {
    json::Array names;
    for (auto name : axes.getAsValueRange<StringAttr>())
      names.push_back(name);
    communicators.push_back(json::Object{{"axes", std::move(names)}});
  }
  for (BlockArgument argument : entry.getArguments())
    inputs.push_back(bufferOf(
        program, nameOf({"tokens", "labels"}, "input", argument.getArgNumber()),
        argument,
        entry.getArgAttr(argument.getArgNumber(), kShardingAttrName)));
  Operation *terminator = entry.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    outputs.push_back(bufferOf(program, nameOf({"nll", "loss"}, "output", i),
                               value,
                               entry.getResultAttr(i, kShardingAttrName)));
  for (auto &entry : program.parameters.parameters)
    parameters.push_back(parameterOf(entry.second));
  for (auto [i, table] : llvm::enumerate(program.parameters.tables))
    tables.push_back(tableOf(table, i));
  for (auto &[key, times] : program.calls.find(entry)->second) {
    auto &[op, communicator, dtype, count] = key;
    collectives.push_back(json::Object{{"op", op},
                                       {"communicator", communicator},
                                       {"dtype", dtype},
                                       {"count", count},
                                       {"calls", times}});
  }
  for (auto device : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : device.getOps<gpu::GPUFuncOp>())
      kernels.push_back(kernel.getName());

  auto model = module->getAttrOfType<DictionaryAttr>(kModelAttrName);
  auto fact = [&](StringRef key) {
    return model ? toJSON(model.get(key)) : json::Value(nullptr);
  };
  std::optional<int64_t> vocabulary = fact("vocab").getAsInteger();
  if (!vocabulary)
    return module.emitError()
           << "has no integer 'vocab' in its attribute '" << kModelAttrName
           << "', which the program checks token ids against";
  json::Object manifest{{"version", 1},
                        {"mesh", std::move(mesh)},
                        {"vocab", *vocabulary},
                        {"arena_bytes", program.plan.get(entry).bytes},
                        {"parameter_bytes", program.parameters.bytes},
                        {"communicators", std::move(communicators)},
                        {"parameters", std::move(parameters)},
                        {"tables", std::move(tables)},
                        {"collectives", std::move(collectives)},
                        {"kernels", std::move(kernels)}};
  for (auto [key, name] :
       {std::pair("model", "architecture"), std::pair("weights", "weights")})
    if (json::Value value = fact(name); value.getAsString())
      manifest[key] = std::move(value);
  if (!program.parameters.parameters.empty())
    manifest["dtype"] = typeName(program.parameters.parameters.front()
                                     .second.localType.getElementType());
  if (!inputs.empty())
    if (const json::Array *shape =
            inputs.front().getAsObject()->getArray("global_shape");
        shape && shape->size() == 2) {
      manifest["batch"] = (*shape)[0];
      manifest["sequence"] = (*shape)[1];
    }
  manifest["inputs"] = std::move(inputs);
  manifest["outputs"] = std::move(outputs);
  return llvm::formatv("{0}", json::Value(std::move(manifest))).str();
}
