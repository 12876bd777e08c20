//===- DefaultText.h - the shipped constants as they lie --------*- C++ -*-===//
#ifndef TESSERA_LIB_COSTMODEL_DEFAULTTEXT_H
#define TESSERA_LIB_COSTMODEL_DEFAULTTEXT_H

#include "tessera/Support/Json.h"

namespace tessera {

/// data/cost_model_constants.json, parsed.
const llvm::json::Value &defaultConstantsJson();

} // namespace tessera

#endif // TESSERA_LIB_COSTMODEL_DEFAULTTEXT_H
