//===- ParameterLayout.h - the parameter arena ------------------*- C++ -*-===//
#ifndef TESSERA_LIB_TRANSFORMS_SCHEDULE_PARAMETERLAYOUT_H
#define TESSERA_LIB_TRANSFORMS_SCHEDULE_PARAMETERLAYOUT_H

#include "dialects/Tessera/TesseraDialect.h"

#include "llvm/ADT/MapVector.h"

namespace tessera {

/// Where one parameter lies; layer `l` of it at
/// `offset + (l - first) * layerStride`.
struct ParameterPlace {
  ParameterOp op;
  mlir::RankedTensorType localType;
  int64_t offset = 0;
  int64_t layerStride = 0; ///< 0 for a parameter that no layer repeats
  int64_t firstLayer = 0, layerCount = 0;
};

struct TablePlace {
  RotaryAttr rotary;
  mlir::RankedTensorType type;
  int64_t offset = 0;
};

/// Places of all parameters and tables that the program reads. Parameters
/// repeated over the same range of layers form a group; in it the parameters
/// of one layer are contiguous, and so are the layers.
struct ParameterLayout {
  llvm::MapVector<mlir::StringAttr, ParameterPlace> parameters;
  llvm::SmallVector<TablePlace> tables;
  int64_t bytes = 0;

  const TablePlace *find(RotaryTableOp op) const;
  static mlir::FailureOr<ParameterLayout> compute(mlir::ModuleOp module,
                                                  const Mesh &mesh);
};

} // namespace tessera

#endif // TESSERA_LIB_TRANSFORMS_SCHEDULE_PARAMETERLAYOUT_H
