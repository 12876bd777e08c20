// The local ops that the partition rules lead to.
// RUN: tessera-opt %s --test-sharding-rules=build | FileCheck %s

module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  // 99 rows over 4 ranks: 25 each, the last one holding padding.
  // CHECK-LABEL: @embedding
  func.func @embedding(%tokens: tensor<4x8xi32>, %table: tensor<99x24xf32>) -> tensor<4x8x24xf32> {
    // CHECK-DAG: %[[T:.*]] = builtin.unrealized_conversion_cast %{{.*}} : tensor<4x8xi32> to tensor<2x8xi32>
    // CHECK-DAG: %[[W:.*]] = builtin.unrealized_conversion_cast %{{.*}} : tensor<99x24xf32> to tensor<25x24xf32>
    // CHECK-DAG: %[[O:.*]] = tessera.shard_offset ["tp"] size 25
    // CHECK: tessera.embedding %[[T]], %[[W]] offset %[[O]] : tensor<2x8xi32>, tensor<25x24xf32> -> tensor<2x8x24xf32>
    %0 = tessera.embedding %tokens, %table {test.operands = [#tessera.sharding<[{"dp"}, {}]>, #tessera.sharding<[{"tp"}, {}]>]}
      : tensor<4x8xi32>, tensor<99x24xf32> -> tensor<4x8x24xf32>
    return %0 : tensor<4x8x24xf32>
  }

  // CHECK-LABEL: @whole_embedding
  func.func @whole_embedding(%tokens: tensor<4x8xi32>, %table: tensor<99x24xf32>) -> tensor<4x8x24xf32> {
    // CHECK: tessera.embedding %{{[^,]*}}, %{{[^ ]*}} : tensor<2x8xi32>, tensor<99x24xf32> -> tensor<2x8x24xf32>
    %0 = tessera.embedding %tokens, %table {test.operands = [#tessera.sharding<[{"dp"}, {}]>, #tessera.sharding<[{}, {}]>]}
      : tensor<4x8xi32>, tensor<99x24xf32> -> tensor<4x8x24xf32>
    return %0 : tensor<4x8x24xf32>
  }

  // CHECK-LABEL: @positions
  func.func @positions(%x: tensor<4x8x24xf32>, %table: tensor<16x24xf32>) -> tensor<4x8x24xf32> {
    // CHECK: %[[O:.*]] = tessera.shard_offset ["tp"] size 2
    // CHECK: tessera.add_positions %{{.*}}, %{{.*}} offset %[[O]] {first = 2 : i64} : tensor<2x2x24xf32>, tensor<16x24xf32>
    %0 = tessera.add_positions %x, %table {first = 2 : i64, test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{}, {}]>]}
      : tensor<4x8x24xf32>, tensor<16x24xf32>
    return %0 : tensor<4x8x24xf32>
  }

  // The logits stay where they are: three numbers a token are gathered.
  // CHECK-LABEL: @loss
  func.func @loss(%logits: tensor<4x8x99xf32>, %labels: tensor<4x8xi32>) -> tensor<4x8xf32> {
    // CHECK-DAG: %[[X:.*]] = builtin.unrealized_conversion_cast %{{.*}} : tensor<4x8x99xf32> to tensor<2x8x25xf32>
    // CHECK-DAG: %[[L:.*]] = builtin.unrealized_conversion_cast %{{.*}} : tensor<4x8xi32> to tensor<2x8xi32>
    // CHECK-DAG: %[[O:.*]] = tessera.shard_offset ["tp"] size 25
    // CHECK: %[[S:.*]] = tessera.cross_entropy_stats %[[X]], %[[L]] offset %[[O]] vocab 97 : tensor<2x8x25xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
    // CHECK: %[[A:.*]] = tessera.all_gather %[[S]] over ["tp"] dim 2 ranks 4 : tensor<2x8x3xf32> -> tensor<2x8x12xf32>
    // CHECK: tessera.cross_entropy_combine %[[A]], %[[L]] : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    %0 = tessera.cross_entropy %logits, %labels vocab 97 {test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}]>]}
      : tensor<4x8x99xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }

  // CHECK-LABEL: @whole_loss
  func.func @whole_loss(%logits: tensor<4x8x99xf32>, %labels: tensor<4x8xi32>) -> tensor<4x8xf32> {
    // CHECK: tessera.cross_entropy %{{.*}}, %{{.*}} vocab 97 : tensor<2x8x99xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
    %0 = tessera.cross_entropy %logits, %labels vocab 97 {test.operands = [#tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{}, {}]>]}
      : tensor<4x8x99xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }

  // Padded logits come from a padded weight; any other op is cloned.
  // CHECK-LABEL: @logits
  func.func @logits(%x: tensor<4x8x24xbf16>, %w: tensor<99x24xbf16>) -> tensor<4x8x99xf32> {
    // CHECK: tessera.linear %{{.*}}, %{{.*}} : tensor<2x8x24xbf16>, tensor<25x24xbf16> -> tensor<2x8x25xf32>
    %0 = tessera.linear %x, %w {test.operands = [#tessera.sharding<[{"dp"}, {"tp"}, {}]>, #tessera.sharding<[{"tp"}, {}]>]}
      : tensor<4x8x24xbf16>, tensor<99x24xbf16> -> tensor<4x8x99xf32>
    return %0 : tensor<4x8x99xf32>
  }

  // CHECK-LABEL: @heads
  func.func @heads(%q: tensor<4x8x24xf32>, %k: tensor<4x8x6xf32>) -> tensor<4x8x24xf32> {
    // CHECK: tessera.attention %{{.*}}, %{{.*}}, %{{.*}} head_dim 6 scale 1.000000e+00 causal {window = 4 : i64} : tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
    %0 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {window = 4 : i64, test.operands = [#tessera.sharding<[{"dp"}, {}, {"tp"}]>, #tessera.sharding<[{"dp"}, {}, {}]>, #tessera.sharding<[{"dp"}, {}, {}]>]}
      : tensor<4x8x24xf32>, tensor<4x8x6xf32>, tensor<4x8x6xf32> -> tensor<4x8x24xf32>
    return %0 : tensor<4x8x24xf32>
  }
}
