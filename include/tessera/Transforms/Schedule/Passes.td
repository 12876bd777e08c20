//===- Passes.td - from launches on tensors to host code ---*- tablegen -*-===//
#ifndef TESSERA_TRANSFORMS_SCHEDULE_PASSES
#define TESSERA_TRANSFORMS_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def ExpandCopies : Pass<"tessera-expand-copies", "::mlir::ModuleOp"> {
  let summary = "makes every copy explicit that memory and collectives need";
  let description = [{
    A collective moves contiguous parts. Where it gathers, scatters or exchanges
    along a dimension that is not the leading one, this pass splits it into the
    collective on the leading dimension and `kernel.transpose` copies before or
    after it. It also copies values where the storage rules of the arena (see
    Analysis/ArenaPlan.h) need one: an operand of `tessera.layers` that is used
    again, a function that returns an argument or one value twice.

    ```mlir
    %g = tessera.all_gather %x over ["tp"] dim 1 ranks 4
        : tensor<2x32x64xf32> -> tensor<2x128x64xf32>
    // becomes
    %0 = tessera.all_gather %x over ["tp"] dim 0 ranks 4
        : tensor<2x32x64xf32> -> tensor<8x32x64xf32>
    %g = kernel.transpose %0 rows 4 cols 2 : tensor<8x32x64xf32> -> tensor<2x128x64xf32>
    ```
  }];
  let dependentDialects = ["::tessera::kernel::KernelDialect"];
  let statistics = [
    Statistic<"numRearranged", "rearranged", "Collectives that needed a copy">,
    Statistic<"numCopies", "copies", "Copies for the sake of storage">,
  ];
}

def Schedule : Pass<"tessera-schedule", "::mlir::ModuleOp"> {
  let summary = "host code: storage, launches, collectives, block loops";
  let description = [{
    Turns the tensor program of launches and collectives into host code by the
    program ABI (docs/design.md): `@tessera_forward` and one function per block,
    called in a loop over its layers. Tensors get the offsets of the ArenaPlan,
    parameters those of the parameter layout; `kernel.launch` becomes
    `gpu.launch_func`, collectives become `nccl` ops, rank-dependent scalars are
    computed from the rank's coordinates. The manifest becomes the constant
    `@tessera_manifest`.

    ```mlir
    %h = kernel.launch @kernels::@matmul_0 grid [2, 1, 1] block [128, 1, 1] shared 49152
        (%x, %w) : (tensor<1x64x96xf32>, tensor<96x96xf32>) -> tensor<1x64x96xf32>
    // becomes
    %a = memref.view %arena[%c0][] : memref<49152xi8, 1> to memref<64x96xf32, 1>
    ...
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@matmul_0
        blocks in (%c2, %c1, %c1) threads in (%c128, %c1, %c1)
        dynamic_shared_memory_size %c49152_i32 args(%a : ..., %w : ..., %h : ...)
    ```
  }];
  let dependentDialects = ["::tessera::nccl::NCCLDialect", "::mlir::scf::SCFDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::gpu::GPUDialect"];
}

#endif // TESSERA_TRANSFORMS_SCHEDULE_PASSES
