//===- Passes.td - one rank's program ----------------------*- tablegen -*-===//
#ifndef TESSERA_TRANSFORMS_PARTITION_PASSES
#define TESSERA_TRANSFORMS_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def Partition : Pass<"tessera-partition", "::mlir::ModuleOp"> {
  let summary = "turns the global program into one rank's program";
  let description = [{
    Obeys the layout that `tessera-plan-layout` wrote (`tessera.mesh` on the
    module, shardings on parameters, function arguments and results that are a
    decision). Every op is asked for its partition rule with the shardings that
    its operands have; where it needs others, the cheapest sequence of
    collectives is inserted; the op is built anew on local shapes. Collectives
    of one value that several ops need are shared, reductions whose results
    are only added up become one of the sum.

    Types become local everywhere except on `tessera.parameter`, which keeps its
    global type beside its sharding. Function arguments and results carry
    `tessera.sharding` afterwards. A block function is partitioned once, however
    many layers call it.

    Before (`tp` = 2, sequence parallelism):
    ```mlir
    tessera.parameter @wo : tensor<64x64xf32> ... sharding #tessera.sharding<[{}, {"tp"} ]>
    %wo = tessera.get_parameter @wo : tensor<64x64xf32>
    %o = tessera.linear %a, %wo {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {} ]>}
        : tensor<1x16x64xf32>, tensor<64x64xf32> -> tensor<1x16x64xf32>
    ```
    After:
    ```mlir
    %wo = tessera.get_parameter @wo : tensor<64x32xf32>
    %p = tessera.linear %a, %wo : tensor<1x16x32xf32>, tensor<64x32xf32> -> tensor<1x16x64xf32>
    %o = tessera.reduce_scatter %p over ["tp"] dim 1 ranks 2 : tensor<1x16x64xf32> -> tensor<1x8x64xf32>
    ```
  }];
  let statistics = [
    Statistic<"numCollectives", "collectives", "collectives inserted between ops">,
    Statistic<"numShared", "shared", "collectives that another user had asked for">,
    Statistic<"numMerged", "merged", "reductions saved by adding partial sums first">,
    Statistic<"numFunctions", "functions", "functions partitioned">];
  let dependentDialects = ["::tessera::TesseraDialect"];
}

def VerifyPartition : Pass<"tessera-verify-partition", "::mlir::ModuleOp"> {
  let summary = "checks one rank's program against its shardings";
  let description = [{
    Derives the sharding of every value of a partitioned module anew, from the
    shardings of function arguments and parameters and the definitions of the
    local ops and collectives (not from the partition rules), and checks that
    - every op may be applied to operands that lie so: no pending reduction
      reaches an op that is not linear, contracted dimensions lie alike;
    - what a function returns and what a block call passes lies as the function
      says;
    - parameters have the local type of their sharding, offsets the start of
      the slice that they stand for.
    Together with the ops' own verifiers, which hold local sizes to each other,
    this means that each value's type is the local shape of its sharding.
    Changes nothing.
  }];
  let dependentDialects = ["::tessera::TesseraDialect"];
}

#endif // TESSERA_TRANSFORMS_PARTITION_PASSES
