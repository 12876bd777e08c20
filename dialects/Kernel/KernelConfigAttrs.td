//===- KernelConfigAttrs.td - families and their configs ---*- tablegen -*-===//
//
// One config attribute per kernel family that has choices, mirroring the
// config struct of the same name in Conversion/KernelToGPU/KernelSpec.h. A
// config decides how fast a kernel is, never what it computes.
//
//===----------------------------------------------------------------------===//
#ifndef KERNEL_CONFIG_ATTRS
#define KERNEL_CONFIG_ATTRS

include "dialects/Kernel/KernelDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Kernel_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<KernelDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Kernel_Family : I32EnumAttr<"Family", "family of kernels", [
    I32EnumAttrCase<"Matmul", 0, "matmul">,
    I32EnumAttrCase<"Attention", 1, "attention">,
    I32EnumAttrCase<"Row", 2, "row">,
    I32EnumAttrCase<"Elementwise", 3, "elementwise">,
    I32EnumAttrCase<"Embedding", 4, "embedding">,
    I32EnumAttrCase<"CrossEntropy", 5, "cross_entropy">]> {
  let cppNamespace = "::tessera::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_FamilyAttr : EnumAttr<KernelDialect, Kernel_Family, "family">;

def Kernel_MatmulConfigAttr : Kernel_Attr<"MatmulConfig", "matmul_config"> {
  let summary = "tile, warps and pipeline depth of a matrix product";
  let parameters = (ins
    "int64_t":$block_m, "int64_t":$block_n, "int64_t":$block_k,
    "int64_t":$warps_m, "int64_t":$warps_n,
    "int64_t":$stages, "int64_t":$group_m);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_AttentionConfigAttr : Kernel_Attr<"AttentionConfig", "attention_config"> {
  let summary = "tile, warps and pipeline depth of attention";
  let parameters = (ins
    "int64_t":$block_q, "int64_t":$block_kv, "int64_t":$warps, "int64_t":$stages);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // KERNEL_CONFIG_ATTRS
