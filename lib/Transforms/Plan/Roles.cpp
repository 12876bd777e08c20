//===- Roles.cpp - what each linear of a decoder is for -------------------===//
//
// One forward walk over each function. Arguments of width-carrying type and
// results of block calls are the residual stream; a linear that reads the
// stream or a norm of it leads out of it (column parallel), one that reads what
// such a linear made leads back (row parallel). A linear from the stream whose
// result is only ever added to it has no partner to share the split with and
// leads back at once. One whose result is normalised as a whole (before the
// head of a masked language model) has to be whole itself: each rank computes
// it for its tokens, which costs no communication. So do low-rank projections of
// latent attention; what reads their norms leads out.
//
//===----------------------------------------------------------------------===//
#include "tessera/Transforms/Plan/Roles.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

/// Whether all that happens to `value` is a bias and an add.
static bool isOnlyAdded(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *op) {
           if (auto bias = dyn_cast<AddBiasOp>(op))
             return isOnlyAdded(bias.getResult());
           return isa<AddOp>(op);
         });
}

/// Whether a norm reads the whole width of `x`, not each head by itself.
static bool isWholeNorm(Operation *op) {
  if (!isa<LayerNormOp, RMSNormOp>(op))
    return false;
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto weight = cast<RankedTensorType>(op->getOperand(1).getType());
  return x.getShape().back() == weight.getShape().back();
}

/// Whether `value`, through a bias and an activation, is normalised as a whole
/// or cut into parts: no rank could do that with a slice of it.
static bool isNormalised(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *op) {
           if (isa<AddBiasOp, ActivationOp>(op))
             return isNormalised(op->getResult(0));
           return isWholeNorm(op) || isa<SplitOp>(op);
         });
}

/// Marks what leads to the keys or values of an attention.
static void markKeyValue(Value value, ModelRoles &roles) {
  while (value && roles.of(value) == ValueRole::Wide &&
         roles.keyValue.insert(value).second) {
    Operation *op = value.getDefiningOp();
    // A linear's operands are not wide, so the walk ends there; of the other
    // ops the first operand is the activation.
    value = op && !isa<LinearOp, AttentionOp>(op) ? op->getOperand(0) : Value();
  }
}

static bool isActivation(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 3 &&
         isa<FloatType>(tensor.getElementType());
}

ModelRoles tessera::deriveRoles(ModuleOp module) {
  ModelRoles roles;
  auto visit = [&](Operation *op) {
    auto is = [&](Value value, ValueRole role) {
      return roles.of(value) == role;
    };
    return llvm::TypeSwitch<Operation *, ValueRole>(op)
        .Case<EmbeddingOp, LayersOp>([](auto) { return ValueRole::Residual; })
        .Case<LinearOp>([&](LinearOp linear) {
          if (!is(linear.getX(), ValueRole::Wide) &&
              isNormalised(linear.getResult())) {
            roles.linears[op] = LinearRole::Whole;
            return ValueRole::Residual;
          }
          bool row = is(linear.getX(), ValueRole::Wide) ||
                     isOnlyAdded(linear.getResult());
          roles.linears[op] = row ? LinearRole::Row : LinearRole::Column;
          return row ? ValueRole::Residual : ValueRole::Wide;
        })
        .Case<RMSNormOp, LayerNormOp>([&](auto norm) {
          return is(norm.getX(), ValueRole::Wide) && !isWholeNorm(op)
                     ? ValueRole::Wide
                     : ValueRole::Normed;
        })
        .Case<AttentionOp>([&](AttentionOp attention) {
          markKeyValue(attention.getK(), roles);
          markKeyValue(attention.getV(), roles);
          return roles.of(attention.getQ());
        })
        .Case<RelativeAttentionOp>([&](RelativeAttentionOp attention) {
          return roles.of(attention.getQ());
        })
        .Case<LatentAttentionOp>([&](LatentAttentionOp attention) {
          return roles.of(attention.getQ());
        })
        .Case<AddOp>([&](AddOp add) {
          // A norm that is added to the stream (post-norm) lies as the stream.
          return is(add.getLhs(), ValueRole::Wide) &&
                         is(add.getRhs(), ValueRole::Wide)
                     ? ValueRole::Wide
                     : ValueRole::Residual;
        })
        .Case<AddPositionsOp, AddBiasOp, RotaryOp, SwigluOp, ActivationOp>(
            [&](auto) { return roles.of(op->getOperand(0)); })
        .Default([](Operation *) { return ValueRole::Other; });
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (Value argument : function.getArguments())
      if (isActivation(argument.getType()))
        roles.values[argument] = ValueRole::Residual;
    for (Operation &op : function.getOps()) {
      ValueRole role = visit(&op);
      for (Value result : op.getResults())
        roles.values[result] =
            isActivation(result.getType()) ? role : ValueRole::Other;
    }
  }
  return roles;
}
