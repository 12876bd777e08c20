// RUN: not tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=3" 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=3" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=dp=2,tpp=2" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=2,tp=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tessera-opt %S/Inputs/llama.mlir --tessera-plan-layout="mesh=tp=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-plan-layout="mesh=tp=4 sequence-parallel=on" -o /dev/null

// HEADS: error: 4 attention heads cannot be divided evenly with tp = 3; the nearest legal tp is 2 or 4
// BATCH: error: a batch of 2 (argument #0) cannot be divided evenly with dp = 3; the nearest legal dp is 2
// AXIS: error: mesh 'dp=2,tpp=2': unknown axis 'tpp', expected dp or tp; did you mean 'tp'?
// TWICE: error: mesh 'tp=2,tp=2': axis 'tp' occurs twice
// SIZE: error: mesh 'tp=0': expected axis=size with a size of at least 1, got 'tp=0'

// expected-error @+1 {{sequence parallelism needs a sequence that tp = 4 divides, got 6; the nearest legal sequences are 4 and 8}}
module {
  func.func @f(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
    return %x : tensor<1x6x8xf32>
  }
}

// -----

module {
  // expected-error @+1 {{parameter @w: dimension 0 of size 10 cannot be split into 4 equal parts}}
  tessera.parameter @w : tensor<10x8xf32> checkpoint <"w">
  func.func @f(%t: tensor<1x8xi32>) -> tensor<1x8x8xf32> {
    %w = tessera.get_parameter @w : tensor<10x8xf32>
    %e = tessera.embedding %t, %w : tensor<1x8xi32>, tensor<10x8xf32> -> tensor<1x8x8xf32>
    return %e : tensor<1x8x8xf32>
  }
}

// -----

// Six key-value heads: neither divided by four ranks nor dividing them.
module {
  func.func @f(%x: tensor<1x8x96xf32>, %wq: tensor<96x96xf32>, %wk: tensor<48x96xf32>, %wo: tensor<96x96xf32>) -> tensor<1x8x96xf32> {
    %q = tessera.linear %x, %wq : tensor<1x8x96xf32>, tensor<96x96xf32> -> tensor<1x8x96xf32>
    %k = tessera.linear %x, %wk : tensor<1x8x96xf32>, tensor<48x96xf32> -> tensor<1x8x48xf32>
    // expected-error @+1 {{6 key-value heads can be neither divided nor replicated evenly with tp = 4; the nearest legal tp is 3 or 6}}
    %a = tessera.attention %q, %k, %k head_dim 8 scale 0.25 causal : tensor<1x8x96xf32>, tensor<1x8x48xf32>, tensor<1x8x48xf32> -> tensor<1x8x96xf32>
    %o = tessera.linear %a, %wo : tensor<1x8x96xf32>, tensor<96x96xf32> -> tensor<1x8x96xf32>
    %y = tessera.add %x, %o : tensor<1x8x96xf32>
    return %y : tensor<1x8x96xf32>
  }
}

// -----

module {
  func.func @f(%x: tensor<1x8x16xf32>, %wi: tensor<18x16xf32>, %wo: tensor<16x18xf32>) -> tensor<1x8x16xf32> {
    // expected-error @+1 {{18 outputs of a column-parallel linear cannot be divided evenly with tp = 4; the nearest legal tp is 3 or 6}}
    %h = tessera.linear %x, %wi : tensor<1x8x16xf32>, tensor<18x16xf32> -> tensor<1x8x18xf32>
    %g = tessera.activation gelu %h : tensor<1x8x18xf32>
    %o = tessera.linear %g, %wo : tensor<1x8x18xf32>, tensor<16x18xf32> -> tensor<1x8x16xf32>
    %y = tessera.add %x, %o : tensor<1x8x16xf32>
    return %y : tensor<1x8x16xf32>
  }
}

// -----

module {
  // expected-error @+1 {{argument #0 has no static shape, which a layout needs}}
  func.func @f(%x: tensor<?x8x16xi32>) -> tensor<?x8x16xi32> {
    return %x : tensor<?x8x16xi32>
  }
}
