// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @family(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{unknown kernel family 'matmull', expected one of matmul, attention, row, elementwise, embedding, cross_entropy}}
  %y = kernel.group matmull "x" (%a = %x : tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  }
  return
}

// -----

func.func @config(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>) {
  // expected-error @+1 {{a matmul group needs a #kernel.matmul_config, got #kernel.attention_config}}
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x8x16xf32>, %b = %w : tensor<16x16xf32>)
      config #kernel.attention_config<block_q = 64, block_kv = 64, warps = 4, stages = 2> -> tensor<1x8x16xf32> {
    %0 = tessera.linear %a, %b : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @positive(%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>) {
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x8x16xf32>, %b = %w : tensor<16x16xf32>)
      // expected-error @+1 {{block_n must be at least 1, got 0}}
      config #kernel.matmul_config<block_m = 32, block_n = 0, block_k = 16, warps_m = 1, warps_n = 1, stages = 2, group_m = 8> -> tensor<1x8x16xf32> {
    %0 = tessera.linear %a, %b : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @collective(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{cannot hold the collective 'tessera.all_reduce'}}
  %y = kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
    // expected-note @+1 {{the op is here}}
    %0 = tessera.all_reduce %a over ["tp"] : tensor<1x8x16xf32> -> tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @foreign(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{body may hold pure graph ops only, got 'arith.negf'}}
  %y = kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
    // expected-note @+1 {{the op is here}}
    %0 = arith.negf %a : tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @types(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{body yields ('tensor<1x8x16xf32>') but the group returns ('tensor<1x16x8xf32>')}}
  %y = kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> tensor<1x16x8xf32> {
    %0 = tessera.activation relu %a : tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @unchanged(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{yields one of its operands unchanged}}
  %y:2 = kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>) {
    %0 = tessera.activation relu %a : tensor<1x8x16xf32>
    kernel.yield %0, %a : tensor<1x8x16xf32>, tensor<1x8x16xf32>
  }
  return
}

// -----

func.func @empty(%x: tensor<1x8x16xf32>) {
  // expected-error @+1 {{has no op in its body}}
  kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> () {
    kernel.yield
  }
  return
}

// -----

func.func @isolated(%x: tensor<1x8x16xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %y = kernel.group elementwise "x" (%a = %x : tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    %0 = tessera.add %a, %x : tensor<1x8x16xf32>
    kernel.yield %0 : tensor<1x8x16xf32>
  }
  return
}
