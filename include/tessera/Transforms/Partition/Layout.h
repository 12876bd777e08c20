//===- Layout.h - what the plan decides ---------------------------*- C++
//-*-===//
//
// A layout is all that the partitioner has to be told about a module: the mesh,
// where each parameter lies, and the shardings of the values for which there is
// a choice. The `plan` phase writes one into the IR as attributes, `partition`
// reads it from there; the planner makes as many as it likes without touching
// the IR.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TRANSFORMS_PARTITION_LAYOUT_H
#define TESSERA_TRANSFORMS_PARTITION_LAYOUT_H

#include "tessera/Interfaces/Sharding.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

struct Layout {
  Mesh mesh;
  /// By the symbol name of the `tessera.parameter`. A parameter that is not
  /// listed is replicated.
  llvm::DenseMap<mlir::StringAttr, TensorSharding> parameters;
  /// Function arguments, and first results of ops, whose sharding is fixed.
  llvm::DenseMap<mlir::Value, TensorSharding> decisions;
};

/// Why something cannot be done, and the op to blame.
struct LayoutFailure {
  mlir::Operation *op = nullptr;
  std::string message;
};

/// The layout that the attributes of `module` state. Axes of size 1 are
/// dropped from every sharding. Fails without a mesh, and where a sharding
/// does not fit its tensor.
std::optional<Layout> readLayout(mlir::ModuleOp module, LayoutFailure &failure);

/// Writes `layout` as attributes: `tessera.mesh` on the module, `sharding` on
/// parameters, `tessera.sharding` on function arguments and ops.
void writeLayout(mlir::ModuleOp module, const Layout &layout);

} // namespace tessera

#endif // TESSERA_TRANSFORMS_PARTITION_LAYOUT_H
