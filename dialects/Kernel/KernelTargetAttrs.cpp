//===- KernelTargetAttrs.cpp - Targets of device code ---------------------===//

#include "dialects/Kernel/KernelDialect.h"

using namespace mlir;
using namespace tessera::kernel;

void KernelDialect::promiseTargetInterfaces() {
  declarePromisedInterface<gpu::TargetAttrInterface, VirtualTargetAttr>();
  declarePromisedInterface<gpu::OffloadingLLVMTranslationAttrInterface,
                           BinaryTableAttr>();
}

LogicalResult
VirtualTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, int O,
                          StringRef cpu, StringRef features, bool instrument) {
  if (O < 0 || O > 3)
    return emitError() << "expected 'O' to be 0, 1, 2 or 3, got " << O;
  if (cpu.empty())
    return emitError() << "expected 'cpu' to name a CPU, got an empty string; "
                          "\"native\" is the compiling machine";
  return success();
}
