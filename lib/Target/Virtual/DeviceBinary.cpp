//===- DeviceBinary.cpp - What a gpu.binary says of its kernels -----------===//

#include "tessera/Target/DeviceBinary.h"

using namespace mlir;

SmallVector<StringRef> tessera::kernelNames(gpu::BinaryOp binary) {
  SmallVector<StringRef> names;
  for (Attribute attribute : binary.getObjects()) {
    DictionaryAttr properties =
        cast<gpu::ObjectAttr>(attribute).getProperties();
    auto list = properties
                    ? dyn_cast_or_null<ArrayAttr>(properties.get("kernels"))
                    : ArrayAttr();
    if (!list)
      continue;
    for (Attribute name : list)
      if (auto text = dyn_cast<StringAttr>(name))
        names.push_back(text.getValue());
    break;
  }
  return names;
}
