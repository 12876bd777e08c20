//===- TesseraDialect.h - the transformer graph dialect -------------------===//
#ifndef DIALECTS_TESSERA_TESSERADIALECT_H
#define DIALECTS_TESSERA_TESSERADIALECT_H

#include "tessera/Interfaces/OpInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Error.h"

#include "dialects/Tessera/TesseraDialect.h.inc"
#include "dialects/Tessera/TesseraEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tessera/TesseraAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tessera/TesseraOps.h.inc"

namespace tessera {
/// Name of the module attribute that holds the mesh (`#tessera.mesh`).
inline constexpr llvm::StringLiteral kMeshAttrName = "tessera.mesh";
/// Name of the module attribute with facts about the model (a dictionary).
inline constexpr llvm::StringLiteral kModelAttrName = "tessera.model";
/// Name of the module attribute with a cluster to plan for (a dictionary).
inline constexpr llvm::StringLiteral kClusterAttrName = "tessera.cluster";
/// Name of the discardable attribute by which `plan` fixes the sharding of an
/// op's first result or of a function argument (`#tessera.sharding`).
inline constexpr llvm::StringLiteral kShardingAttrName = "tessera.sharding";
/// Label that is not counted in the loss.
inline constexpr int32_t kIgnoredLabel = -100;

/// Number of (query, key) pairs that one head of an attention evaluates, see
/// `tessera.attention` for `causal` and `window` (0: unbounded).
int64_t countAttentionPairs(int64_t sequence, bool causal, int64_t window);

/// One rank's type of a parameter under its sharding (the global type without
/// one); a `padded` dimension 0 is rounded up. Null, and a reason in `why`,
/// where an axis is unknown or a dimension cannot be divided.
mlir::RankedTensorType getLocalParameterType(ParameterOp parameter,
                                             const Mesh &mesh,
                                             std::string *why);
} // namespace tessera

#endif // DIALECTS_TESSERA_TESSERADIALECT_H
