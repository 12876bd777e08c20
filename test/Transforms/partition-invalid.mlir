// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-partition

// expected-error @+1 {{module has no 'tessera.mesh': run tessera-plan-layout first}}
module {
  func.func @f(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    return %x : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @f(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    // expected-error @+1 {{has no partition rule}}
    %y = arith.addf %x, %x : tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  // expected-error @+1 {{sharding of argument #0 of @f: dimension 1 of size 5 cannot be split into 2 equal parts}}
  func.func @f(%x: tensor<2x5x8xf32> {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {}]>}) -> tensor<2x5x8xf32> {
    return %x : tensor<2x5x8xf32>
  }
}

// -----

// A cycle of blocks.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  // expected-error @+1 {{is called in a cycle of blocks}}
  func.func private @a(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %y = tessera.layers @b(%x) first 0 count 1 : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
  func.func private @b(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %y = tessera.layers @a(%x) first 0 count 1 : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

// Padded logits cannot leave the program.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @w : tensor<5x8xf32> checkpoint <"w"> sharding <[{"tp"}, {}]> {padded}
  func.func @f(%x: tensor<2x4x8xf32>) -> tensor<2x4x5xf32> {
    %w = tessera.get_parameter @w : tensor<5x8xf32>
    %y = tessera.linear %x, %w : tensor<2x4x8xf32>, tensor<5x8xf32> -> tensor<2x4x5xf32>
    // expected-error @+1 {{operand #0 is padded on some rank and cannot be returned}}
    return %y : tensor<2x4x5xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 4>} {
  func.func @f(%q: tensor<2x4x32xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}, %k: tensor<2x4x16xf32>) -> tensor<2x4x32xf32> {
    // expected-error @+1 {{2 key-value heads cannot be shared by 4 ranks along {tp}}}
    %a = tessera.attention %q, %k, %k head_dim 8 scale 0.5 causal : tensor<2x4x32xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32> -> tensor<2x4x32xf32>
    return %a : tensor<2x4x32xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  // expected-error @+1 {{only static shapes can be partitioned}}
  func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    return %x : tensor<?x4xf32>
  }
}

// -----

// A partitioned module is not partitioned again.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @w : tensor<8x16xf32> checkpoint <"w"> sharding <[{}, {"tp"} ]>
  func.func @f(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    // expected-error @+1 {{the module is partitioned already}}
    %w = tessera.get_parameter @w : tensor<8x8xf32>
    %y = tessera.linear %x, %w : tensor<2x4x8xf32>, tensor<8x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}
