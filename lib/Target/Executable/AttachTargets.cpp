//===- AttachTargets.cpp - says for which devices kernels are compiled ----===//
#include "tessera/Target/Executable.h"
#include "tessera/Target/Ptx.h"
#include "tessera/Target/VirtualTarget.h"

namespace tessera {
#define GEN_PASS_DEF_ATTACHTARGETS
#include "lib/Target/Executable/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
struct AttachTargets : tessera::impl::AttachTargetsBase<AttachTargets> {
  using AttachTargetsBase::AttachTargetsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    SmallVector<Attribute> targets;
    for (const std::string &chip : chips) {
      std::string features = ptxFeaturesForChip(chip);
      if (features.empty()) {
        getOperation().emitError()
            << "unknown chip '" << chip
            << "', expected one of sm_80, sm_86, sm_89, sm_90, sm_100, sm_120";
        return signalPassFailure();
      }
      targets.push_back(NVVM::NVVMTargetAttr::get(
          context, /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, features));
    }
    std::string why;
    if (virtualGpu && !findHostCpu(virtualCpu, "", why)) {
      getOperation().emitError() << "virtual GPU: " << why;
      return signalPassFailure();
    }
    if (virtualGpu)
      targets.push_back(kernel::VirtualTargetAttr::get(
          context, /*O=*/3, StringRef(virtualCpu), "", instrument));
    if (targets.empty()) {
      getOperation().emitError("no device to compile kernels for");
      return signalPassFailure();
    }
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (module.getTargets())
        continue;
      module.setTargetsAttr(ArrayAttr::get(context, targets));
      module.setOffloadingHandlerAttr(kernel::BinaryTableAttr::get(context));
    }
  }
};
} // namespace
