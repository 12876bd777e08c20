//===- Passes.td - deciding the layout ---------------------*- tablegen -*-===//
#ifndef TESSERA_TRANSFORMS_PLAN_PASSES
#define TESSERA_TRANSFORMS_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def PlanLayout : Pass<"tessera-plan-layout", "::mlir::ModuleOp"> {
  let summary = "decides where parameters and values lie on a mesh given by hand";
  let description = [{
    Writes attributes only: `tessera.mesh` on the module, a sharding on every
    `tessera.parameter` that an op reads, `tessera.sharding` on function
    arguments and on results that are a decision.

    Roles follow from the graph: a linear that reads the residual stream or a
    norm of it is column parallel, one that leads back into the stream row
    parallel, biases follow their linear, norms are replicated, embedding and
    output head are split over the vocabulary. With sequence parallelism the
    residual stream is split over the sequence along the tensor axis. Where there
    are fewer key-value heads than tensor-parallel ranks, the axis is split into
    `tp` (over which they are split) and `tpr` (over which they are replicated).

    Before:
    ```mlir
    tessera.parameter @wq : tensor<64x64xf32> checkpoint #tessera.checkpoint<"q">
    ```
    After `mesh=dp=2,tp=2`:
    ```mlir
    module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2>}
    tessera.parameter @wq : tensor<64x64xf32> checkpoint #tessera.checkpoint<"q">
        sharding #tessera.sharding<[{"tp"}, {} ]>
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"dp=1,tp=1\"",
           "axes and sizes in rank order, the first slowest: dp=2,tp=4">,
    Option<"sequenceParallel", "sequence-parallel", "::tessera::SequenceParallel",
           "::tessera::SequenceParallel::Auto",
           "split the residual stream over the sequence along tp", [{::llvm::cl::values(
             clEnumValN(::tessera::SequenceParallel::Auto, "auto",
                        "where tp is larger than 1 and divides the sequence"),
             clEnumValN(::tessera::SequenceParallel::On, "on", "always"),
             clEnumValN(::tessera::SequenceParallel::Off, "off", "never"))}]>];
  let statistics = [
    Statistic<"numParameters", "parameters", "parameters placed">,
    Statistic<"numDecisions", "decisions", "values whose sharding was decided">];
  let dependentDialects = ["::tessera::TesseraDialect"];
}

#endif // TESSERA_TRANSFORMS_PLAN_PASSES
