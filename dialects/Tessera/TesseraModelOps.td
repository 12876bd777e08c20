//===- TesseraModelOps.td - parameters and block calls -----*- tablegen -*-===//
#ifndef TESSERA_MODEL_OPS
#define TESSERA_MODEL_OPS

include "dialects/Tessera/TesseraBase.td"

def Tessera_ParameterOp : Tessera_Op<"parameter", [Symbol]> {
  let summary = "a parameter of the model";
  let description = [{
    Declares a parameter: its global shape, its element type in the program (the
    checkpoint is converted when it is loaded), where it lies in the checkpoint,
    how it is drawn when there is none, and over how many layers it is repeated.

    With `layers first N count M` there is one tensor per layer of that range.
    `sharding` is written by the `plan` phase; `padded` says that dimension 0
    may be rounded up when it is split (embedding tables), the surplus rows zero.
    `init_std` is the standard deviation of a normal distribution; 0 with
    `init_mean` gives constants (norm weights: mean 1).

    ```mlir
    tessera.parameter @wq : tensor<576x576xbf16>
        checkpoint #tessera.checkpoint<"model.layers.{layer}.self_attn.q_proj.weight">
        layers first 0 count 30 {init_std = 0.02 : f64}
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<Tessera_Weight>:$type,
    Tessera_CheckpointAttr:$checkpoint,
    OptionalAttr<I64Attr>:$first_layer,
    OptionalAttr<I64Attr>:$layer_count,
    OptionalAttr<Tessera_ShardingAttr>:$sharding,
    UnitAttr:$padded,
    DefaultValuedAttr<F64Attr, "0.0">:$init_mean,
    DefaultValuedAttr<F64Attr, "0.0">:$init_std);
  let assemblyFormat = [{
    $sym_name `:` $type `checkpoint` $checkpoint
    (`layers` `first` $first_layer^ `count` $layer_count)?
    (`sharding` $sharding^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tessera_GetParameterOp : Tessera_Op<"get_parameter",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter, of the current layer inside a block";
  let description = [{
    The parameter's own `type` is always the global one. The result has that
    type, or, where the module has a mesh and the parameter a sharding, may have
    the local type that follows from them (a `padded` dimension 0 rounded up);
    so the declaration needs no change when `partition` makes shapes local.
    A parameter with `layers` is read in private functions, which
    `tessera.layers` calls.
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Tessera_Weight:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def Tessera_RotaryTableOp : Tessera_Op<"rotary_table", [Pure]> {
  let summary = "table of cosines and sines, a constant of the program";
  let description = [{
    `result[p][i] = (cos(p * f_i) * c, sin(p * f_i) * c)` for positions
    `p < positions`, with the inverse frequencies `f` and the factor `c` of the
    `rotary` attribute. Filled once when the program starts, in double precision.
    Shape `[positions, dim / 2, 2]`, f32.
  }];
  let arguments = (ins Tessera_RotaryAttr:$rotary);
  let results = (outs Tessera_F32Tensor:$result);
  let assemblyFormat = "$rotary attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tessera_LayersOp : Tessera_Op<"layers",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a block function once per layer of a range";
  let description = [{
    `x` runs through `@block` for layers `first`, `first + 1`, ...,
    `first + count - 1`; each call's results are the next call's operands, so
    operands and results have the same types. Every layered parameter that
    `@block` reads must be declared for all of these layers.

    ```mlir
    %y = tessera.layers @block(%x) first 0 count 30
        : tensor<2x256x576xbf16> -> tensor<2x256x576xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$block, Variadic<AnyType>:$operands_,
    I64Attr:$first, I64Attr:$count);
  let results = (outs Variadic<AnyType>:$results_);
  let assemblyFormat = [{
    $block `(` $operands_ `)` `first` $first `count` $count attr-dict `:`
    type($operands_) `->` type($results_)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_MODEL_OPS
