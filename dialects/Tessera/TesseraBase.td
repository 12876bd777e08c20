//===- TesseraBase.td - op classes and types of the dialect -*- tablegen -*-===//
#ifndef TESSERA_BASE
#define TESSERA_BASE

include "dialects/Tessera/TesseraAttrs.td"
include "tessera/Interfaces/OpInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Tessera_Op<string mnemonic, list<Trait> traits = []>
    : Op<TesseraDialect, mnemonic, traits>;

/// An op of the model graph: pure, with a cost and a partition rule. An op whose
/// local form is more than a clone lists "buildLocal" in `partitionOverrides`.
class Tessera_GraphOp<string mnemonic, list<Trait> traits = [],
                      list<string> partitionOverrides = []>
    : Tessera_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<CostOpInterface>,
        DeclareOpInterfaceMethods<PartitionOpInterface, partitionOverrides>]>;

/// An op that only one rank's program contains: pure, with a cost. It is built
/// by the partitioner and never partitioned again.
class Tessera_LocalOp<string mnemonic, list<Trait> traits = []>
    : Tessera_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<CostOpInterface>]>;

def Tessera_Float : AnyTypeOf<[F32, BF16]>;
/// `[batch, sequence, width]`
def Tessera_Activation : StaticShapeTensorOf<[Tessera_Float]> {
  let summary = "statically shaped f32 or bf16 tensor";
}
def Tessera_Weight : StaticShapeTensorOf<[Tessera_Float]>;
def Tessera_Tokens : StaticShapeTensorOf<[I32]>;
def Tessera_F32Tensor : StaticShapeTensorOf<[F32]>;

#endif // TESSERA_BASE
