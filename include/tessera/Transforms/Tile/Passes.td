//===- Passes.td - how each kernel is made -----------------*- tablegen -*-===//
#ifndef TESSERA_TRANSFORMS_TILE_PASSES
#define TESSERA_TRANSFORMS_TILE_PASSES

include "mlir/Pass/PassBase.td"

def SelectTiles : Pass<"tessera-select-tiles", "::mlir::ModuleOp"> {
  let summary = "chooses the configuration of every group's kernel";
  let description = [{
    Writes the attribute `config` of every `kernel.group` whose family has a
    choice (matmul, attention), from the group's spec and the limits of the
    chips. A `config` that is there already is kept if the chips can run it and
    is an error otherwise, so a decision can be edited by hand.

    Before:
    ```mlir
    %y = kernel.group matmul "linear" (...) -> tensor<1x64x96xbf16> { ... }
    ```
    After:
    ```mlir
    %y = kernel.group matmul "linear" (...)
        config #kernel.matmul_config<block_m = 64, block_n = 64, block_k = 64,
          warps_m = 2, warps_n = 2, stages = 3, group_m = 8> -> tensor<1x64x96xbf16> { ... }
    ```
  }];
  let options = [
    ListOption<"chips", "chips", "std::string",
               "chips that the program is to run on, say sm_80,sm_90; the "
               "choice is legal on each of them (default sm_80)">];
  let statistics = [
    Statistic<"numChosen", "chosen", "configurations chosen">,
    Statistic<"numKept", "kept", "configurations found and kept">];
  let dependentDialects = ["::tessera::kernel::KernelDialect"];
}

#endif // TESSERA_TRANSFORMS_TILE_PASSES
