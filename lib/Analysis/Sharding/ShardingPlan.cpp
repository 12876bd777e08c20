//===- ShardingPlan.cpp - sharding plans read from attributes -------------===//
#include "tessera/Analysis/Sharding/ShardingPlan.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Analysis/Sharding/Resharding.h"

using namespace mlir;
using namespace tessera;

/// Resolves `attribute` for a tensor of `type`; names what is wrong otherwise.
static std::optional<TensorSharding> resolve(ShardingAttr attribute,
                                             RankedTensorType type,
                                             const Mesh &mesh, uint32_t padded,
                                             std::string &why) {
  llvm::Expected<TensorSharding> sharding = attribute.resolve(mesh);
  if (!sharding) {
    why = llvm::toString(sharding.takeError());
    return std::nullopt;
  }
  if (!localShape(type.getShape(), *sharding, mesh, padded, &why))
    return std::nullopt;
  return dropTrivialAxes(*sharding, mesh);
}

std::optional<ShardingPlan>
tessera::readShardingPlan(ModuleOp module, ShardingFailure &failure) {
  auto fail = [&](Operation *op, const llvm::Twine &message) {
    failure = {op, message.str()};
    return std::nullopt;
  };
  auto meshAttr = module->getAttrOfType<MeshAttr>(kMeshAttrName);
  if (!meshAttr)
    return fail(module, "module has no '" + kMeshAttrName +
                            "': run tessera-plan-layout first");
  ShardingPlan layout;
  layout.mesh = meshAttr.getMesh();

  std::string why;
  for (auto parameter : module.getOps<ParameterOp>()) {
    ShardingAttr attribute = parameter.getShardingAttr();
    if (!attribute)
      continue;
    auto sharding =
        resolve(attribute, cast<RankedTensorType>(parameter.getType()),
                layout.mesh, parameter.getPadded() ? 1 : 0, why);
    if (!sharding)
      return fail(parameter, "sharding of parameter @" +
                                 parameter.getSymName() + ": " + why);
    layout.parameters[parameter.getSymNameAttr()] = *sharding;
  }

  auto decide = [&](Value value, ShardingAttr attribute) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      why = "only a tensor can have a sharding";
      return false;
    }
    auto sharding = resolve(attribute, type, layout.mesh, 0, why);
    if (sharding)
      layout.decisions[value] = *sharding;
    return sharding.has_value();
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto attribute =
              function.getArgAttrOfType<ShardingAttr>(i, kShardingAttrName))
        if (!decide(function.getArgument(i), attribute))
          return fail(function, "sharding of argument #" + llvm::Twine(i) +
                                    " of @" + function.getSymName() + ": " +
                                    why);
    for (Operation &op : function.getOps())
      if (auto attribute = op.getAttrOfType<ShardingAttr>(kShardingAttrName)) {
        if (op.getNumResults() == 0)
          return fail(&op, "has a sharding but no result");
        if (!decide(op.getResult(0), attribute))
          return fail(&op, "sharding of the result: " + llvm::Twine(why));
      }
  }
  return layout;
}
