//===- Passes.h - which ops become one kernel -------------------*- C++ -*-===//
#ifndef TESSERA_TRANSFORMS_FUSE_PASSES_H
#define TESSERA_TRANSFORMS_FUSE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "lib/Transforms/Fuse/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Fuse/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_TRANSFORMS_FUSE_PASSES_H
