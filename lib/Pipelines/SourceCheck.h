//===- SourceCheck.h - what upstream's parser must not see ------*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_SOURCECHECK_H
#define TESSERA_LIB_PIPELINES_SOURCECHECK_H

#include "llvm/Support/SourceMgr.h"

namespace tessera {

/// Looks through the main file of `sources` for vector types of more elements
/// than any kernel holds. Prints where the first one is and returns false.
bool checkVectorTypes(const llvm::SourceMgr &sources);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_SOURCECHECK_H
