// RUN: tessera-opt %s -tessera-convert-kernels-to-gpu | FileCheck %s

// Exact f32: vectors of fused multiply-adds, no tensor core, no asynchronous
// copy. The rows of 7 elements are read one element at a time, behind a test of
// k, which 16 does not divide; rows past the fifth are row 4 again.

// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:   nvvm.mma.sync
// CHECK-NOT:   nvvm.cp.async
// CHECK:       gpu.func @linear_{{[0-9]*}}({{.*}}memref<5x7xf32, #gpu.address_space<global>>, {{.*}}memref<3x7xf32, #gpu.address_space<global>>, {{.*}}memref<5x3xf32, #gpu.address_space<global>>)
// CHECK:       %[[LAST:.*]] = arith.constant 4 : index
// CHECK:       arith.minui %{{.*}}, %[[LAST]] : index
// CHECK:       arith.cmpi ult
// CHECK-NEXT:  scf.if %{{.*}} -> (vector<1xf32>)
// CHECK-NEXT:    llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<1xf32>
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           llvm.intr.fma(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK:           scf.yield
// CHECK:         gpu.barrier
// CHECK:       gpu.return

// CHECK-LABEL: func.func @f32
// CHECK:       kernel.launch @kernels::@linear_{{[0-9]*}} grid [1, 1, 1] block [32, 1, 1]
func.func @f32(%x: tensor<1x5x7xf32>, %w: tensor<3x7xf32>) -> tensor<1x5x3xf32> {
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x5x7xf32>, %b = %w : tensor<3x7xf32>)
      config #kernel.matmul_config<block_m = 32, block_n = 32, block_k = 16, warps_m = 1, warps_n = 1, stages = 2, group_m = 8>
      -> tensor<1x5x3xf32> {
    %0 = tessera.linear %a, %b : tensor<1x5x7xf32>, tensor<3x7xf32> -> tensor<1x5x3xf32>
    kernel.yield %0 : tensor<1x5x3xf32>
  }
  return %y : tensor<1x5x3xf32>
}
