// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-fuse

func.func @unknown(%x: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  // expected-error @+1 {{no kernel computes 'arith.addf': a model with it can be planned, not compiled}}
  %y = arith.addf %x, %x : tensor<1x8x16xf32>
  return %y : tensor<1x8x16xf32>
}

// -----

// expected-error @+1 {{has control flow, which cannot be fused}}
func.func @branches(%x: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  cf.br ^end
^end:
  return %x : tensor<1x8x16xf32>
}

// -----

func.func @table() -> tensor<1x8x16xf32> {
  // expected-error @+1 {{no kernel computes 'tessera.sinusoid_table': a model with it can be planned, not compiled}}
  %t = tessera.sinusoid_table : tensor<1x8x16xf32>
  return %t : tensor<1x8x16xf32>
}
