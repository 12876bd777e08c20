//===- VirtualTarget.cpp - #kernel.virtual_target -------------------------===//
//
// Compiles the NVVM-dialect module that also goes to PTX. This is the right
// place to branch off: above it the lowering would be a second one and go
// untested, below it typed operations have become intrinsics and inline PTX.
//
//===----------------------------------------------------------------------===//

#include "tessera/Target/VirtualTarget.h"

#include "BinaryTable.h"
#include "Lowering.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::vgpu;

std::optional<SmallVector<char, 0>>
tessera::compileVirtualObject(gpu::GPUModuleOp device,
                              kernel::VirtualTargetAttr target) {
  if (failed(verifySupported(device)))
    return std::nullopt;
  OwningOpRef<ModuleOp> clone = ModuleOp::create(device.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(clone->getBody());
  for (Operation &op : device.getBody()->getOperations())
    b.clone(op);
  LoweringState state;
  state.module = *clone;
  state.instrument = target.getInstrument();
  nameIntrinsics(state);
  if (failed(addThreadArgument(state)))
    return std::nullopt;
  if (state.instrument)
    instrumentAccesses(state);
  expandBFloatConversions(state);
  if (failed(formSegments(state)) || failed(layOutSharedMemory(state)) ||
      failed(lowerThreadOps(state)))
    return std::nullopt;
  eraseAddressSpaces(state);
  if (failed(verify(*clone)))
    return std::nullopt;
  return emitHostObject(state, device.getName(), target.getCpu(),
                        target.getFeatures(), target.getO());
}

namespace {
struct VirtualTargetModel
    : gpu::TargetAttrInterface::FallbackModel<VirtualTargetModel> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute attribute, Operation *module,
                    const gpu::TargetOptions &options) const {
    auto device = dyn_cast<gpu::GPUModuleOp>(module);
    if (!device) {
      module->emitError("expected a gpu.module");
      return std::nullopt;
    }
    return compileVirtualObject(device,
                                cast<kernel::VirtualTargetAttr>(attribute));
  }

  Attribute createObject(Attribute attribute, Operation *module,
                         const SmallVector<char, 0> &object,
                         const gpu::TargetOptions &options) const {
    Builder b(attribute.getContext());
    return gpu::ObjectAttr::get(
        attribute.getContext(), attribute, gpu::CompilationTarget::Offload,
        b.getStringAttr(StringRef(object.data(), object.size())),
        DictionaryAttr(), gpu::KernelTableAttr());
  }
};
} // namespace

StringRef tessera::extractVirtualObject(gpu::BinaryOp binary) {
  for (Attribute attribute : binary.getObjects()) {
    auto object = dyn_cast<gpu::ObjectAttr>(attribute);
    if (object && isa<kernel::VirtualTargetAttr>(object.getTarget()))
      return object.getObject().getValue();
  }
  return "";
}

void tessera::registerVirtualTargetInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            kernel::KernelDialect *dialect) {
    kernel::VirtualTargetAttr::attachInterface<VirtualTargetModel>(*context);
    attachBinaryTableInterface(*context);
  });
}
