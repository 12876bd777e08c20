// Partition rules of relative attention.
// RUN: tessera-opt %s --test-sharding-rules --split-input-file --verify-diagnostics

module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2, "five" = 5>} {
  func.func @relative(%q: tensor<4x8x40xf32>, %r: tensor<1x8x40xf32>, %u: tensor<40xf32>) {
    // The same table on every rank.
    // expected-remark @+1 {{needs  -> [{}, {}, {}]}}
    %t = tessera.sinusoid_table {test.operands = []} : tensor<1x8x40xf32>
    // Everything lies at whole heads as the queries; the encodings have no batch.
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{dp}, {}, {tp}]; [{dp}, {}, {tp}]; [{}, {}, {tp}]; [{tp}]; [{tp}] -> [{dp}, {}, {tp}]}}
    %0 = tessera.relative_attention %q, %q, %q, %r biases %u, %u head_dim 10 scale 0.4 {test.operands = [
        #tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{}, {}, {"tp"}]>,
        #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}]>, #tessera.sharding<[{"tp"}]>]}
      : tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<1x8x40xf32>, tensor<40xf32>, tensor<40xf32> -> tensor<4x8x40xf32>
    // Sequences are gathered, sums finished first.
    // expected-remark @+1 {{needs [{}, {}, {}]; [{}, {}, {}]; [{}, {}, {}]; [{}, {}, {}]; [{}]; [{}] -> [{}, {}, {}]}}
    %1 = tessera.relative_attention %q, %q, %q, %r biases %u, %u head_dim 10 scale 0.4 {test.operands = [
        #tessera.sharding<[{}, {"tp"}, {}] partial sum {"dp"}>, #tessera.sharding<[{}, {"tp"}, {}]>, #tessera.sharding<[{}, {"tp"}, {}]>,
        #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}]>, #tessera.sharding<[{}]>]}
      : tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<1x8x40xf32>, tensor<40xf32>, tensor<40xf32> -> tensor<4x8x40xf32>
    // expected-remark @+1 {{no rule: 4 heads cannot be split over 5 ranks along {five}; the number of ranks must be one of 1, 2, 4}}
    %2 = tessera.relative_attention %q, %q, %q, %r biases %u, %u head_dim 10 scale 0.4 {test.operands = [
        #tessera.sharding<[{}, {}, {"five"}]>, #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}, {}, {}]>,
        #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}]>, #tessera.sharding<[{}]>]}
      : tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<4x8x40xf32>, tensor<1x8x40xf32>, tensor<40xf32>, tensor<40xf32> -> tensor<4x8x40xf32>
    return
  }
}
