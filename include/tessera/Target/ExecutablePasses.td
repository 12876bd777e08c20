//===- ExecutablePasses.td - targets and images of kernels -*- tablegen -*-===//
#ifndef TESSERA_TARGET_EXECUTABLEPASSES
#define TESSERA_TARGET_EXECUTABLEPASSES

include "mlir/Pass/PassBase.td"

def AttachTargets : Pass<"tessera-attach-targets", "::mlir::ModuleOp"> {
  let summary = "says for which devices kernels are compiled";
  let description = [{
    Sets the targets of every `gpu.module` that has none: one `#nvvm.target` for
    each chip, with the PTX version the chip needs, and the virtual GPU; and the
    offloading handler that embeds all images in one table.
  }];
  let options = [
    ListOption<"chips", "chips", "std::string", "compute capabilities: sm_80,sm_90">,
    Option<"virtualGpu", "virtual-gpu", "bool", "true", "compile for the virtual GPU too">,
    Option<"virtualCpu", "virtual-cpu", "std::string", "\"native\"",
           "CPU that the virtual GPU's code is for">,
    Option<"instrument", "instrument", "bool", "false",
           "virtual-GPU code that the checking and counting modes can watch">];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::tessera::kernel::KernelDialect"];
}

def SerializeKernels : Pass<"tessera-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "lowered gpu.modules to gpu.binary, targets in parallel";
  let description = [{
    Compiles every `gpu.module` for each of its targets: a cubin for an
    `#nvvm.target` if `ptxas` is found, PTX otherwise (with a remark), a host
    object for `#kernel.virtual_target`. The targets are compiled on the
    context's threads.
  }];
  let options = [
    Option<"ptxOnly", "ptx-only", "bool", "false", "keep PTX even if ptxas is found">];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // TESSERA_TARGET_EXECUTABLEPASSES
