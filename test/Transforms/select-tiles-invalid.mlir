// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-select-tiles
// RUN: not tessera-opt %s --tessera-select-tiles="chips=sm_80,gfx90a" 2>&1 | FileCheck %s

// CHECK: error: unknown chip 'gfx90a', expected one like sm_80 or sm_90

func.func @too_large(%x: tensor<1x64x96xbf16>, %w: tensor<96x96xbf16>) -> tensor<1x64x96xbf16> {
  // expected-error @+1 {{the configuration cannot be used: expected at most 166912 bytes of shared memory, got}}
  %y = kernel.group matmul "linear" (%a = %x : tensor<1x64x96xbf16>, %b = %w : tensor<96x96xbf16>)
      config #kernel.matmul_config<block_m = 256, block_n = 256, block_k = 64, warps_m = 4, warps_n = 4, stages = 8, group_m = 1> -> tensor<1x64x96xbf16> {
    %0 = tessera.linear %a, %b : tensor<1x64x96xbf16>, tensor<96x96xbf16> -> tensor<1x64x96xbf16>
    kernel.yield %0 : tensor<1x64x96xbf16>
  }
  return %y : tensor<1x64x96xbf16>
}
