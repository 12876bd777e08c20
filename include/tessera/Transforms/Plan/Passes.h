//===- Passes.h - deciding the layout ---------------------------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_PLAN_PASSES_H
#define TESSERA_TRANSFORMS_PLAN_PASSES_H

#include "tessera/Transforms/Plan/PlanLayout.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace tessera {

#define GEN_PASS_DECL
#include "lib/Transforms/Plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Plan/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PLAN_PASSES_H
