// Every op parses, verifies and prints as it was written.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt | FileCheck %s

// CHECK: module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>, tessera.model = {layers = 2 : i64}}
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>, tessera.model = {layers = 2 : i64}} {
  // CHECK: tessera.parameter @embed : tensor<99x24xbf16> checkpoint <"embed.weight"> sharding <[{"tp"}, {}]> {init_std = 2.000000e-02 : f64, padded}
  tessera.parameter @embed : tensor<99x24xbf16> checkpoint <"embed.weight">
    sharding <[{"tp"}, {}]> {padded, init_std = 2.0e-2 : f64}
  // CHECK: tessera.parameter @q : tensor<24x24xbf16> checkpoint <"h.{layer}.qkv" view [24, 3, 24] dim 1 index 2> layers first 1 count 2
  tessera.parameter @q : tensor<24x24xbf16> checkpoint <"h.{layer}.qkv" view [24, 3, 24] dim 1 index 2>
    layers first 1 count 2

  // CHECK-LABEL: func.func private @block
  func.func private @block(%x: tensor<2x8x24xbf16>) -> tensor<2x8x24xbf16> {
    // CHECK: tessera.get_parameter @q : tensor<24x24xbf16>
    %q = tessera.get_parameter @q : tensor<24x24xbf16>
    // CHECK: tessera.linear %{{.*}}, %{{.*}} {weight_layout = #tessera<weight_layout in_out>} : tensor<2x8x24xbf16>, tensor<24x24xbf16> -> tensor<2x8x24xbf16>
    %y = tessera.linear %x, %q {weight_layout = #tessera<weight_layout in_out>}
      : tensor<2x8x24xbf16>, tensor<24x24xbf16> -> tensor<2x8x24xbf16>
    return %y : tensor<2x8x24xbf16>
  }

  // CHECK-LABEL: func.func @graph
  // CHECK-SAME: tessera.sharding = #tessera.sharding<[{"dp"}, {}]>
  func.func @graph(%tokens: tensor<2x8xi32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>},
                   %labels: tensor<2x8xi32>, %positions: tensor<16x24xbf16>,
                   %vector: tensor<24xbf16>, %head: tensor<4xbf16>) -> tensor<f32> {
    %table = tessera.get_parameter @embed : tensor<99x24xbf16>
    // CHECK: tessera.embedding %{{.*}}, %{{.*}} {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>}
    // CHECK-SAME: : tensor<2x8xi32>, tensor<99x24xbf16> -> tensor<2x8x24xbf16>
    %0 = tessera.embedding %tokens, %table {tessera.sharding = #tessera.sharding<[{"dp"}, {"tp"}, {}]>}
      : tensor<2x8xi32>, tensor<99x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.add_positions %{{.*}}, %{{.*}} {first = 2 : i64} : tensor<2x8x24xbf16>, tensor<16x24xbf16>
    %1 = tessera.add_positions %0, %positions {first = 2 : i64} : tensor<2x8x24xbf16>, tensor<16x24xbf16>
    // CHECK: tessera.layers @block(%{{.*}}) first 1 count 2 : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    %2 = tessera.layers @block(%1) first 1 count 2 : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.rms_norm %{{.*}}, %{{.*}} eps 1.000000e-05 : tensor<2x8x24xbf16>, tensor<24xbf16>
    %3 = tessera.rms_norm %2, %vector eps 1.0e-5 : tensor<2x8x24xbf16>, tensor<24xbf16>
    // CHECK: tessera.rms_norm %{{.*}}, %{{.*}} eps 1.000000e-04 : tensor<2x8x24xbf16>, tensor<4xbf16>
    %4 = tessera.rms_norm %3, %head eps 1.0e-4 : tensor<2x8x24xbf16>, tensor<4xbf16>
    // CHECK: tessera.layer_norm %{{.*}}, %{{.*}} bias %{{.*}} : tensor<24xbf16> eps 1.000000e-05 : tensor<2x8x24xbf16>, tensor<24xbf16>
    %5 = tessera.layer_norm %4, %vector bias %vector : tensor<24xbf16> eps 1.0e-5 : tensor<2x8x24xbf16>, tensor<24xbf16>
    // CHECK: tessera.layer_norm %{{.*}}, %{{.*}} eps 1.000000e-05 : tensor<2x8x24xbf16>, tensor<24xbf16>
    %6 = tessera.layer_norm %5, %vector eps 1.0e-5 : tensor<2x8x24xbf16>, tensor<24xbf16>
    // CHECK: tessera.add_bias %{{.*}}, %{{.*}} : tensor<2x8x24xbf16>, tensor<24xbf16>
    %7 = tessera.add_bias %6, %vector : tensor<2x8x24xbf16>, tensor<24xbf16>
    // CHECK: tessera.rotary_table <theta = 1.000000e+04 : f64, dim = 2> : tensor<8x1x2xf32>
    %8 = tessera.rotary_table <theta = 1.0e4 : f64, dim = 2> : tensor<8x1x2xf32>
    // CHECK: tessera.rotary_table <theta = 5.000000e+05 : f64, dim = 4, scaling = yarn, factor = 4.000000e+00 : f64, truncate = false, original_positions = 32>
    %9 = tessera.rotary_table <theta = 5.0e5 : f64, dim = 4, scaling = yarn, factor = 4.0 : f64,
      truncate = false, original_positions = 32> : tensor<8x2x2xf32>
    // CHECK: tessera.rotary %{{.*}}, %{{.*}} head_dim 4 : tensor<2x8x24xbf16>, tensor<8x1x2xf32>
    %10 = tessera.rotary %7, %8 head_dim 4 : tensor<2x8x24xbf16>, tensor<8x1x2xf32>
    // CHECK: tessera.attention %{{.*}}, %{{.*}}, %{{.*}} head_dim 4 scale 5.000000e-01 causal {window = 3 : i64}
    // CHECK-SAME: : tensor<2x8x24xbf16>, tensor<2x8x24xbf16>, tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    %11 = tessera.attention %10, %10, %10 head_dim 4 scale 0.5 causal {window = 3 : i64}
      : tensor<2x8x24xbf16>, tensor<2x8x24xbf16>, tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.attention %{{.*}}, %{{.*}}, %{{.*}} head_dim 4 scale 5.000000e-01 : tensor
    %12 = tessera.attention %11, %11, %11 head_dim 4 scale 0.5
      : tensor<2x8x24xbf16>, tensor<2x8x24xbf16>, tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.swiglu %{{.*}}, %{{.*}} : tensor<2x8x24xbf16>
    %13 = tessera.swiglu %12, %11 : tensor<2x8x24xbf16>
    // CHECK: tessera.swiglu %{{.*}}, %{{.*}} {activation = #tessera<activation gelu_tanh>} : tensor<2x8x24xbf16>
    %14 = tessera.swiglu %13, %11 {activation = #tessera<activation gelu_tanh>} : tensor<2x8x24xbf16>
    // CHECK: tessera.activation relu %{{.*}} : tensor<2x8x24xbf16>
    %15 = tessera.activation relu %14 : tensor<2x8x24xbf16>
    // CHECK: tessera.add %{{.*}}, %{{.*}} : tensor<2x8x24xbf16>
    %16 = tessera.add %15, %1 : tensor<2x8x24xbf16>
    // CHECK: tessera.linear %{{.*}}, %{{.*}} : tensor<2x8x24xbf16>, tensor<99x24xbf16> -> tensor<2x8x99xf32>
    %17 = tessera.linear %16, %table : tensor<2x8x24xbf16>, tensor<99x24xbf16> -> tensor<2x8x99xf32>
    // CHECK: tessera.cross_entropy %{{.*}}, %{{.*}} vocab 97 : tensor<2x8x99xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    %18 = tessera.cross_entropy %17, %labels vocab 97 : tensor<2x8x99xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    // CHECK: tessera.token_sum %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<2x8xi32> -> tensor<2xf32>
    %19 = tessera.token_sum %18, %labels : tensor<2x8xf32>, tensor<2x8xi32> -> tensor<2xf32>
    // CHECK: tessera.token_mean %{{.*}} : tensor<2xf32> -> tensor<f32>
    %20 = tessera.token_mean %19 : tensor<2xf32> -> tensor<f32>
    return %20 : tensor<f32>
  }

  // One rank's program.
  // CHECK-LABEL: func.func @local
  func.func @local(%tokens: tensor<2x8xi32>, %labels: tensor<2x8xi32>, %x: tensor<2x8x24xf32>,
                   %positions: tensor<16x24xbf16>) -> tensor<2x8xf32> {
    // CHECK: tessera.get_parameter @embed : tensor<25x24xbf16>
    %table = tessera.get_parameter @embed : tensor<25x24xbf16>
    // CHECK: tessera.axis_index ["dp", "tp"]
    %i = tessera.axis_index ["dp", "tp"]
    // CHECK: tessera.shard_offset ["tp"] size 25
    %offset = tessera.shard_offset ["tp"] size 25
    // CHECK: tessera.embedding %{{.*}}, %{{.*}} offset %{{.*}} : tensor<2x8xi32>, tensor<25x24xbf16> -> tensor<2x8x24xbf16>
    %0 = tessera.embedding %tokens, %table offset %offset : tensor<2x8xi32>, tensor<25x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.add_positions %{{.*}}, %{{.*}} offset %{{.*}} : tensor<2x8x24xbf16>, tensor<16x24xbf16>
    %1 = tessera.add_positions %0, %positions offset %i : tensor<2x8x24xbf16>, tensor<16x24xbf16>
    // CHECK: tessera.all_reduce %{{.*}} over ["tp"] : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    %2 = tessera.all_reduce %1 over ["tp"] : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.all_reduce %{{.*}} over ["dp"] {maximum = true} : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    %3 = tessera.all_reduce %2 over ["dp"] {maximum = true} : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
    // CHECK: tessera.reduce_scatter %{{.*}} over ["tp"] dim 1 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x2x24xbf16>
    %4 = tessera.reduce_scatter %3 over ["tp"] dim 1 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x2x24xbf16>
    // CHECK: tessera.all_gather %{{.*}} over ["dp", "tp"] dim 1 ranks 8 : tensor<2x2x24xbf16> -> tensor<2x16x24xbf16>
    %5 = tessera.all_gather %4 over ["dp", "tp"] dim 1 ranks 8 : tensor<2x2x24xbf16> -> tensor<2x16x24xbf16>
    // CHECK: tessera.all_to_all %{{.*}} over ["tp"] split 1 concat 2 ranks 4 : tensor<2x16x24xbf16> -> tensor<2x4x96xbf16>
    %6 = tessera.all_to_all %5 over ["tp"] split 1 concat 2 ranks 4 : tensor<2x16x24xbf16> -> tensor<2x4x96xbf16>
    // CHECK: tessera.slice %{{.*}} over ["dp"] dim 0 ranks 2 : tensor<2x4x96xbf16> -> tensor<1x4x96xbf16>
    %7 = tessera.slice %6 over ["dp"] dim 0 ranks 2 : tensor<2x4x96xbf16> -> tensor<1x4x96xbf16>
    // CHECK: tessera.cross_entropy_stats %{{.*}}, %{{.*}} offset %{{.*}} vocab 97 : tensor<2x8x24xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
    %8 = tessera.cross_entropy_stats %x, %labels offset %offset vocab 97
      : tensor<2x8x24xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
    %9 = tessera.all_gather %8 over ["tp"] dim 2 ranks 4 : tensor<2x8x3xf32> -> tensor<2x8x12xf32>
    // CHECK: tessera.cross_entropy_combine %{{.*}}, %{{.*}} : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    %10 = tessera.cross_entropy_combine %9, %labels : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    return %10 : tensor<2x8xf32>
  }
}
