//===- Roles.h - what each linear of a decoder is for -----------*- C++ -*-===//
//
// Derives from the graph, never from names, which values form the residual
// stream and which linears lead out of it and back into it.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TRANSFORMS_PLAN_ROLES_H
#define TESSERA_TRANSFORMS_PLAN_ROLES_H

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera {

enum class ValueRole {
  Other,    ///< tokens, losses, parameters
  Residual, ///< the residual stream, and what is added to it
  Normed,   ///< a norm of the residual stream
  Wide,     ///< between a column- and a row-parallel linear
};

enum class LinearRole {
  Column, ///< its output width is split
  Row,    ///< its input width is split, its result is a partial sum
  Whole,  ///< not split: each rank has the weight and its own tokens
};

struct ModelRoles {
  llvm::DenseMap<mlir::Value, ValueRole> values;
  llvm::DenseMap<mlir::Operation *, LinearRole> linears;
  /// Values on the way from a linear to the keys or values of an attention.
  llvm::DenseSet<mlir::Value> keyValue;

  ValueRole of(mlir::Value value) const { return values.lookup(value); }
};

/// The roles in all functions of `module`.
ModelRoles deriveRoles(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PLAN_ROLES_H
