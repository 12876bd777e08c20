// RUN: tessera-opt %s --tessera-schedule | FileCheck %s

// A block that cannot work in place (its kernel reads all of x for each
// element): layers alternate between two buffers, which the loop swaps.
module attributes {gpu.container_module, tessera.model = {vocab = 8}} {
  gpu.module @kernels {
    gpu.func @mix(%a: memref<64xf32, #gpu.address_space<global>>, %o: memref<64xf32, #gpu.address_space<global>>) kernel { gpu.return }
  }
  func.func private @block(%x: tensor<64xf32>) -> tensor<64xf32> {
    %0 = kernel.launch @kernels::@mix grid [1, 1, 1] block [64, 1, 1] shared 0 (%x) : (tensor<64xf32>) -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  // CHECK: func.func private @block({{.*}}, %{{[^:]*}}: index, %[[IN:[^:]*]]: memref<256xi8, {{[^,]*}}>, %[[OUT:[^:]*]]: memref<256xi8
  // CHECK: memref.view %[[IN]]
  // CHECK: memref.view %[[OUT]]

  // CHECK-LABEL: func.func @tessera_forward
  func.func @forward(%x: tensor<64xf32>) -> tensor<64xf32> {
    %0 = kernel.launch @kernels::@mix grid [1, 1, 1] block [64, 1, 1] shared 0 (%x) : (tensor<64xf32>) -> tensor<64xf32>
    // An odd number of layers ends in the second buffer, at 512.
    // CHECK: %[[A:.*]] = memref.view %[[ARENA:.*]][%[[OA:.*]]][]
    // CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[OB:.*]]][]
    // CHECK: scf.for %{{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
    // CHECK-NEXT: func.call @block({{.*}}, %[[P]], %[[Q]])
    // CHECK-NEXT: scf.yield %[[Q]], %[[P]]
    %1 = tessera.layers @block(%0) first 0 count 3 : tensor<64xf32> -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}
