//===- TesseraVerify.h - checks that several verifiers share --------------===//
#ifndef DIALECTS_TESSERA_TESSERAVERIFY_H
#define DIALECTS_TESSERA_TESSERAVERIFY_H

#include "dialects/Tessera/TesseraDialect.h"

namespace tessera {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Each check emits an op error that names the value by `name` and says
/// expected and got.
mlir::LogicalResult verifyRank(mlir::Operation *op, llvm::StringRef name,
                               mlir::Value value, int64_t rank);
/// `reason` says where `shape` comes from.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef name,
                                mlir::Value value,
                                llvm::ArrayRef<int64_t> shape,
                                llvm::StringRef reason);
mlir::LogicalResult verifyElement(mlir::Operation *op, llvm::StringRef name,
                                  mlir::Value value, llvm::StringRef likeName,
                                  mlir::Value like);
/// Whether the width of `x` is made of whole heads.
mlir::LogicalResult verifyHeads(mlir::Operation *op, llvm::StringRef name,
                                mlir::Value x, int64_t headDim);

} // namespace tessera

#endif // DIALECTS_TESSERA_TESSERAVERIFY_H
