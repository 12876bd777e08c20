// Reductions whose results are only added up become one.
// RUN: tessera-opt %s --tessera-partition --tessera-verify-partition -split-input-file | FileCheck %s

// Attention and MLP of a parallel residual: products pending over tp, biases,
// the stream.
// CHECK-LABEL: func.func @parallel(
// CHECK-SAME: %[[X:.*]]: tensor<2x8x16xf32>
// CHECK: %[[A:.*]] = tessera.linear
// CHECK: %[[M:.*]] = tessera.linear
// CHECK: %[[SUM:.*]] = tessera.add %[[A]], %[[M]]
// CHECK: %[[R:.*]] = tessera.all_reduce %[[SUM]] over ["tp"]
// CHECK: %[[B0:.*]] = tessera.add_bias %[[R]],
// CHECK: %[[B1:.*]] = tessera.add_bias %[[B0]],
// CHECK: %[[Y:.*]] = tessera.add %[[X]], %[[B1]]
// CHECK-NOT: tessera.all_reduce
// CHECK: return %[[Y]]
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @wa : tensor<16x32xf32> checkpoint <"a"> sharding <[{}, {"tp"}]>
  tessera.parameter @wm : tensor<16x32xf32> checkpoint <"m"> sharding <[{}, {"tp"}]>
  tessera.parameter @ba : tensor<16xf32> checkpoint <"ba">
  tessera.parameter @bm : tensor<16xf32> checkpoint <"bm">
  func.func @parallel(%x: tensor<2x8x16xf32>, %a: tensor<2x8x32xf32>, %m: tensor<2x8x32xf32>) -> tensor<2x8x16xf32> {
    %wa = tessera.get_parameter @wa : tensor<16x32xf32>
    %wm = tessera.get_parameter @wm : tensor<16x32xf32>
    %ba = tessera.get_parameter @ba : tensor<16xf32>
    %bm = tessera.get_parameter @bm : tensor<16xf32>
    %0 = tessera.linear %a, %wa {tessera.sharding = #tessera.sharding<[{}, {}, {}]>} : tensor<2x8x32xf32>, tensor<16x32xf32> -> tensor<2x8x16xf32>
    %1 = tessera.add_bias %0, %ba : tensor<2x8x16xf32>, tensor<16xf32>
    %2 = tessera.add %x, %1 : tensor<2x8x16xf32>
    %3 = tessera.linear %m, %wm {tessera.sharding = #tessera.sharding<[{}, {}, {}]>} : tensor<2x8x32xf32>, tensor<16x32xf32> -> tensor<2x8x16xf32>
    %4 = tessera.add_bias %3, %bm : tensor<2x8x16xf32>, tensor<16xf32>
    %5 = tessera.add %2, %4 : tensor<2x8x16xf32>
    return %5 : tensor<2x8x16xf32>
  }
}

// -----

// In sequence the second half reads the sum of the first: two reductions.
// CHECK-LABEL: func.func @sequential(
// CHECK-COUNT-2: tessera.all_reduce
// CHECK-NOT: tessera.all_reduce
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @wa : tensor<16x32xf32> checkpoint <"a"> sharding <[{}, {"tp"}]>
  tessera.parameter @up : tensor<32x16xf32> checkpoint <"u"> sharding <[{"tp"}, {}]>
  tessera.parameter @wm : tensor<16x32xf32> checkpoint <"m"> sharding <[{}, {"tp"}]>
  func.func @sequential(%x: tensor<2x8x16xf32>, %a: tensor<2x8x32xf32>) -> tensor<2x8x16xf32> {
    %wa = tessera.get_parameter @wa : tensor<16x32xf32>
    %up = tessera.get_parameter @up : tensor<32x16xf32>
    %wm = tessera.get_parameter @wm : tensor<16x32xf32>
    %0 = tessera.linear %a, %wa {tessera.sharding = #tessera.sharding<[{}, {}, {}]>} : tensor<2x8x32xf32>, tensor<16x32xf32> -> tensor<2x8x16xf32>
    %1 = tessera.add %x, %0 : tensor<2x8x16xf32>
    %2 = tessera.linear %1, %up : tensor<2x8x16xf32>, tensor<32x16xf32> -> tensor<2x8x32xf32>
    %3 = tessera.linear %2, %wm {tessera.sharding = #tessera.sharding<[{}, {}, {}]>} : tensor<2x8x32xf32>, tensor<16x32xf32> -> tensor<2x8x16xf32>
    %4 = tessera.add %1, %3 : tensor<2x8x16xf32>
    return %4 : tensor<2x8x16xf32>
  }
}
