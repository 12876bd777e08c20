//===- Ptx.cpp - Device code to PTX ---------------------------------------===//
//
// Upstream's NVVM target could do this, but it reads libdevice on the way and
// leaves the PTX version to the caller; here the chip decides.
//
//===----------------------------------------------------------------------===//

#include "tessera/Target/Ptx.h"

#include "mlir/Target/LLVM/ModuleToObject.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace {
class PtxEmitter : public LLVM::ModuleToObject {
public:
  using ModuleToObject::ModuleToObject;

protected:
  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &llvmModule) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return getOperation().emitError()
             << "LLVM has no NVPTX target for chip '" << chip << "'";
    FailureOr<SmallString<0>> isa = translateModuleToISA(
        llvmModule, **machine, [&] { return getOperation().emitError(); });
    if (failed(isa))
      return failure();
    return SmallVector<char, 0>(isa->begin(), isa->end());
  }
};

/// Ops that the NVPTX back end would abort the process on, or link against
/// something that is not there.
LogicalResult verifyDeviceModule(gpu::GPUModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    if (auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
        func && func.isExternal() && func.getName().starts_with("__nv_")) {
      op->emitError() << "call of libdevice function '" << func.getName()
                      << "', which is not linked";
      return WalkResult::interrupt();
    }
    if (isa<UnrealizedConversionCastOp>(op) ||
        !isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect, gpu::GPUDialect>(
            op->getDialect())) {
      op->emitError() << "'" << op->getName()
                      << "' is left after the device lowering";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
} // namespace

std::string tessera::ptxFeaturesForChip(StringRef chip) {
  // PTX ISA, release notes: the version that introduced the chip, or 7.8, which
  // is what the ptxas of Debian 12's own CUDA toolkit (11.8) takes at most.
  return llvm::StringSwitch<std::string>(chip)
      .Cases({"sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"},
             "+ptx78")
      .Case("sm_90a", "+ptx80")
      .Cases({"sm_100", "sm_100a"}, "+ptx86")
      .Cases({"sm_120", "sm_120a"}, "+ptx87")
      .Default("");
}

std::optional<std::string> tessera::emitPtx(gpu::GPUModuleOp module,
                                            StringRef chip) {
  std::string features = ptxFeaturesForChip(chip);
  if (features.empty()) {
    module.emitError() << "unknown chip '" << chip
                       << "', expected one of sm_70, sm_75, sm_80, sm_86, "
                          "sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
                          "sm_120, sm_120a";
    return std::nullopt;
  }
  if (failed(verifyDeviceModule(module)))
    return std::nullopt;
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  PtxEmitter emitter(*module, "nvptx64-nvidia-cuda", chip, features,
                     /*optLevel=*/3);
  std::optional<SmallVector<char, 0>> text = emitter.run();
  if (!text)
    return std::nullopt;
  return std::string(text->begin(), text->end());
}
