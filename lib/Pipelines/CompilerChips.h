//===- CompilerChips.h - chips that kernels are compiled for ----*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_COMPILERCHIPS_H
#define TESSERA_LIB_PIPELINES_COMPILERCHIPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tessera {

/// The compute capabilities ("sm_90") of chips given as such or by name
/// ("h100-sxm"), each once. Fails where the compiler has no kernels for one;
/// `notes` gets what there is to say of the others.
llvm::Expected<std::vector<std::string>>
compilerChips(llvm::ArrayRef<std::string> given,
              std::vector<std::string> &notes);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_COMPILERCHIPS_H
