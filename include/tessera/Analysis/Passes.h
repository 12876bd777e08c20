//===- Passes.h - printing what is counted ----------------------*- C++ -*-===//
#ifndef TESSERA_ANALYSIS_PASSES_H
#define TESSERA_ANALYSIS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "lib/Analysis/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Analysis/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_ANALYSIS_PASSES_H
