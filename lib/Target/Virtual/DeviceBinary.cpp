//===- DeviceBinary.cpp - All objects of a gpu.module ---------------------===//

#include "tessera/Target/DeviceBinary.h"

#include "tessera/Target/Ptx.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

namespace {
constexpr StringLiteral kKernelsProperty = "kernels";

ArrayAttr kernelList(gpu::GPUModuleOp module) {
  SmallVector<Attribute> names;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (func->hasAttr("gpu.kernel") || func->hasAttr("nvvm.kernel"))
      names.push_back(StringAttr::get(module.getContext(), func.getName()));
  return ArrayAttr::get(module.getContext(), names);
}

FailureOr<Attribute> deviceObject(gpu::GPUModuleOp module, StringRef chip,
                                  bool cubin, DictionaryAttr properties) {
  MLIRContext *context = module.getContext();
  std::optional<std::string> ptx = emitPtx(module, chip);
  if (!ptx)
    return failure();
  std::string bytes = *ptx;
  if (cubin) {
    std::string error;
    std::optional<std::string> assembled = assemblePtx(*ptx, chip, error);
    if (!assembled)
      return module.emitError() << error;
    bytes = *assembled;
  }
  auto target =
      NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3, "nvptx64-nvidia-cuda",
                                chip, ptxFeaturesForChip(chip));
  return Attribute(gpu::ObjectAttr::get(
      context, target,
      cubin ? gpu::CompilationTarget::Binary : gpu::CompilationTarget::Assembly,
      StringAttr::get(context, bytes), properties, gpu::KernelTableAttr()));
}
} // namespace

FailureOr<gpu::BinaryOp>
tessera::createDeviceBinary(gpu::GPUModuleOp module,
                            const DeviceBinaryOptions &options) {
  MLIRContext *context = module.getContext();
  OpBuilder b(module);
  auto properties =
      b.getDictionaryAttr(b.getNamedAttr(kKernelsProperty, kernelList(module)));
  SmallVector<Attribute> objects;
  for (const std::string &chip : options.chips) {
    FailureOr<Attribute> object =
        deviceObject(module, chip, options.cubin, properties);
    if (failed(object))
      return failure();
    objects.push_back(*object);
  }
  if (options.virtualTarget) {
    auto bytes = compileVirtualObject(module, options.virtualTarget);
    if (!bytes)
      return failure();
    objects.push_back(gpu::ObjectAttr::get(
        context, options.virtualTarget, gpu::CompilationTarget::Offload,
        b.getStringAttr(StringRef(bytes->data(), bytes->size())), properties,
        gpu::KernelTableAttr()));
  }
  if (objects.empty())
    return module.emitError("no target: name a chip, the virtual GPU or both");
  auto binary = gpu::BinaryOp::create(b, module.getLoc(), module.getName(),
                                      kernel::BinaryTableAttr::get(context),
                                      b.getArrayAttr(objects));
  module.erase();
  return binary;
}

SmallVector<StringRef> tessera::kernelNames(gpu::BinaryOp binary) {
  SmallVector<StringRef> names;
  for (Attribute attribute : binary.getObjects()) {
    DictionaryAttr properties =
        cast<gpu::ObjectAttr>(attribute).getProperties();
    auto list =
        properties
            ? dyn_cast_or_null<ArrayAttr>(properties.get(kKernelsProperty))
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
