// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-print-counts

func.func @forward(%x: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  // expected-error @+1 {{cannot be counted: its cost is unknown; count before kernels are made}}
  %y = arith.negf %x : tensor<1x8x16xf32>
  return %y : tensor<1x8x16xf32>
}
