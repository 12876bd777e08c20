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
#include <string>

namespace tessera {

inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// "--layout: ..." from an error about the value of a flag; a message that
/// begins with the flag's own name ("layout: ...") says it once.
inline llvm::Error atFlag(const llvm::Twine &flag, llvm::Error error) {
  std::string name = flag.str(), text = toString(std::move(error));
  llvm::StringRef message = text;
  message.consume_front(llvm::StringRef(name).ltrim('-').str() + ": ");
  return makeError(name + ": " + message);
}

} // namespace tessera

#endif // TESSERA_SUPPORT_ERROR_H
