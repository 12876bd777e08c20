//===- TesseraMeshVerifiers.cpp - attributes of the dialect on any op -----===//
//
// Kinds and places of `tessera.mesh`, `tessera.model` and `tessera.sharding`,
// and, once per module, everything that must fit its mesh: axes named by
// shardings and collectives, sizes of groups, splits of parameters.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

/// The sharding of a value of type `type`: right number of dimensions.
static LogicalResult verifyShardingOf(function_ref<InFlightDiagnostic()> error,
                                      Attribute attr, Type type) {
  auto sharding = dyn_cast<ShardingAttr>(attr);
  if (!sharding)
    return error() << "expects " << kShardingAttrName
                   << " to be a #tessera.sharding, got " << attr;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return error() << "has " << kShardingAttrName
                   << " on a value that is no tensor (" << type << ")";
  if (static_cast<int64_t>(sharding.getDims().size()) != tensor.getRank())
    return error() << "has a " << kShardingAttrName << " of "
                   << sharding.getDims().size()
                   << " dimensions on a value of type " << type;
  return success();
}

/// Axes and group size of one collective or index op.
static LogicalResult verifyGroup(Operation *op, const Mesh &mesh,
                                 ArrayAttr axes, std::optional<int64_t> ranks) {
  int64_t size = 1;
  for (auto name : axes.getAsRange<StringAttr>()) {
    std::optional<Axis> axis = mesh.lookup(name.getValue());
    if (!axis)
      return op->emitOpError()
             << "names axis " << name << ", which the mesh lacks";
    size *= mesh.axes[*axis].size;
  }
  if (ranks && *ranks != size)
    return op->emitOpError()
           << "is for " << *ranks << " ranks, but the mesh has " << size
           << " along " << axes;
  return success();
}

/// Runs while the module's own attributes are checked, before the ops inside
/// it are: their invariants come first.
static LogicalResult verifyOnMesh(Operation *op, const Mesh &mesh) {
  bool looksInside =
      isa<func::FuncOp, ParameterOp, AllGatherOp, AllReduceOp, ReduceScatterOp,
          AllToAllOp, SliceOp, AxisIndexOp, ShardOffsetOp>(op);
  if (looksInside && failed(op->getName().verifyInvariants(op)))
    return failure();
  auto resolve = [&](Attribute attr) -> LogicalResult {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    if (!sharding)
      return success();
    llvm::Expected<TensorSharding> resolved = sharding.resolve(mesh);
    if (resolved)
      return success();
    return op->emitOpError() << "has a sharding that does not fit: "
                             << llvm::toString(resolved.takeError());
  };
  if (failed(resolve(op->getDiscardableAttr(kShardingAttrName))))
    return failure();
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(resolve(function.getArgAttr(i, kShardingAttrName))))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(resolve(function.getResultAttr(i, kShardingAttrName))))
        return failure();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ParameterOp>([&](ParameterOp parameter) -> LogicalResult {
        std::string why;
        if (getLocalParameterType(parameter, mesh, &why))
          return success();
        return parameter.emitOpError()
               << "has a sharding that does not fit: " << why;
      })
      .Case<AllGatherOp, ReduceScatterOp, AllToAllOp, SliceOp>([&](auto group) {
        return verifyGroup(group, mesh, group.getAxes(), group.getGroupSize());
      })
      .Case<AllReduceOp, AxisIndexOp, ShardOffsetOp>([&](auto group) {
        return verifyGroup(group, mesh, group.getAxes(), std::nullopt);
      })
      .Default(success());
}

LogicalResult TesseraDialect::verifyOperationAttribute(Operation *op,
                                                       NamedAttribute attr) {
  auto error = [&] { return op->emitOpError(); };
  if (attr.getName() == kMeshAttrName) {
    auto mesh = dyn_cast<MeshAttr>(attr.getValue());
    if (!isa<ModuleOp>(op))
      return error() << "has " << kMeshAttrName
                     << ", which belongs on the module";
    if (!mesh)
      return error() << "expects " << kMeshAttrName
                     << " to be a #tessera.mesh, got " << attr.getValue();
    Mesh value = mesh.getMesh();
    WalkResult walk = op->walk([&](Operation *inner) {
      return failed(verifyOnMesh(inner, value)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }
  if (attr.getName() == kModelAttrName || attr.getName() == kClusterAttrName) {
    if (isa<ModuleOp>(op) && isa<DictionaryAttr>(attr.getValue()))
      return success();
    return error() << "expects " << attr.getName().getValue()
                   << " to be a dictionary on the module";
  }
  if (attr.getName() == kShardingAttrName) {
    if (op->getNumResults() == 0)
      return error() << "has " << kShardingAttrName << ", but no result";
    return verifyShardingOf(error, attr.getValue(), op->getResult(0).getType());
  }
  return error() << "has an attribute '" << attr.getName().getValue()
                 << "' that the tessera dialect does not know";
}

/// An attribute on a function's argument or result of type `types[index]`.
static LogicalResult verifyOnFunction(Operation *op, StringRef what,
                                      unsigned index, NamedAttribute attr) {
  auto error = [&] { return op->emitOpError() << what << index << " "; };
  if (attr.getName() != kShardingAttrName)
    return error() << "has an attribute '" << attr.getName().getValue()
                   << "' that the tessera dialect does not know";
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return error() << "has " << kShardingAttrName
                   << ", but the op is no function";
  return verifyShardingOf(error, attr.getValue(),
                          what == "result "
                              ? function.getResultTypes()[index]
                              : function.getArgumentTypes()[index]);
}

LogicalResult TesseraDialect::verifyRegionArgAttribute(Operation *op,
                                                       unsigned region,
                                                       unsigned arg,
                                                       NamedAttribute attr) {
  return verifyOnFunction(op, "argument ", arg, attr);
}

LogicalResult TesseraDialect::verifyRegionResultAttribute(Operation *op,
                                                          unsigned region,
                                                          unsigned result,
                                                          NamedAttribute attr) {
  return verifyOnFunction(op, "result ", result, attr);
}
