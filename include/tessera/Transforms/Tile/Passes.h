//===- Passes.h - how each kernel is made -----------------------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_TILE_PASSES_H
#define TESSERA_TRANSFORMS_TILE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "lib/Transforms/Tile/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Tile/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_TRANSFORMS_TILE_PASSES_H
