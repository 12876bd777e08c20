// Layouts written by hand.
// RUN: tessera-opt %s --split-input-file --tessera-partition --tessera-verify-partition | FileCheck %s

// Several readers of one value share its collective.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: tessera.all_gather
// CHECK-NOT: tessera.all_gather
// CHECK: return
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @a : tensor<16x8xf32> checkpoint <"a"> sharding <[{"tp"}, {}]>
  tessera.parameter @b : tensor<32x8xf32> checkpoint <"b"> sharding <[{"tp"}, {}]>
  func.func @shared(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {}]>}) -> (tensor<2x4x16xf32>, tensor<2x4x32xf32>) {
    %a = tessera.get_parameter @a : tensor<16x8xf32>
    %b = tessera.get_parameter @b : tensor<32x8xf32>
    %0 = tessera.linear %x, %a : tensor<2x4x8xf32>, tensor<16x8xf32> -> tensor<2x4x16xf32>
    %1 = tessera.linear %x, %b : tensor<2x4x8xf32>, tensor<32x8xf32> -> tensor<2x4x32xf32>
    return %0, %1 : tensor<2x4x16xf32>, tensor<2x4x32xf32>
  }
}

// -----

// Two pending sums are added first and reduced once.
// CHECK-LABEL: func.func @parallel_branches
// CHECK: %[[P:.*]] = tessera.add %{{.*}}, %{{.*}} : tensor<2x4x8xf32>
// CHECK-NEXT: %[[S:.*]] = tessera.reduce_scatter %[[P]] over ["tp"] dim 1 ranks 2
// CHECK-NEXT: return %[[S]] : tensor<2x2x8xf32>
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @a : tensor<8x16xf32> checkpoint <"a"> sharding <[{}, {"tp"} ]>
  tessera.parameter @b : tensor<8x32xf32> checkpoint <"b"> sharding <[{}, {"tp"} ]>
  func.func @parallel_branches(%x: tensor<2x4x16xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}, %y: tensor<2x4x32xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}) -> tensor<2x4x8xf32> {
    %a = tessera.get_parameter @a : tensor<8x16xf32>
    %b = tessera.get_parameter @b : tensor<8x32xf32>
    %0 = tessera.linear %x, %a : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
    %1 = tessera.linear %y, %b : tensor<2x4x32xf32>, tensor<8x32xf32> -> tensor<2x4x8xf32>
    %2 = tessera.add %0, %1 {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {}]>} : tensor<2x4x8xf32>
    return %2 : tensor<2x4x8xf32>
  }
}

// -----

// From a split sequence to split heads without a full copy on any rank.
// CHECK-LABEL: func.func @exchange
// CHECK: %[[Q:.*]] = tessera.all_to_all %arg0 over ["tp"] split 2 concat 1 ranks 2 : tensor<2x2x16xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT: tessera.layers @block(%[[Q]]) first 0 count 4 : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func private @block(%x: tensor<2x4x16xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}) -> tensor<2x4x16xf32> {
    %0 = tessera.activation relu %x : tensor<2x4x16xf32>
    return %0 : tensor<2x4x16xf32>
  }
  func.func @exchange(%x: tensor<2x4x16xf32> {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {}]>}) -> tensor<2x4x16xf32> {
    %0 = tessera.layers @block(%x) first 0 count 4 : tensor<2x4x16xf32> -> tensor<2x4x16xf32>
    return %0 : tensor<2x4x16xf32>
  }
}

// -----

// Expert parallelism: tokens travel to their experts and back.
// CHECK-LABEL: func.func @routed
// CHECK: %[[R:.*]] = tessera.permute %arg0
// CHECK-NEXT: %[[T:.*]] = tessera.all_to_all %[[R]] over ["dp"] split 0 concat 1 ranks 2 : tensor<4x4x24xf32> -> tensor<2x8x24xf32>
// CHECK-NEXT: %[[L:.*]] = tessera.grouped_linear %[[T]]
// CHECK-NEXT: %[[B:.*]] = tessera.all_to_all %[[L]] over ["dp"] split 1 concat 0 ranks 2 : tensor<2x8x24xf32> -> tensor<4x4x24xf32>
// CHECK-NEXT: tessera.combine %[[B]]
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2>} {
  tessera.parameter @router : tensor<4x24xf32> checkpoint <"r"> sharding <[{}, {}]>
  tessera.parameter @up : tensor<4x24x24xf32> checkpoint <"e"> sharding <[{"dp"}, {}, {}]>
  func.func @routed(%x: tensor<4x4x24xf32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}, {}]>}) -> tensor<4x4x24xf32> {
    %w = tessera.get_parameter @router : tensor<4x24xf32>
    %e = tessera.get_parameter @up : tensor<4x24x24xf32>
    %p:2 = tessera.router %x, %w top_k 2 : tensor<4x4x24xf32>, tensor<4x24xf32> -> tensor<4x4x2xf32>, tensor<4x4x2xi32>
    %r = tessera.permute %x, %p#1 : tensor<4x4x24xf32>, tensor<4x4x2xi32> -> tensor<4x8x24xf32>
    %l = tessera.grouped_linear %r, %e : tensor<4x8x24xf32>, tensor<4x24x24xf32> -> tensor<4x8x24xf32>
    %y = tessera.combine %l, %p#0, %p#1 : tensor<4x8x24xf32>, tensor<4x4x2xf32>, tensor<4x4x2xi32> -> tensor<4x4x24xf32>
    return %y : tensor<4x4x24xf32>
  }
}
