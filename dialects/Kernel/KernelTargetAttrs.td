//===- KernelTargetAttrs.td - Targets of device code -------*- tablegen -*-===//
//
// The virtual GPU as a target of gpu.module, and the offloading handler that
// keeps every object of a gpu.binary. Both only promise their interfaces; the
// work is done in lib/Target/Virtual. Included by KernelAttrs.td.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECTS_KERNEL_KERNELTARGETATTRS_TD
#define TESSERA_DIALECTS_KERNEL_KERNELTARGETATTRS_TD

include "dialects/Kernel/KernelDialect.td"
include "mlir/Dialect/GPU/IR/CompilationAttrInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def Kernel_VirtualTargetAttr : AttrDef<KernelDialect, "VirtualTarget"> {
  let mnemonic = "virtual_target";
  let summary = "compile a gpu.module to host code for the virtual GPU";
  let description = [{
    Target attribute of a `gpu.module`. Its object is a relocatable host object
    that defines `tessera_virtual_object_<module>` and calls the functions of
    `tessera/Runtime/Virtual/DeviceAbi.h`.

    - `O`: optimisation level, 0 to 3.
    - `cpu`: an LLVM CPU name, or `native` for the compiling machine.
    - `features`: extra LLVM feature string.
    - `instrument`: loads, stores and arithmetic call the runtime, which the
      checking and counting modes need.

    ```mlir
    gpu.module @k [#nvvm.target<chip = "sm_90">, #kernel.virtual_target<O = 2>] {
      ...
    }
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int", "3", "optimisation level">:$O,
    StringRefParameter<"LLVM name of the host CPU", "\"native\"">:$cpu,
    StringRefParameter<"LLVM features of the host CPU", "\"\"">:$features,
    DefaultValuedParameter<"bool", "false", "call the checker">:$instrument
  );
  let assemblyFormat =
      "(`<` struct($O, $cpu, $features, $instrument)^ `>`)?";
  let genVerifyDecl = 1;
}

def Kernel_BinaryTableAttr : AttrDef<KernelDialect, "BinaryTable", [
    OffloadingTranslationAttrTrait]> {
  let mnemonic = "binary_table";
  let summary = "embed every object of a gpu.binary; the runtime picks one";
  let description = [{
    Offloading handler of a `gpu.module` / `gpu.binary`. Embeds cubins and PTX
    as data and refers to virtual-GPU code by symbol, in one
    `tessera_binary_table` (see `tessera/Runtime/BinaryTable.h`). A
    `gpu.launch_func` becomes a call of `tessera_launch`. Nothing runs before
    `main`: there is no constructor, so the device is chosen when the program
    starts.

    ```mlir
    gpu.module @k <#kernel.binary_table> [#nvvm.target, #kernel.virtual_target] {
      ...
    }
    ```
  }];
}

#endif // TESSERA_DIALECTS_KERNEL_KERNELTARGETATTRS_TD
