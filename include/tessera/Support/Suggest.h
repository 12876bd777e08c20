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

/// The same for names that are mostly one common word, like those of classes:
/// only a slip of the keyboard (one or two letters, no digit) counts, another
/// name of the same pattern does not.
std::string nearlyNamed(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tessera

#endif // TESSERA_SUPPORT_SUGGEST_H
