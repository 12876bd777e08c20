// Partition rules of experts and latent attention.
// RUN: tessera-opt %s --test-sharding-rules --split-input-file --verify-diagnostics

module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2>} {
  func.func @experts(%x: tensor<4x8x24xf32>, %w: tensor<4x24xf32>, %e: tensor<4x8x2xi32>, %p: tensor<4x8x2xf32>,
                     %r: tensor<4x16x24xf32>, %u: tensor<4x12x24xf32>, %d: tensor<4x24x12xf32>, %h: tensor<4x16x12xf32>) {
    // The router follows the tokens.
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{}, {}] -> [{dp}, {tp}, {}]; [{dp}, {tp}, {}]}}
    %a:2 = tessera.router %x, %w top_k 2 {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{}, {"tp"}]>]}
      : tensor<4x8x24xf32>, tensor<4x24xf32> -> tensor<4x8x2xf32>, tensor<4x8x2xi32>
    // Tokens split over batch and sequence split the capacity.
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{dp}, {tp}, {}] -> [{}, {dp, tp}, {}]}}
    %b = tessera.permute %x, %e {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"dp"}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x2xi32> -> tensor<4x16x24xf32>
    // Expert parallelism over dp: an all-to-all from capacity to experts.
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{dp}, {}, {}] -> [{dp}, {tp}, {}]}}
    %c = tessera.grouped_linear %r, %u {test.operands = [#tessera.sharding<[{}, {"dp", "tp"}, {}]>, #tessera.sharding<[{"dp"}, {}, {}]>]}
      : tensor<4x16x24xf32>, tensor<4x12x24xf32> -> tensor<4x16x12xf32>
    // With expert tensor parallelism over tp the capacity is gathered along it ...
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{dp}, {tp}, {}] -> [{dp}, {}, {tp}]}}
    %f = tessera.grouped_linear %r, %u {test.operands = [#tessera.sharding<[{}, {"dp", "tp"}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>]}
      : tensor<4x16x24xf32>, tensor<4x12x24xf32> -> tensor<4x16x12xf32>
    // ... and the second product leaves a partial sum.
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{dp}, {}, {tp}] -> [{dp}, {}, {}] partial sum {tp}}}
    %g = tessera.grouped_linear %h, %d {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {"tp"}]>]}
      : tensor<4x16x12xf32>, tensor<4x24x12xf32> -> tensor<4x16x24xf32>
    // A sum over an axis that splits no token waits until after the combination.
    // expected-remark @+1 {{needs [{}, {dp}, {}] partial sum {tp}; [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {}] partial sum {tp}}}
    %i = tessera.combine %r, %p, %e {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"dp"}, {}, {}]>]}
      : tensor<4x16x24xf32>, tensor<4x8x2xf32>, tensor<4x8x2xi32> -> tensor<4x8x24xf32>
    // One over an axis that splits tokens does not: a reduce-scatter.
    // expected-remark @+1 {{needs [{}, {dp, tp}, {}]; [{dp}, {tp}, {}]; [{dp}, {tp}, {}] -> [{dp}, {tp}, {}]}}
    %j = tessera.combine %r, %p, %e {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>]}
      : tensor<4x16x24xf32>, tensor<4x8x2xf32>, tensor<4x8x2xi32> -> tensor<4x8x24xf32>
    return
  }
  func.func @latent(%q: tensor<4x8x40xf32>, %kv: tensor<4x8x56xf32>, %k: tensor<4x8x4xf32>, %t: tensor<8x2x2xf32>) {
    // expected-remark @+1 {{needs [{dp}, {}, {}] -> [{dp}, {}, {}]; [{dp}, {}, {}]}}
    %s:2 = tessera.split %q {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>]}
      : tensor<4x8x40xf32> -> tensor<4x8x30xf32>, tensor<4x8x10xf32>
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{dp}, {}, {tp}]; [{dp}, {}, {}]; [{}, {}, {}] -> [{dp}, {}, {tp}]}}
    %0 = tessera.latent_attention %q, %kv, %k, %t nope_dim 6 rope_dim 4 value_dim 8 scale 0.3 causal
      {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{}, {}, {}]>]}
      : tensor<4x8x40xf32>, tensor<4x8x56xf32>, tensor<4x8x4xf32>, tensor<8x2x2xf32> -> tensor<4x8x32xf32>
    return
  }
}
