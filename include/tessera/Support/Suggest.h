//===- Suggest.h - "did you mean" for names -------------------------------===//
#ifndef TESSERA_SUPPORT_SUGGEST_H
#define TESSERA_SUPPORT_SUGGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera {

/// The candidate with the smallest edit distance to `name` (upper and lower
/// case are the same), or "" where none is closer than rewriting most of it.
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// "; did you mean 'x'?" or "" where there is no near name.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tessera

#endif // TESSERA_SUPPORT_SUGGEST_H
