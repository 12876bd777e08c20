//===- ParameterLayout.cpp - the parameter arena --------------------------===//
#include "lib/Transforms/Schedule/ParameterLayout.h"

#include "tessera/Analysis/ArenaPlacement.h"
#include "tessera/Analysis/ArenaPlan.h"

using namespace mlir;
using namespace tessera;

const TablePlace *ParameterLayout::find(RotaryTableOp op) const {
  for (const TablePlace &table : tables)
    if (table.rotary == op.getRotary() && table.type == op.getType())
      return &table;
  return nullptr;
}

/// Adds the parameter that `op` reads, once.
static LogicalResult addParameter(GetParameterOp op, const Mesh &mesh,
                                  ParameterLayout &layout) {
  auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      op, op.getParameterAttr());
  if (!parameter)
    return op.emitOpError()
           << "reads @" << op.getParameter() << ", which is no parameter";
  std::string why;
  RankedTensorType local = getLocalParameterType(parameter, mesh, &why);
  if (!local)
    return parameter.emitOpError() << "cannot be split: " << why;
  if (local != op.getType())
    return op.emitOpError()
           << "reads " << op.getType() << " but one rank holds " << local
           << " of @" << op.getParameter();
  if (std::string unfit = whyNotStorable(local); !unfit.empty())
    return parameter.emitOpError() << "cannot be placed in memory: " << unfit;
  ParameterPlace place;
  place.op = parameter;
  place.localType = local;
  if (parameter.getFirstLayer()) {
    place.firstLayer = *parameter.getFirstLayer();
    place.layerCount = *parameter.getLayerCount();
  }
  layout.parameters.insert({parameter.getSymNameAttr(), place});
  return success();
}

/// Gives the parameters of one range of layers their offsets.
static LogicalResult placeGroup(ArrayRef<ParameterPlace *> group,
                                ParameterLayout &layout) {
  int64_t stride = 0;
  for (ParameterPlace *place : group) {
    place->offset = layout.bytes + stride;
    stride += alignToArena(tensorBytes(place->localType));
  }
  int64_t count = std::max<int64_t>(group.front()->layerCount, 1);
  if (group.front()->layerCount)
    for (ParameterPlace *place : group)
      place->layerStride = stride;
  if (stride > (kMostTensorBytes - layout.bytes) / count)
    return group.front()->op.emitOpError()
           << "and the parameters before it, " << count
           << " layers of them, are larger than the memory of any device";
  layout.bytes += stride * count;
  return success();
}

FailureOr<ParameterLayout> ParameterLayout::compute(ModuleOp module,
                                                    const Mesh &mesh) {
  ParameterLayout layout;
  WalkResult walk = module.walk([&](Operation *op) {
    if (auto read = dyn_cast<GetParameterOp>(op))
      return failed(addParameter(read, mesh, layout)) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
    if (auto table = dyn_cast<RotaryTableOp>(op))
      if (!layout.find(table))
        layout.tables.push_back({table.getRotary(), table.getType(), 0});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<ParameterPlace *>>
      groups;
  for (auto &[name, place] : layout.parameters)
    groups[{place.firstLayer, place.layerCount}].push_back(&place);
  for (auto &[range, group] : groups)
    if (failed(placeGroup(group, layout)))
      return failure();
  for (TablePlace &table : layout.tables) {
    table.offset = layout.bytes;
    layout.bytes += alignToArena(tensorBytes(table.type));
  }
  return layout;
}
