//===- NCCLDialect.td - the NCCL library as ops ------------*- tablegen -*-===//
#ifndef NCCL_DIALECT
#define NCCL_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def NCCLDialect : Dialect {
  let name = "nccl";
  let cppNamespace = "::tessera::nccl";
  let summary = "Communicators and stream-ordered collectives, one op per NCCL call";
  let description = [{
    Each op is one call of NVIDIA's collective library with that call's
    semantics: it enqueues work on a stream and returns. Buffers are memrefs in
    device memory with static shapes; a call's element count and data type are
    those of the memref, so they cannot disagree with the memory behind them.
    See docs/dialects/nccl.md.

    Reference: NVIDIA Collective Communication Library, user guide, "API".
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def NCCL_CommType : TypeDef<NCCLDialect, "Comm",
    [MemRefElementTypeInterface]> {
  let mnemonic = "comm";
  let summary = "a communicator (`ncclComm_t`)";
}

def NCCL_RedOp : I32EnumAttr<"RedOp", "reduction of a collective", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Avg", 4, "avg">]> {
  let cppNamespace = "::tessera::nccl";
  let genSpecializedAttr = 0;
}
def NCCL_RedOpAttr : EnumAttr<NCCLDialect, NCCL_RedOp, "red_op">;

#endif // NCCL_DIALECT
