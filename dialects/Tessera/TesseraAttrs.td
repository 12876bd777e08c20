//===- TesseraAttrs.td - layout attributes and enums -------*- tablegen -*-===//
#ifndef TESSERA_ATTRS
#define TESSERA_ATTRS

include "dialects/Tessera/TesseraDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tessera_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TesseraDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tessera_MeshAttr : Tessera_Attr<"Mesh", "mesh"> {
  let summary = "named grid of ranks";
  let description = [{
    The grid over which a program is sharded, first axis slowest:
    `#tessera.mesh<"dp" = 2, "tp" = 4>`. Axis names are distinct, sizes positive.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr", "axis names">:$names,
    ArrayRefParameter<"int64_t", "axis sizes">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The mesh as a plain value.
    ::tessera::Mesh getMesh() const;
    static MeshAttr get(::mlir::MLIRContext *context, const ::tessera::Mesh &mesh);
  }];
}

def Tessera_ShardingAttr : Tessera_Attr<"Sharding", "sharding"> {
  let summary = "how a tensor lies on the mesh";
  let description = [{
    For each dimension the axes that split it, major first, and the axes over
    which a reduction is pending:
    `#tessera.sharding<[{"dp"}, {}, {"tp"} ]>`,
    `#tessera.sharding<[{}, {} ] partial sum {"tp"}>`. An axis occurs at most once.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::ArrayAttr", "axis names per dimension">:$dims,
    "::mlir::ArrayAttr":$partial,
    "::tessera::ReductionKind":$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The sharding on `mesh`; fails with the name of an axis that it lacks.
    ::llvm::Expected<::tessera::TensorSharding> resolve(const ::tessera::Mesh &mesh) const;
    static ShardingAttr get(::mlir::MLIRContext *context, const ::tessera::Mesh &mesh,
                            const ::tessera::TensorSharding &sharding);
  }];
}

def Tessera_CheckpointAttr : Tessera_Attr<"Checkpoint", "checkpoint"> {
  let summary = "where a parameter lies in the checkpoint";
  let description = [{
    The tensor's name (`{layer}` stands for the layer number) and, where the
    parameter is a part of a fused tensor, how it is carved out: reshape the
    stored tensor to `reshape`, take `index` along `dim`, flatten to the
    parameter's shape. `reshape` is empty where the tensor is taken whole.
    `#tessera.checkpoint<"transformer.h.{layer}.attn.c_attn.weight" view [768, 3, 768] dim 1 index 0>`
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    OptionalArrayRefParameter<"int64_t">:$reshape,
    DefaultValuedParameter<"int64_t", "0">:$dim,
    DefaultValuedParameter<"int64_t", "0">:$index);
  let hasCustomAssemblyFormat = 1;
}

def Tessera_ActivationKind : I32EnumAttr<"ActivationKind", "activation function", [
    I32EnumAttrCase<"Gelu", 0, "gelu">,
    I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"Silu", 2, "silu">,
    I32EnumAttrCase<"Relu", 3, "relu">]> {
  let cppNamespace = "::tessera";
  let genSpecializedAttr = 0;
}
def Tessera_ActivationAttr : EnumAttr<TesseraDialect, Tessera_ActivationKind, "activation">;

def Tessera_WeightLayout : I32EnumAttr<"WeightLayout", "order of a weight matrix's dimensions", [
    I32EnumAttrCase<"OutIn", 0, "out_in">,
    I32EnumAttrCase<"InOut", 1, "in_out">]> {
  let cppNamespace = "::tessera";
  let genSpecializedAttr = 0;
}
def Tessera_WeightLayoutAttr : EnumAttr<TesseraDialect, Tessera_WeightLayout, "weight_layout">;

def Tessera_RotaryScaling : I32EnumAttr<"RotaryScaling", "variant of rotary frequency scaling", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Llama3", 2, "llama3">,
    I32EnumAttrCase<"Yarn", 3, "yarn">]> {
  let cppNamespace = "::tessera";
  let genSpecializedAttr = 0;
}

def Tessera_RotaryAttr : Tessera_Attr<"Rotary", "rotary"> {
  let summary = "parameters of rotary position embedding";
  let description = [{
    `theta`: base of the geometric sequence of frequencies; `dim`: how many
    leading elements of each head rotate; `scaling` with its parameters as in
    the `rope_scaling` entry of a model's config.json. Inverse frequencies and
    the attention factor follow from these alone (`getInverseFrequencies`).
    - `linear`: needs `factor`.
    - `llama3`: needs `factor`, `low_freq_factor`, `high_freq_factor` and
      `original_positions`.
    - `yarn` (Peng et al. 2023, arXiv 2309.00071): needs `factor` and
      `original_positions`; `beta_fast` is 32, `beta_slow` 1 without them;
      without `attention_factor` it follows from `factor`, and from `mscale`
      and `mscale_all_dim` where both are given; `truncate` rounds the range
      of the ramp to whole dimensions.
  }];
  let parameters = (ins
    "::mlir::FloatAttr":$theta,
    "int64_t":$dim,
    DefaultValuedParameter<"::tessera::RotaryScaling", "::tessera::RotaryScaling::None">:$scaling,
    OptionalParameter<"::mlir::FloatAttr">:$factor,
    OptionalParameter<"::mlir::FloatAttr">:$low_freq_factor,
    OptionalParameter<"::mlir::FloatAttr">:$high_freq_factor,
    OptionalParameter<"::mlir::FloatAttr">:$beta_fast,
    OptionalParameter<"::mlir::FloatAttr">:$beta_slow,
    OptionalParameter<"::mlir::FloatAttr">:$attention_factor,
    OptionalParameter<"::mlir::FloatAttr">:$mscale,
    OptionalParameter<"::mlir::FloatAttr">:$mscale_all_dim,
    DefaultValuedParameter<"bool", "true">:$truncate,
    DefaultValuedParameter<"int64_t", "0">:$original_positions);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// `dim / 2` inverse frequencies after scaling.
    ::llvm::SmallVector<double> getInverseFrequencies() const;
    /// Factor on cos and sin (1 but for yarn).
    double getCosSinFactor() const;
  }];
}

#endif // TESSERA_ATTRS
