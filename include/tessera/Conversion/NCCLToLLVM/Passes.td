//===- Passes.td - calls of the NCCL library ---------------*- tablegen -*-===//
#ifndef TESSERA_CONVERSION_NCCLTOLLVM_PASSES
#define TESSERA_CONVERSION_NCCLTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def NCCLToLLVM : Pass<"tessera-convert-nccl-to-llvm", "::mlir::ModuleOp"> {
  let summary = "nccl ops to calls of the library";
  let description = [{
    Each op becomes a call with the signature of nccl.h. The count is the number
    of elements of the memref, the data type follows from its element type. A
    failing call ends the program in the library's entry point (lib/Runtime
    defines the symbols and forwards them), with a message that names the call;
    the returned code is therefore not looked at again.

    ```mlir
    nccl.all_reduce sum %x, %y comm %comm stream %stream
        : memref<128xf32>, memref<128xf32>, !llvm.ptr
    // becomes
    %r = llvm.call @ncclAllReduce(%px, %py, %c128, %c7, %c0, %comm, %stream)
        : (!llvm.ptr, !llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TESSERA_CONVERSION_NCCLTOLLVM_PASSES
