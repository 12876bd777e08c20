//===- Passes.td - printing what is counted ----------------*- tablegen -*-===//
#ifndef TESSERA_ANALYSIS_PASSES
#define TESSERA_ANALYSIS_PASSES

include "mlir/Pass/PassBase.td"

def PrintCounts : Pass<"tessera-print-counts", "::mlir::ModuleOp"> {
  let summary = "prints what one rank's program computes, moves and keeps";
  let description = [{
    One forward pass of one rank: floating-point operations, bytes read and
    written, calls and bytes of every collective by communicator, bytes of
    parameters and the peak of live activations. Works from `partition` to
    `tile`. Changes nothing.

    ```
    collective all_gather over tp, f32 x 512: 7 calls, 28672 bytes
    ```
  }];
  let options = [
    Option<"json", "json", "bool", "false", "print one JSON object">];
}

#endif // TESSERA_ANALYSIS_PASSES
