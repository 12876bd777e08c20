//===- Passes.td - host code to the LLVM dialect -----------*- tablegen -*-===//
#ifndef TESSERA_CONVERSION_HOSTTOLLVM_PASSES
#define TESSERA_CONVERSION_HOSTTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def HostToLLVM : Pass<"tessera-convert-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "host functions, launches and collectives to the LLVM dialect";
  let description = [{
    Lowers everything outside `gpu.module` in one conversion: structured and
    unstructured control flow, functions, memrefs, index arithmetic, NCCL ops.
    Memrefs in signatures become bare pointers, which makes `@tessera_forward`
    the C function of the program ABI; device memory is memory of address
    space 0 on the host. `gpu.launch_func` stays, on pointers and scalars: the
    offloading handler of the module it names translates it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::cf::ControlFlowDialect"];
}

#endif // TESSERA_CONVERSION_HOSTTOLLVM_PASSES
