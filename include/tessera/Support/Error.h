//===- Error.h - one-line construction of llvm::Error ---------------------===//
//
// A user's mistake travels as an llvm::Error whose text is the diagnostic:
// lower case, no full stop, naming the file, field or value.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_ERROR_H
#define TESSERA_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace tessera {

inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

} // namespace tessera

#endif // TESSERA_SUPPORT_ERROR_H
