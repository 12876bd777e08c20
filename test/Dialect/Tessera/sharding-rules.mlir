// What each op asks of its operands, and what its result then has.
// RUN: tessera-opt %s --test-sharding-rules --split-input-file --verify-diagnostics

// Linears. The mesh's `tpr` is the part of tensor parallelism over which keys and
// values are replicated.
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2, "tpr" = 2>} {
  func.func @linear(%x: tensor<4x8x24xf32>, %w: tensor<16x24xf32>, %v: tensor<24x16xf32>) {
    // Column parallel.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{tp}, {}] -> [{dp}, {}, {tp}]}}
    %0 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"tp"}, {}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    // Row parallel.
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{}, {tp}] -> [{dp}, {}, {}] partial sum {tp}}}
    %1 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{}, {"tp"}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    // The same with the weight transposed.
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{tp}, {}] -> [{dp}, {}, {}] partial sum {tp}}}
    %2 = tessera.linear %x, %v {weight_layout = #tessera<weight_layout in_out>, test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"tp"}, {}]>]}
      : tensor<4x8x24xf32>, tensor<24x16xf32> -> tensor<4x8x16xf32>
    // Sequence parallelism: the sequence is gathered before a column-parallel product.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{tp, tpr}, {}] -> [{dp}, {}, {tp, tpr}]}}
    %3 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {"tp", "tpr"}, {}]>, #tessera.sharding<[{"tp", "tpr"}, {}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    // An axis that the weight does not use keeps splitting the sequence.
    // expected-remark @+1 {{needs [{dp}, {tpr}, {}]; [{tp}, {}] -> [{dp}, {tpr}, {tp}]}}
    %4 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {"tp", "tpr"}, {}]>, #tessera.sharding<[{"tp"}, {}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    // A replicated weight: a split width is gathered, a pending sum is made.
    // expected-remark @+1 {{needs [{}, {}, {}]; [{}, {}] -> [{}, {}, {}]}}
    %5 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{}, {}, {"tp"}] partial sum {"dp"}>, #tessera.sharding<[{}, {}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    // Both ways at once.
    // expected-remark @+1 {{needs [{dp}, {}, {tpr}]; [{tp}, {tpr}] -> [{dp}, {}, {tp}] partial sum {tpr}}}
    %6 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"tp"}, {"tpr"}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32> -> tensor<4x8x16xf32>
    return
  }

  func.func @add(%x: tensor<4x8x24xf32>) {
    // A pending sum against a replicated stream: an all-reduce.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {}]}}
    %0 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>]} : tensor<4x8x24xf32>
    // Against a stream split over the sequence: a reduce-scatter.
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{dp}, {tp}, {}] -> [{dp}, {tp}, {}]}}
    %1 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>]} : tensor<4x8x24xf32>
    // Two pending sums stay one.
    // expected-remark @+1 {{needs [{dp}, {}, {}] partial sum {tp}; [{dp}, {}, {}] partial sum {tp} -> [{dp}, {}, {}] partial sum {tp}}}
    %2 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>]} : tensor<4x8x24xf32>
    // Pending over different axes: both are made.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {}]}}
    %3 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"dp"}, {}, {}] partial sum {"tpr"}>]} : tensor<4x8x24xf32>
    // Pending maxima do not add up.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {}]}}
    %4 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial max {"tp"}>, #tessera.sharding<[{"dp"}, {}, {}] partial max {"tp"}>]} : tensor<4x8x24xf32>
    // The finer of two complete shardings.
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{dp}, {tp}, {}] -> [{dp}, {tp}, {}]}}
    %5 = tessera.add %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>]} : tensor<4x8x24xf32>
    return
  }

  func.func @norms(%x: tensor<4x8x24xf32>, %w: tensor<24xf32>, %h: tensor<6xf32>) {
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{}] -> [{dp}, {tp}, {}]}}
    %0 = tessera.rms_norm %x, %w eps 1.0e-5 {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{}] -> [{dp}, {}, {}]}}
    %1 = tessera.rms_norm %x, %w eps 1.0e-5 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}] partial sum {"tpr"}>, #tessera.sharding<[{"tp"}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    // Norms of heads: four groups can lie on four ranks, ...
    // expected-remark @+1 {{needs [{dp}, {}, {tp, tpr}]; [{}] -> [{dp}, {}, {tp, tpr}]}}
    %2 = tessera.rms_norm %x, %h eps 1.0e-5 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<6xf32>
    // ... but not on eight.
    // expected-remark @+1 {{needs [{}, {}, {}]; [{}] -> [{}, {}, {}]}}
    %3 = tessera.rms_norm %x, %h eps 1.0e-5 {test.operands = [#tessera.sharding<[{}, {}, {"dp", "tp", "tpr"}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<6xf32>
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{}]; [{}] -> [{dp}, {}, {}]}}
    %4 = tessera.layer_norm %x, %w bias %w : tensor<24xf32> eps 1.0e-5 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{}] -> [{dp}, {tp}, {}]}}
    %5 = tessera.layer_norm %x, %w eps 1.0e-5 {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    return
  }

  func.func @elementwise(%x: tensor<4x8x24xf32>, %b: tensor<24xf32>) {
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{tp}] -> [{dp}, {}, {tp}]}}
    %0 = tessera.add_bias %x, %b {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    // A bias is added once, so the sum is made first.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{}] -> [{dp}, {}, {}]}}
    %1 = tessera.add_bias %x, %b {test.operands = [#tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>, #tessera.sharding<[{"tp"}]>]} : tensor<4x8x24xf32>, tensor<24xf32>
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{dp}, {}, {tp}] -> [{dp}, {}, {tp}]}}
    %2 = tessera.swiglu %x, %x {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {}] partial sum {"tp"}>]} : tensor<4x8x24xf32>
    // expected-remark @+1 {{needs [{dp}, {tp}, {}] -> [{dp}, {tp}, {}]}}
    %3 = tessera.activation gelu %x {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}] partial sum {"tpr"}>]} : tensor<4x8x24xf32>
    return
  }

  func.func @heads(%q: tensor<4x8x24xf32>, %k: tensor<4x8x12xf32>, %one: tensor<4x8x6xf32>, %t: tensor<8x3x2xf32>) {
    // expected-remark @+1 {{needs [{dp}, {}, {tp, tpr}]; [{}, {}, {}] -> [{dp}, {}, {tp, tpr}]}}
    %0 = tessera.rotary %q, %t head_dim 6 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{}, {}, {}]>]} : tensor<4x8x24xf32>, tensor<8x3x2xf32>
    // A row's position is its index: the sequence is gathered.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{}, {}, {}] -> [{dp}, {}, {}]}}
    %1 = tessera.rotary %q, %t head_dim 6 {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"tp"}, {}, {}]>]} : tensor<4x8x24xf32>, tensor<8x3x2xf32>
    // expected-remark @+1 {{no rule: 2 heads cannot be split over 4 ranks along {tp, tpr}; the number of ranks must be one of 1, 2}}
    %2 = tessera.rotary %k, %t head_dim 6 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{}, {}, {}]>]} : tensor<4x8x12xf32>, tensor<8x3x2xf32>
    // As many key-value heads as query heads.
    // expected-remark @+1 {{needs [{dp}, {}, {tp, tpr}]; [{dp}, {}, {tp, tpr}]; [{dp}, {}, {tp, tpr}] -> [{dp}, {}, {tp, tpr}]}}
    %3 = tessera.attention %q, %q, %q head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{"dp"}, {}, {"tp"}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x24xf32>, tensor<4x8x24xf32> -> tensor<4x8x24xf32>
    // Two key-value heads on four ranks: split over tp, replicated over tpr.
    // expected-remark @+1 {{needs [{dp}, {}, {tp, tpr}]; [{dp}, {}, {tp}]; [{dp}, {}, {tp}] -> [{dp}, {}, {tp, tpr}]}}
    %4 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {"tp"}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x12xf32>, tensor<4x8x12xf32> -> tensor<4x8x24xf32>
    // One key-value head: replicated.
    // expected-remark @+1 {{needs [{dp}, {}, {tp, tpr}]; [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {tp, tpr}]}}
    %5 = tessera.attention %q, %one, %one head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp", "tpr"}]>, #tessera.sharding<[{}, {}, {"tp"}]>, #tessera.sharding<[{}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x6xf32>, tensor<4x8x6xf32> -> tensor<4x8x24xf32>
    // Whole sequences only.
    // expected-remark @+1 {{needs [{dp}, {}, {}]; [{dp}, {}, {}]; [{dp}, {}, {}] -> [{dp}, {}, {}]}}
    %6 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"dp"}, {"tp"}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x12xf32>, tensor<4x8x12xf32> -> tensor<4x8x24xf32>
    // expected-remark @+1 {{no rule: 4 heads cannot be split over 8 ranks along {dp, tp, tpr}; the number of ranks must be one of 1, 2, 4}}
    %7 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{}, {}, {"dp", "tp", "tpr"}]>, #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x12xf32>, tensor<4x8x12xf32> -> tensor<4x8x24xf32>
    return
  }

  func.func @vocabulary(%tokens: tensor<4x8xi32>, %table: tensor<99x24xf32>, %x: tensor<4x8x24xf32>, %p: tensor<8x24xf32>,
                        %logits: tensor<4x8x99xf32>, %nll: tensor<4x8xf32>, %s: tensor<2xf32>) {
    // expected-remark @+1 {{needs [{dp}, {}]; [{tp}, {}] -> [{dp}, {}, {}] partial sum {tp}}}
    %0 = tessera.embedding %tokens, %table {test.operands = [#tessera.sharding<[{"dp"}, {}]>, #tessera.sharding<[{"tp"}, {}]>]} : tensor<4x8xi32>, tensor<99x24xf32> -> tensor<4x8x24xf32>
    // expected-remark @+1 {{needs [{dp}, {}]; [{}, {tp}] -> [{dp}, {}, {tp}]}}
    %1 = tessera.embedding %tokens, %table {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}]>, #tessera.sharding<[{}, {"tp"}]>]} : tensor<4x8xi32>, tensor<99x24xf32> -> tensor<4x8x24xf32>
    // expected-remark @+1 {{needs [{dp}, {tp}, {}]; [{}, {}] -> [{dp}, {tp}, {}]}}
    %2 = tessera.add_positions %x, %p {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}] partial sum {"tpr"}>, #tessera.sharding<[{"tp"}, {}]>]} : tensor<4x8x24xf32>, tensor<8x24xf32>
    // expected-remark @+1 {{needs [{dp}, {}, {tp}]; [{dp}, {}] -> [{dp}, {}]}}
    %3 = tessera.cross_entropy %logits, %tokens vocab 99 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{}, {}]>]} : tensor<4x8x99xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
    // expected-remark @+1 {{needs [{dp}, {tp}]; [{dp}, {tp}] -> [{}] partial sum {dp, tp}}}
    %4 = tessera.token_sum %nll, %tokens {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}]>, #tessera.sharding<[{}, {}]>]} : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<2xf32>
    // expected-remark @+1 {{needs [{}] -> []}}
    %5 = tessera.token_mean %s {test.operands = [#tessera.sharding<[{}] partial sum {"dp"}>]} : tensor<2xf32> -> tensor<f32>
    return
  }
}

// -----
// One axis of four ranks for two key-value heads: what could be done instead.
module attributes {tessera.mesh = #tessera.mesh<"tp" = 4>} {
  func.func @heads(%q: tensor<4x8x24xf32>, %k: tensor<4x8x12xf32>) {
    // expected-remark @+1 {{no rule: 2 key-value heads cannot be shared by 4 ranks along {tp}; split the axis in two, 2 for queries, keys and values and 2 for queries alone}}
    %0 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {test.operands = [#tessera.sharding<[{}, {}, {"tp"}]>, #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x12xf32>, tensor<4x8x12xf32> -> tensor<4x8x24xf32>
    return
  }
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"tp" = 6>} {
  func.func @heads(%q: tensor<4x8x24xf32>, %k: tensor<4x8x8xf32>) {
    // expected-remark @+1 {{no rule: 4 key-value heads cannot be shared by 6 ranks along {tp}; the number of ranks must divide 4 or be a multiple of it}}
    %0 = tessera.attention %q, %k, %k head_dim 2 scale 1.0 causal {test.operands = [#tessera.sharding<[{}, {}, {"tp"}]>, #tessera.sharding<[{}, {}, {}]>, #tessera.sharding<[{}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x8xf32>, tensor<4x8x8xf32> -> tensor<4x8x24xf32>
    return
  }
}
