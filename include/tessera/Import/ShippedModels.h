//===- ShippedModels.h - configs of published models ----------------------===//
//
// The config.json files of lib/Import/Models, each with its source, compiled
// into the library so that `llama-65b` can be named instead of a folder.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_IMPORT_SHIPPEDMODELS_H
#define TESSERA_IMPORT_SHIPPEDMODELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tessera {

struct ShippedModel {
  llvm::StringRef name; ///< "llama-65b"
  llvm::StringRef json; ///< text of its config.json
};

/// All, ordered by name.
llvm::ArrayRef<ShippedModel> getShippedModels();

/// The model of that name, or null.
const ShippedModel *findShippedModel(llvm::StringRef name);

} // namespace tessera

#endif // TESSERA_IMPORT_SHIPPEDMODELS_H
