//===- ShippedModels.cpp - configs of published models --------------------===//
#include "tessera/Import/ShippedModels.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera;

static constexpr ShippedModel kModels[] = {
#include "lib/Import/ShippedModels.inc"
};

llvm::ArrayRef<ShippedModel> tessera::getShippedModels() { return kModels; }

const ShippedModel *tessera::findShippedModel(llvm::StringRef name) {
  for (const ShippedModel &model : kModels)
    if (model.name == name)
      return &model;
  return nullptr;
}
