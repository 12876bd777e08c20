//===- EpilogueMath.cpp - bias, activation, gate, residual ----------------===//
#include "EpilogueMath.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

using namespace mlir;
using namespace tessera::kernels;

SmallVector<Type>
tessera::kernels::epilogueArgumentTypes(const EpilogueSpec &spec, Type matrix) {
  auto type = cast<MemRefType>(matrix);
  SmallVector<Type> types;
  if (spec.hasBias)
    types.push_back(globalMemRef(type.getContext(), {type.getShape().back()},
                                 type.getElementType()));
  types.append(static_cast<size_t>(spec.hasGate) + spec.hasResidual, matrix);
  return types;
}

EpilogueInputs tessera::kernels::epilogueArguments(KernelBuilder &kb,
                                                   const EpilogueSpec &spec,
                                                   unsigned &next) {
  EpilogueInputs inputs;
  if (spec.hasBias)
    inputs.bias = kb.arg(next++);
  if (spec.hasGate)
    inputs.gate = kb.arg(next++);
  if (spec.hasResidual)
    inputs.residual = kb.arg(next++);
  return inputs;
}

Value tessera::kernels::emitEpilogueMath(KernelBuilder &kb,
                                         const EpilogueSpec &spec, Value x,
                                         const EpilogueInputs &inputs) {
  if (inputs.bias)
    x = kb.add(x, kb.toF32(inputs.bias));
  x = emitActivation(kb, spec.activation, x);
  if (inputs.gate)
    x = kb.mul(x,
               emitActivation(kb, spec.gateActivation, kb.toF32(inputs.gate)));
  if (inputs.residual)
    x = kb.add(x, kb.toF32(inputs.residual));
  return x;
}
