// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-convert-kernels-to-gpu | FileCheck %s

// Two groups of one spec and config share a kernel; the copies become launches.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @kernels
// CHECK: gpu.func @add_0(%{{.*}}: memref<64x16xf32, #gpu.address_space<global>>
// CHECK-NOT: gpu.func @add_1
// CHECK: gpu.func @transpose_0(%{{.*}}: memref<1024xf32, {{.*}}>, %{{.*}}: memref<1024xf32, {{[^)]*}}) kernel
// CHECK: gpu.func @slice_0(%{{.*}}: memref<1024xf32, {{.*}}>, %{{.*}}: memref<512xf32, {{.*}}>, %{{.*}}: i64) kernel
// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<2x32x16xf32>, %y: tensor<2x32x16xf32>) -> tensor<2x16x16xf32> {
  // CHECK: %[[A:.*]] = kernel.launch @kernels::@add_0 grid {{.*}} in_place [0, 0, 1, 0]{{ ?}}(%{{.*}}, %{{.*}})
  %0 = kernel.group elementwise "add" (%a = %x : tensor<2x32x16xf32>, %b = %y : tensor<2x32x16xf32>) -> tensor<2x32x16xf32> {
    %s = tessera.add %a, %b : tensor<2x32x16xf32>
    kernel.yield %s : tensor<2x32x16xf32>
  }
  // CHECK: %[[B:.*]] = kernel.launch @kernels::@add_0
  %1 = kernel.group elementwise "add" (%a = %0 : tensor<2x32x16xf32>, %b = %y : tensor<2x32x16xf32>) -> tensor<2x32x16xf32> {
    %s = tessera.add %a, %b : tensor<2x32x16xf32>
    kernel.yield %s : tensor<2x32x16xf32>
  }
  // CHECK: %[[T:.*]] = kernel.launch @kernels::@transpose_0 {{.*}}(%[[B]])
  %2 = kernel.transpose %1 rows 2 cols 4 : tensor<2x32x16xf32> -> tensor<2x32x16xf32>
  // CHECK: %[[I:.*]] = tessera.axis_index ["tp"]
  // CHECK: kernel.launch @kernels::@slice_0 {{.*}}(%[[T]], %[[I]])
  %3 = tessera.slice %2 over ["tp"] dim 1 ranks 2 : tensor<2x32x16xf32> -> tensor<2x16x16xf32>
  return %3 : tensor<2x16x16xf32>
}

// -----

func.func @no_config(%x: tensor<1x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x4x8xf32> {
  // expected-error @below {{this matrix product has no configuration yet; the tile phase (tessera-select-tiles) chooses one}}
  %0 = kernel.group matmul "linear" (%a = %x : tensor<1x4x8xf32>, %b = %w : tensor<8x8xf32>) -> tensor<1x4x8xf32> {
    %s = tessera.linear %a, %b : tensor<1x4x8xf32>, tensor<8x8xf32> -> tensor<1x4x8xf32>
    kernel.yield %s : tensor<1x4x8xf32>
  }
  return %0 : tensor<1x4x8xf32>
}

// -----

// expected-error @below {{'kernels' is the name of the module of generated kernels}}
func.func private @kernels()
