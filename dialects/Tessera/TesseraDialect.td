//===- TesseraDialect.td - the transformer graph dialect ---*- tablegen -*-===//
#ifndef TESSERA_DIALECT
#define TESSERA_DIALECT

include "mlir/IR/OpBase.td"

def TesseraDialect : Dialect {
  let name = "tessera";
  let cppNamespace = "::tessera";
  let summary = "Transformer and mixture-of-experts models as graphs of tensors";
  let description = [{
    A model is a sequence of block calls: `tessera.layers` calls one block
    function for a range of layers, `tessera.get_parameter` inside the block
    reads the current layer's parameter.

    Activations are `[batch, sequence, width]`. Heads are never a dimension of
    their own: an op that needs them has a `head_dim` attribute and derives the
    head count from the width, so splitting the width over ranks splits heads.

    The same ops describe the whole model and one rank's share of it; after
    partitioning, shapes are local and the collectives are explicit ops that
    name mesh axes.

    Attributes that other rooms hang on their ops: `tessera.mesh` (module),
    `tessera.model` (module, a dictionary of facts), `tessera.sharding` (on a
    function's argument or result, or on an op: the sharding of its first result). Where a
    module has a mesh, every axis that a sharding or a collective names must be
    on it, and group sizes must be the product of the axes' sizes.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    /// Registers the attributes (their storage is known to TesseraAttrs.cpp only).
    void registerAttributes();
  }];
}

#endif // TESSERA_DIALECT
