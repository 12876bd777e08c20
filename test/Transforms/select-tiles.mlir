// RUN: tessera-opt %s --tessera-select-tiles="chips=sm_80,sm_90" | FileCheck %s
// RUN: tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tp=2" --tessera-partition --tessera-fuse --tessera-select-tiles | FileCheck %s --check-prefix=LLAMA

// Every product and every attention gets its configuration, nothing else does.
// LLAMA-NOT: kernel.group matmul {{[^#]*}} -> tensor
// LLAMA-NOT: kernel.group attention {{[^#]*}} -> tensor
// LLAMA-NOT: kernel.group row {{.*}} config
// LLAMA: kernel.group matmul {{.*}} config #kernel.matmul_config<block_m
// LLAMA: kernel.group attention {{.*}} config #kernel.attention_config<block_q

// CHECK-LABEL: func.func @choose
func.func @choose(%x: tensor<1x64x96xbf16>, %w: tensor<96x96xbf16>) -> tensor<1x64x96xbf16> {
  // CHECK: config #kernel.matmul_config<block_m =
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x64x96xbf16>, %b = %w : tensor<96x96xbf16>) -> tensor<1x64x96xbf16> {
    %0 = tessera.linear %a, %b : tensor<1x64x96xbf16>, tensor<96x96xbf16> -> tensor<1x64x96xbf16>
    kernel.yield %0 : tensor<1x64x96xbf16>
  }
  return %y : tensor<1x64x96xbf16>
}

// A configuration made by hand is obeyed.
// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<1x64x96xbf16>, %w: tensor<96x96xbf16>) -> tensor<1x64x96xbf16> {
  // CHECK: config #kernel.matmul_config<block_m = 32, block_n = 64, block_k = 64, warps_m = 2, warps_n = 2, stages = 2, group_m = 1>
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x64x96xbf16>, %b = %w : tensor<96x96xbf16>)
      config #kernel.matmul_config<block_m = 32, block_n = 64, block_k = 64, warps_m = 2, warps_n = 2, stages = 2, group_m = 1> -> tensor<1x64x96xbf16> {
    %0 = tessera.linear %a, %b : tensor<1x64x96xbf16>, tensor<96x96xbf16> -> tensor<1x64x96xbf16>
    kernel.yield %0 : tensor<1x64x96xbf16>
  }
  return %y : tensor<1x64x96xbf16>
}
