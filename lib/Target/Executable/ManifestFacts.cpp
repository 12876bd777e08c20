//===- ManifestFacts.cpp - what the manifest says of compiled kernels -----===//
//
// `schedule` writes the manifest before kernels are compiled; what is only
// known then is added to the JSON here: the keys "images" and "virtual" of
// tessera/Runtime/Manifest.h.
//
//===----------------------------------------------------------------------===//
#include "ManifestFacts.h"

#include "tessera/Runtime/ProgramFile.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tessera;

/// Part of the program ABI (docs/design.md).
static constexpr StringLiteral kManifestSymbol = "tessera_manifest";

LogicalResult tessera::addManifestFacts(ModuleOp module) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kManifestSymbol);
  auto text = global ? dyn_cast_or_null<StringAttr>(global.getValueOrNull())
                     : StringAttr();
  if (!text)
    return success(); // kernels without a program
  global.setSection(rt::manifestSection);
  llvm::SetVector<StringRef> features;
  std::vector<HostCpu> cpus; // owns what `features` refers to
  bool instrumented = true;
  std::vector<std::string> images;
  for (auto binary : module.getOps<gpu::BinaryOp>())
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
      if (auto target =
              dyn_cast<kernel::VirtualTargetAttr>(object.getTarget())) {
        std::string why;
        std::optional<HostCpu> host =
            findHostCpu(target.getCpu(), target.getFeatures(), why);
        if (!host)
          return binary.emitError() << "virtual GPU: " << why;
        cpus.push_back(std::move(*host));
        instrumented &= target.getInstrument();
      } else if (auto chip =
                     dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget())) {
        bool cubin = object.getFormat() == gpu::CompilationTarget::Binary;
        std::string image = (cubin ? "cubin " : "ptx ") + chip.getChip().str();
        if (!llvm::is_contained(images, image))
          images.push_back(image);
      }
  for (const HostCpu &host : cpus)
    for (const std::string &feature : host.needed)
      features.insert(feature);
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse(text.getValue().rtrim('\0'));
  if (!json || !json->getAsObject()) {
    if (!json)
      llvm::consumeError(json.takeError());
    return global.emitError()
           << "'" << kManifestSymbol << "' is no JSON object";
  }
  llvm::json::Object &manifest = *json->getAsObject();
  manifest["images"] = llvm::json::Array(images);
  if (!cpus.empty())
    manifest["virtual"] = llvm::json::Object{
        {"cpu", cpus.front().name},
        {"features", llvm::json::Array(features.getArrayRef())},
        {"instrumented", instrumented}};
  std::string changed = llvm::formatv("{0}", *json).str();
  changed.push_back('\0');
  global.setGlobalType(LLVM::LLVMArrayType::get(
      IntegerType::get(module.getContext(), 8), changed.size()));
  global.setValueAttr(StringAttr::get(module.getContext(), changed));
  return success();
}
