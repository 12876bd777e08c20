// RUN: tessera-opt %s --tessera-expand-copies | FileCheck %s

// CHECK-LABEL: func.func private @gather
func.func private @gather(%x: tensor<2x32x64xf32>) -> tensor<2x128x64xf32> {
  // CHECK: %[[G:.*]] = tessera.all_gather %arg0 over ["tp"] dim 0 ranks 4 : tensor<2x32x64xf32> -> tensor<8x32x64xf32>
  // CHECK: %[[T:.*]] = kernel.transpose %[[G]] rows 4 cols 2 : tensor<8x32x64xf32> -> tensor<2x128x64xf32>
  // CHECK: return %[[T]]
  %0 = tessera.all_gather %x over ["tp"] dim 1 ranks 4 : tensor<2x32x64xf32> -> tensor<2x128x64xf32>
  return %0 : tensor<2x128x64xf32>
}

// The parts are contiguous where all dimensions before have size 1.
// CHECK-LABEL: func.func private @leading
func.func private @leading(%x: tensor<1x32x64xf32>) -> tensor<1x128x64xf32> {
  // CHECK-NEXT: %[[G:.*]] = tessera.all_gather %arg0 over ["tp"] dim 1 ranks 4
  // CHECK-NEXT: return %[[G]]
  %0 = tessera.all_gather %x over ["tp"] dim 1 ranks 4 : tensor<1x32x64xf32> -> tensor<1x128x64xf32>
  return %0 : tensor<1x128x64xf32>
}

// CHECK-LABEL: func.func private @scatter
func.func private @scatter(%x: tensor<2x128x64xf32>) -> tensor<2x32x64xf32> {
  // CHECK: %[[T:.*]] = kernel.transpose %arg0 rows 2 cols 4 : tensor<2x128x64xf32> -> tensor<8x32x64xf32>
  // CHECK: %[[S:.*]] = tessera.reduce_scatter %[[T]] over ["tp"] dim 0 ranks 4 : tensor<8x32x64xf32> -> tensor<2x32x64xf32>
  %0 = tessera.reduce_scatter %x over ["tp"] dim 1 ranks 4 : tensor<2x128x64xf32> -> tensor<2x32x64xf32>
  return %0 : tensor<2x32x64xf32>
}

// CHECK-LABEL: func.func private @exchange
func.func private @exchange(%x: tensor<2x8x6xf32>) -> tensor<2x4x12xf32> {
  // CHECK: %[[P:.*]] = kernel.transpose %arg0 rows 2 cols 2 : tensor<2x8x6xf32> -> tensor<2x48xf32>
  // CHECK: %[[A:.*]] = tessera.all_to_all %[[P]] over ["tp"] split 0 concat 1 ranks 2 : tensor<2x48xf32> -> tensor<1x96xf32>
  // CHECK: %[[U:.*]] = kernel.transpose %[[A]] rows 2 cols 8 : tensor<1x96xf32> -> tensor<2x4x12xf32>
  %0 = tessera.all_to_all %x over ["tp"] split 1 concat 2 ranks 2 : tensor<2x8x6xf32> -> tensor<2x4x12xf32>
  return %0 : tensor<2x4x12xf32>
}

// CHECK-LABEL: func.func private @block
func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = kernel.transpose %arg0 rows 1 cols 1
  // CHECK: return %[[C]]
  return %x : tensor<4xf32>
}

// The layers overwrite their operand: inputs and values used later are copied.
// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[C0:.*]] = kernel.transpose %arg0 rows 1 cols 1
  // CHECK: %[[Y:.*]] = tessera.layers @block(%[[C0]])
  %y = tessera.layers @block(%x) first 0 count 2 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: %[[C1:.*]] = kernel.transpose %[[Y]] rows 1 cols 1
  // CHECK: %[[Z:.*]] = tessera.layers @block(%[[C1]])
  %z = tessera.layers @block(%y) first 2 count 1 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: return %[[Y]], %[[Z]]
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
