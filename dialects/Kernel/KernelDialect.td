//===- KernelDialect.td - fused groups and their configuration -*- tablegen -*-===//
#ifndef KERNEL_DIALECT
#define KERNEL_DIALECT

include "mlir/IR/OpBase.td"

def KernelDialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::tessera::kernel";
  let summary = "Groups of tensor ops that become one kernel each";
  let description = [{
    `kernel.group` holds the ops that one kernel computes, says which family of
    kernels computes them, and carries the family's configuration once it is
    chosen. `kernel.launch` is what a group becomes when its device function
    exists. See docs/dialects/kernel.md.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let extraClassDeclaration = [{
    /// Discardable attribute of a device function: bytes behind each argument
    /// (an i64 array; 0 where the argument is no memref).
    static constexpr ::llvm::StringLiteral kParamBytesAttrName =
        "kernel.param_bytes";

    /// The target attributes only promise their interfaces; lib/Target/Virtual
    /// keeps the promise.
    void promiseTargetInterfaces();
    /// Registers the attributes (their storage is known to KernelAttrs.cpp only).
    void registerAttributes();
  }];
}

#endif // KERNEL_DIALECT
