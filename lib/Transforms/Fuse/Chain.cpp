//===- Chain.cpp - ops behind a value that its kernel can absorb ----------===//
//
// Follows single uses forward. A value with a second user has to be stored
// anyway, and the second user would read what a fused kernel never writes.
//
//===----------------------------------------------------------------------===//
#include "Chain.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

EpilogueStage tessera::stageOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, EpilogueStage>(op)
      .Case<AddBiasOp>([](auto) { return EpilogueStage::Bias; })
      .Case<ActivationOp>([](auto) { return EpilogueStage::Activation; })
      .Case<SwigluOp>([](auto) { return EpilogueStage::Gate; })
      .Case<AddOp>([](auto) { return EpilogueStage::Residual; })
      .Default([](Operation *) { return EpilogueStage::Start; });
}

/// Whether `value` comes out of a product that will want to absorb its user.
static bool isProduct(Value value) {
  Operation *op = value.getDefiningOp();
  return value.hasOneUse() && isa_and_present<LinearOp, AddBiasOp>(op);
}

/// What `value` becomes if `op`, its only user, is the next of its chain:
/// the op's stage, or nothing where the op cannot be.
static std::optional<EpilogueStage> nextStage(Operation *op, Value value) {
  return llvm::TypeSwitch<Operation *, std::optional<EpilogueStage>>(op)
      .Case<AddBiasOp, ActivationOp>([](auto o) { return stageOf(o); })
      .Case<SwigluOp>([&](SwigluOp o) -> std::optional<EpilogueStage> {
        if (o.getUp() == o.getGate())
          return std::nullopt;
        // The main value is `up`, the gate an operand. Where only `gate` comes
        // from a product it may be the main value: act(gate) * up.
        if (value == o.getUp())
          return EpilogueStage::Gate;
        return isProduct(o.getUp()) ? std::optional<EpilogueStage>()
                                    : EpilogueStage::Activation;
      })
      .Case<AddOp>([&](AddOp o) -> std::optional<EpilogueStage> {
        if (o.getLhs() == o.getRhs())
          return std::nullopt;
        return EpilogueStage::Residual;
      })
      .Default([](Operation *) { return std::nullopt; });
}

SmallVector<Operation *> tessera::chainBehind(Value value, EpilogueStage stage,
                                              const OpSet &taken) {
  SmallVector<Operation *> chain;
  Type type = value.getType();
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    std::optional<EpilogueStage> next = nextStage(user, value);
    if (!next || *next <= stage || taken.contains(user) ||
        user->getBlock() != value.getParentBlock() ||
        user->getResult(0).getType() != type)
      break;
    chain.push_back(user);
    // act(gate) * up uses up two parts, the activation and the gate.
    stage = isa<SwigluOp>(user) ? EpilogueStage::Gate : *next;
    value = user->getResult(0);
  }
  return chain;
}
