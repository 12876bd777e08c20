//===- Passes.td - which ops become one kernel -------------*- tablegen -*-===//
#ifndef TESSERA_TRANSFORMS_FUSE_PASSES
#define TESSERA_TRANSFORMS_FUSE_PASSES

include "mlir/Pass/PassBase.td"

def Fuse : Pass<"tessera-fuse", "::mlir::ModuleOp"> {
  let summary = "wraps ops into the groups that become one kernel each";
  let description = [{
    After `partition`. Bias, activation, gate and residual go into the matrix
    product that feeds them, where the value between them has no other use; a
    residual add goes into the norm behind it; what is left of element-wise
    chains becomes one kernel; every other op becomes a group of its own.
    Collectives, parameter reads and rank-dependent offsets stay outside.

    Before:
    ```mlir
    %o = tessera.linear %a, %wo : tensor<1x16x64xf32>, tensor<64x64xf32> -> tensor<1x16x64xf32>
    %h = tessera.add %x, %o : tensor<1x16x64xf32>
    ```
    After:
    ```mlir
    %h = kernel.group matmul "linear_add" (%0 = %a : ..., %1 = %wo : ..., %2 = %x : ...) -> tensor<1x16x64xf32> {
      %3 = tessera.linear %0, %1 : ...
      %4 = tessera.add %2, %3 : ...
      kernel.yield %4 : tensor<1x16x64xf32>
    }
    ```
  }];
  let options = [
    Option<"fuseEpilogues", "fuse-epilogues", "bool", "true",
           "bias, activation, gate and residual into the product before them">,
    Option<"fuseNorms", "fuse-norms", "bool", "true",
           "a residual add into the norm behind it">,
    Option<"fuseChains", "fuse-chains", "bool", "true",
           "element-wise ops in a row into one kernel">];
  let statistics = [
    Statistic<"numGroups", "groups", "groups made">,
    Statistic<"numFused", "fused", "ops that share a group with another op">];
  let dependentDialects = ["::tessera::kernel::KernelDialect"];
}

#endif // TESSERA_TRANSFORMS_FUSE_PASSES
