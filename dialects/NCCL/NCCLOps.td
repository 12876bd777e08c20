//===- NCCLOps.td - one op per NCCL call -------------------*- tablegen -*-===//
#ifndef NCCL_OPS
#define NCCL_OPS

include "dialects/NCCL/NCCLDialect.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Every call acts on the other ranks as well, so none may be dropped or moved
/// across another: all are said to read and write memory at large.
class NCCL_Op<string mnemonic, list<Trait> traits = []>
    : Op<NCCLDialect, mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

/// A contiguous buffer: static shape; layout and element type are verified.
def NCCL_Buffer : MemRefRankOf<[AnyType], [0, 1, 2, 3, 4, 5, 6]>;
def NCCL_Source : Arg<NCCL_Buffer, "sent buffer", [MemRead]>;
def NCCL_Target : Arg<NCCL_Buffer, "received buffer", [MemWrite]>;
def NCCL_Stream : Type<LLVM_AnyPointer.predicate, "stream (`cudaStream_t`)",
                       "::mlir::LLVM::LLVMPointerType">;

/// A collective from `send` to `recv`.
class NCCL_CollectiveOp<string mnemonic, dag extra = (ins)> : NCCL_Op<mnemonic> {
  let arguments = !con(extra, (ins NCCL_Source:$send, NCCL_Target:$recv,
    NCCL_CommType:$comm, NCCL_Stream:$stream));
  let hasVerifier = 1;
}

def NCCL_AllReduceOp : NCCL_CollectiveOp<"all_reduce", (ins NCCL_RedOpAttr:$op)> {
  let summary = "ncclAllReduce";
  let description = [{
    Reduces `send` over the communicator's ranks into every rank's `recv`, both
    of equal size. `send` and `recv` may be the same buffer (in place).
  }];
  let assemblyFormat = [{
    $op $send `,` $recv `comm` $comm `stream` $stream attr-dict
    `:` type($send) `,` type($recv) `,` type($stream)
  }];
}

def NCCL_AllGatherOp : NCCL_CollectiveOp<"all_gather", (ins I64Attr:$ranks)> {
  let summary = "ncclAllGather";
  let description = [{
    Concatenates the `send` buffers of the communicator's `ranks` ranks in rank
    order into every rank's `recv`.
  }];
  let assemblyFormat = [{
    $send `,` $recv `ranks` $ranks `comm` $comm `stream` $stream attr-dict
    `:` type($send) `,` type($recv) `,` type($stream)
  }];
}

def NCCL_ReduceScatterOp
    : NCCL_CollectiveOp<"reduce_scatter", (ins NCCL_RedOpAttr:$op, I64Attr:$ranks)> {
  let summary = "ncclReduceScatter";
  let description = [{
    Reduces `send` over the communicator's `ranks` ranks; rank `i` receives the
    `i`-th of `ranks` equal parts.
  }];
  let assemblyFormat = [{
    $op $send `,` $recv `ranks` $ranks `comm` $comm `stream` $stream attr-dict
    `:` type($send) `,` type($recv) `,` type($stream)
  }];
}

def NCCL_BroadcastOp : NCCL_CollectiveOp<"broadcast", (ins I32Attr:$root)> {
  let summary = "ncclBroadcast";
  let description = "Copies rank `root`'s `send` to every rank's `recv`.";
  let assemblyFormat = [{
    $send `,` $recv `root` $root `comm` $comm `stream` $stream attr-dict
    `:` type($send) `,` type($recv) `,` type($stream)
  }];
}

def NCCL_SendOp : NCCL_Op<"send"> {
  let summary = "ncclSend";
  let description = [{
    Sends `buffer` to rank `peer`, which must call the matching `nccl.recv`.
    Sends and receives that may proceed at once belong between
    `nccl.group_start` and `nccl.group_end`.
  }];
  let arguments = (ins NCCL_Source:$buffer, I32:$peer, NCCL_CommType:$comm,
    NCCL_Stream:$stream);
  let assemblyFormat = [{
    $buffer `peer` $peer `comm` $comm `stream` $stream attr-dict
    `:` type($buffer) `,` type($stream)
  }];
  let hasVerifier = 1;
}

def NCCL_RecvOp : NCCL_Op<"recv"> {
  let summary = "ncclRecv";
  let description = "Receives `buffer` from rank `peer`, see `nccl.send`.";
  let arguments = (ins NCCL_Target:$buffer, I32:$peer, NCCL_CommType:$comm,
    NCCL_Stream:$stream);
  let assemblyFormat = [{
    $buffer `peer` $peer `comm` $comm `stream` $stream attr-dict
    `:` type($buffer) `,` type($stream)
  }];
  let hasVerifier = 1;
}

def NCCL_GroupStartOp : NCCL_Op<"group_start"> {
  let summary = "ncclGroupStart";
  let description = [{
    Calls until the matching `nccl.group_end`, which must be in the same block,
    are launched as one.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def NCCL_GroupEndOp : NCCL_Op<"group_end"> {
  let summary = "ncclGroupEnd";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif // NCCL_OPS
