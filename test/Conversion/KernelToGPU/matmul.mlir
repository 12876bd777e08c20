// RUN: tessera-opt %s -tessera-convert-kernels-to-gpu | FileCheck %s

// A tensor-core kernel: 64x64 tiles of four 32x32 warps, k in steps of 32,
// three stages. Two k-steps per tile, each 2 x 4 products.

// CHECK-LABEL: gpu.module @kernels
// CHECK:       llvm.mlir.global external @tessera_dynamic_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK:       gpu.func @linear_{{[0-9]*}}(%{{.*}}: memref<128x64xbf16, #gpu.address_space<global>>, %{{.*}}: memref<128x64xbf16, #gpu.address_space<global>>, %{{.*}}: memref<128x128xbf16, #gpu.address_space<global>>) kernel
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// Two tiles are on their way before the loop.
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK:       nvvm.cp.async.commit.group
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK:       nvvm.cp.async.commit.group
// CHECK:       scf.for
// CHECK-NEXT:    nvvm.cp.async.wait.group 1
// CHECK-NEXT:    gpu.barrier
// CHECK-NOT:     scf.for
// CHECK-COUNT-8: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-SAME:      multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         scf.yield
// CHECK:       gpu.barrier
// The epilogue: sums come back as vectors of eight, results go out as 16 bytes.
// CHECK:       scf.for
// CHECK:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf32>
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<128x128xbf16, #gpu.address_space<global>>, vector<8xbf16>
// CHECK:       gpu.return

// CHECK-LABEL: func.func @bf16
// CHECK:       kernel.launch @kernels::@linear_{{[0-9]*}} grid [4, 1, 1] block [128, 1, 1] shared 24576
func.func @bf16(%x: tensor<1x128x64xbf16>, %w: tensor<128x64xbf16>) -> tensor<1x128x128xbf16> {
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x128x64xbf16>, %b = %w : tensor<128x64xbf16>)
      config #kernel.matmul_config<block_m = 64, block_n = 64, block_k = 32, warps_m = 2, warps_n = 2, stages = 3, group_m = 8>
      -> tensor<1x128x128xbf16> {
    %0 = tessera.linear %a, %b : tensor<1x128x64xbf16>, tensor<128x64xbf16> -> tensor<1x128x128xbf16>
    kernel.yield %0 : tensor<1x128x128xbf16>
  }
  return %y : tensor<1x128x128xbf16>
}
