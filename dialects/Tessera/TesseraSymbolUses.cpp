//===- TesseraSymbolUses.cpp - parameters and blocks that ops refer to ----===//
//
// `get_parameter` and `layers` against the symbols that they name. A
// parameter's declared type is the global one; a read may have that type or
// the local one that the module's mesh and the parameter's sharding give.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraVerify.h"

using namespace mlir;
using namespace tessera;

RankedTensorType tessera::getLocalParameterType(ParameterOp parameter,
                                                const Mesh &mesh,
                                                std::string *why) {
  auto type = cast<RankedTensorType>(parameter.getType());
  std::optional<ShardingAttr> attr = parameter.getSharding();
  if (!attr)
    return type;
  llvm::Expected<TensorSharding> sharding = attr->resolve(mesh);
  if (!sharding) {
    std::string text = llvm::toString(sharding.takeError());
    if (why)
      *why = text;
    return {};
  }
  auto shape = localShape(type.getShape(), *sharding, mesh,
                          parameter.getPadded() ? 1u : 0u, why);
  return shape ? type.clone(*shape) : RankedTensorType();
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError() << "reads " << getParameterAttr()
                         << ", which is no parameter of this module";
  // Which layer's tensor would an entry function read?
  auto function = (*this)->getParentOfType<func::FuncOp>();
  if (parameter.getFirstLayer() && function && function.isPublic())
    return emitOpError() << "reads " << getParameterAttr()
                         << ", which has one tensor per layer, in the public "
                            "function @"
                         << function.getName()
                         << "; read it in a private block function";
  Type type = getResult().getType();
  if (type == parameter.getType())
    return success();
  RankedTensorType local;
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (auto mesh =
          module ? module->getAttrOfType<MeshAttr>(kMeshAttrName) : MeshAttr())
    local = getLocalParameterType(parameter, mesh.getMesh(), nullptr);
  if (local && type == local)
    return success();
  auto diag = emitOpError()
              << "has type " << type << ", but " << getParameterAttr()
              << " has type " << parameter.getType();
  if (local && local != parameter.getType())
    diag << ", on one rank " << local;
  diag.attachNote(parameter.getLoc()) << "the parameter is declared here";
  return diag;
}

/// The layered parameters that `block` reads must exist for layers
/// `[first, first + count)`.
static LogicalResult verifyLayerRange(LayersOp op, func::FuncOp block,
                                      SymbolTableCollection &symbols) {
  int64_t first = op.getFirst(), count = op.getCount();
  WalkResult walk = block.walk([&](GetParameterOp get) {
    auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(
        get, get.getParameterAttr());
    if (!parameter || !parameter.getFirstLayer())
      return WalkResult::advance();
    int64_t has = *parameter.getFirstLayer();
    int64_t end = has + static_cast<int64_t>(*parameter.getLayerCount());
    if (first >= has && first + count <= end)
      return WalkResult::advance();
    auto diag = op.emitOpError()
                << "calls " << op.getBlockAttr() << " for layers " << first
                << " to " << first + count - 1 << ", but "
                << get.getParameterAttr() << " exists for layers " << has
                << " to " << end - 1;
    diag.attachNote(parameter.getLoc()) << "the parameter is declared here";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto block =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getBlockAttr());
  if (!block)
    return emitOpError() << "calls " << getBlockAttr()
                         << ", which is no function of this module";
  FunctionType type = block.getFunctionType();
  if (getOperandTypes() != type.getInputs() ||
      getResultTypes() != type.getResults()) {
    auto diag = emitOpError()
                << "has type "
                << FunctionType::get(getContext(), getOperandTypes(),
                                     getResultTypes())
                << ", but " << getBlockAttr() << " has type " << type;
    diag.attachNote(block.getLoc()) << "the block is defined here";
    return diag;
  }
  return verifyLayerRange(*this, block, symbols);
}
