//===- TesseraCostUtils.h - sizes that cost formulas use ------------------===//
#ifndef DIALECTS_TESSERA_TESSERACOSTUTILS_H
#define DIALECTS_TESSERA_TESSERACOSTUTILS_H

#include "dialects/Tessera/TesseraDialect.h"

namespace tessera {

inline int64_t elementBytes(mlir::RankedTensorType type) {
  return type.getElementTypeBitWidth() / 8;
}
inline int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * elementBytes(type);
}

} // namespace tessera

#endif // DIALECTS_TESSERA_TESSERACOSTUTILS_H
