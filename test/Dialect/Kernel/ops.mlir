// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>) -> tensor<1x8x16xf32> {
  // CHECK: %{{.*}} = kernel.group matmul "linear_add" (%[[A:.*]] = %arg0 : tensor<1x8x16xf32>, %[[B:.*]] = %arg1 : tensor<16x16xf32>)
  // CHECK-SAME: config #kernel.matmul_config<block_m = 32, block_n = 32, block_k = 16, warps_m = 1, warps_n = 1, stages = 2, group_m = 8>
  // CHECK-SAME: attributes {note = "kept"} -> tensor<1x8x16xf32> {
  // CHECK-NEXT: tessera.linear %[[A]], %[[B]]
  %y = kernel.group matmul "linear_add" (%a = %x : tensor<1x8x16xf32>, %b = %w : tensor<16x16xf32>)
      config #kernel.matmul_config<block_m = 32, block_n = 32, block_k = 16, warps_m = 1, warps_n = 1, stages = 2, group_m = 8>
      attributes {note = "kept"} -> tensor<1x8x16xf32> {
    %0 = tessera.linear %a, %b : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
    %1 = tessera.add %a, %0 : tensor<1x8x16xf32>
    kernel.yield %1 : tensor<1x8x16xf32>
  }
  return %y : tensor<1x8x16xf32>
}

// Two results, no configuration, an index operand.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<1x8x16xf32>, %w: tensor<16xf32>, %t: tensor<1x8xi32>, %e: tensor<32x16xf32>, %o: index) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>) {
  // CHECK: kernel.group embedding "embedding" ({{.*}}, %{{.*}} = %{{.*}} : index) -> tensor<1x8x16xf32>
  %r = kernel.group embedding "embedding" (%a = %t : tensor<1x8xi32>, %b = %e : tensor<32x16xf32>, %c = %o : index) -> tensor<1x8x16xf32> {
    %0 = tessera.embedding %a, %b offset %c : tensor<1x8xi32>, tensor<32x16xf32> -> tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  // CHECK: %{{.*}}:2 = kernel.group row "add_rms_norm" {{.*}} -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>)
  %s:2 = kernel.group row "add_rms_norm" (%a = %x : tensor<1x8x16xf32>, %b = %r : tensor<1x8x16xf32>, %c = %w : tensor<16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>) {
    %0 = tessera.add %a, %b : tensor<1x8x16xf32>
    %1 = tessera.rms_norm %0, %c eps 1.0e-5 : tensor<1x8x16xf32>, tensor<16xf32>
    kernel.yield %0, %1 : tensor<1x8x16xf32>, tensor<1x8x16xf32>
  }
  return %s#0, %s#1 : tensor<1x8x16xf32>, tensor<1x8x16xf32>
}
