//===- Passes.td - groups to device code -------------------*- tablegen -*-===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_PASSES
#define TESSERA_CONVERSION_KERNELTOGPU_PASSES

include "mlir/Pass/PassBase.td"

def Kernels : Pass<"tessera-convert-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "builds the device code of every group, replaces groups by launches";
  let description = [{
    For every distinct pair of spec and config one `gpu.func` is built into the
    module's `gpu.module @kernels`, and every `kernel.group` becomes a
    `kernel.launch` of its kernel. `kernel.transpose` and `tessera.slice` become
    launches of copy kernels. Groups of families with a choice must have their
    `config`.

    ```mlir
    %h = kernel.group matmul "linear" (%a = %x : tensor<1x64x96xf32>, %w = %wo : tensor<96x96xf32>)
        config #kernel.matmul_config<...> -> (tensor<1x64x96xf32>) { ... }
    // becomes
    gpu.module @kernels { gpu.func @linear_0(...) kernel { ... } }
    %h = kernel.launch @kernels::@linear_0 grid [2, 1, 1] block [128, 1, 1] shared 49152
        (%x, %wo) : (tensor<1x64x96xf32>, tensor<96x96xf32>) -> tensor<1x64x96xf32>
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Distinct kernels built">,
    Statistic<"numLaunches", "launches", "Launches">,
  ];
}

#endif // TESSERA_CONVERSION_KERNELTOGPU_PASSES
