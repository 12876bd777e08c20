// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-verify-partition

// A forgotten reduction.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @w : tensor<8x16xf32> checkpoint <"w"> sharding <[{}, {"tp"} ]>
  func.func @f(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}) -> (tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    %w = tessera.get_parameter @w : tensor<8x8xf32>
    %y = tessera.linear %x, %w : tensor<2x4x8xf32>, tensor<8x8xf32> -> tensor<2x4x8xf32>
    // expected-error @+1 {{operand #0 has a pending reduction [{}, {}, {}] partial sum {tp}}}
    %z = tessera.activation relu %y : tensor<2x4x8xf32>
    return %z : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @w : tensor<8x16xf32> checkpoint <"w"> sharding <[{}, {"tp"} ]>
  func.func @f(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) -> (tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    %w = tessera.get_parameter @w : tensor<8x8xf32>
    // expected-error @+1 {{contracts a dimension that lies differently in x, [{}, {}, {}], and in the weight, [{}, {tp}]}}
    %y = tessera.linear %x, %w : tensor<2x4x8xf32>, tensor<8x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @f(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {"tp"}, {}]>}) -> (tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    // expected-error @+1 {{operand #0 has sharding [{}, {tp}, {}], expected [{}, {}, {}]}}
    return %x : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @f(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) -> (tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    // expected-error @+1 {{reduces over axis 'tp', over which no such reduction is pending in [{}, {}, {}]}}
    %y = tessera.all_reduce %x over ["tp"] : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @f(%x: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp"}]>}) -> (tensor<2x8x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    // expected-error @+1 {{gathers axes that are not the minor ones of dimension 1 of [{}, {}, {tp}]}}
    %y = tessera.all_gather %x over ["tp"] dim 1 ranks 2 : tensor<2x4x8xf32> -> tensor<2x8x8xf32>
    return %y : tensor<2x8x8xf32>
  }
}

// -----

// The slice of the table and the offset disagree.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  tessera.parameter @w : tensor<16x4xf32> checkpoint <"w"> sharding <[{"tp"}, {} ]>
  func.func @f(%t: tensor<2x4xi32> {tessera.sharding = #tessera.sharding<[{}, {} ]>}) -> (tensor<2x4x4xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {}]>}) {
    %w = tessera.get_parameter @w : tensor<8x4xf32>
    // expected-note @+1 {{the offset is made here}}
    %o = tessera.shard_offset ["tp"] size 4
    // expected-error @+1 {{offset does not match how the op's slice is split, expected size 8, got 4}}
    %e = tessera.embedding %t, %w offset %o : tensor<2x4xi32>, tensor<8x4xf32> -> tensor<2x4x4xf32>
    %r = tessera.all_reduce %e over ["tp"] : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
    return %r : tensor<2x4x4xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  // expected-error @+1 {{argument #0 has no 'tessera.sharding': the module is not partitioned}}
  func.func @f(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    return %x : tensor<2x4x8xf32>
  }
}

// -----

// The key-value heads of another rank.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2, "tpr" = 2>} {
  func.func @f(%q: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp", "tpr"}]>}, %k: tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tpr"}]>}) -> (tensor<2x4x8xf32> {tessera.sharding = #tessera.sharding<[{}, {}, {"tp", "tpr"}]>}) {
    // expected-error @+1 {{the heads of q, [{}, {}, {tp, tpr}], do not lie with those of k, [{}, {}, {tpr}]}}
    %a = tessera.attention %q, %k, %k head_dim 8 scale 0.5 causal : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    return %a : tensor<2x4x8xf32>
  }
}
