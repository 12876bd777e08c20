// Experts and latent attention: printing, costs worked out by hand from the
// formulas in TesseraMoEOps.td, and partition rules.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s
// RUN: tessera-opt %s --split-input-file --test-print-costs --verify-diagnostics

// CHECK-LABEL: @router
func.func @router(%x: tensor<2x8x24xbf16>, %w: tensor<6x24xbf16>) {
  // 16 tokens: 2 * 16 * 6 * 24 = 4608; 16 * 6 * (4 + 2) + 2 * 16 * 2 = 640;
  // x 768, w 288, weights and indices 16 * 2 * 4 = 128 bytes each.
  // CHECK: tessera.router %{{.*}}, %{{.*}} top_k 2 : tensor<2x8x24xbf16>, tensor<6x24xbf16> -> tensor<2x8x2xf32>, tensor<2x8x2xi32>
  // expected-remark @+4 {{matmul [1, 16, 6, 24]}}
  // expected-remark @+3 {{forward matmul 4608 vector 640 read 1056 written 256}}
  // expected-remark @+2 {{backward matmul 9216 vector 288 read 1312 written 1056}}
  // expected-remark @+1 {{saved operands 3 results 3 extra 0}}
  %p, %e = tessera.router %x, %w top_k 2 : tensor<2x8x24xbf16>, tensor<6x24xbf16> -> tensor<2x8x2xf32>, tensor<2x8x2xi32>
  return
}
// -----
// CHECK-LABEL: @router_bias
func.func @router_bias(%x: tensor<2x8x24xbf16>, %w: tensor<6x24xbf16>, %b: tensor<6xf32>) {
  // CHECK: bias %{{.*}} : tensor<6xf32> top_k 2 {groups = 3 : i64, normalize = false, scale = 2.500000e+00 : f64, scoring = #tessera<router_scoring sigmoid>, top_groups = 2 : i64}
  // expected-remark @+4 {{matmul [1, 16, 6, 24]}}
  // expected-remark @+3 {{forward matmul 4608 vector 640 read 1080 written 256}}
  // expected-remark @+2 {{backward matmul 9216 vector 288 read 1312 written 1056}}
  // expected-remark @+1 {{saved operands 3 results 3 extra 0}}
  %p, %e = tessera.router %x, %w bias %b : tensor<6xf32> top_k 2 {scoring = #tessera<router_scoring sigmoid>, normalize = false, scale = 2.5 : f64, groups = 3 : i64, top_groups = 2 : i64}
    : tensor<2x8x24xbf16>, tensor<6x24xbf16> -> tensor<2x8x2xf32>, tensor<2x8x2xi32>
  return
}
// -----
// CHECK-LABEL: @permute
func.func @permute(%x: tensor<2x8x24xbf16>, %e: tensor<2x8x2xi32>) {
  // 32 choices over 6 experts: 6 rows each (rounded up), 36 in all.
  // Rows 36 * 48 = 1728 bytes; 32 * 48 + 128 = 1664 read.
  // expected-remark @+4 {{gather [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 1664 written 1728}}
  // expected-remark @+2 {{backward matmul 0 vector 768 read 1856 written 768}}
  // expected-remark @+1 {{saved operands 2 results 0 extra 0}}
  %0 = tessera.permute %x, %e : tensor<2x8x24xbf16>, tensor<2x8x2xi32> -> tensor<6x6x24xbf16>
  return
}
// -----
// CHECK-LABEL: @grouped_linear
func.func @grouped_linear(%x: tensor<6x6x24xbf16>, %w: tensor<6x10x24xbf16>) {
  // 2 * 36 * 24 * 10 = 17280; x 1728, w 6 * 10 * 24 * 2 = 2880, y 720 bytes.
  // expected-remark @+4 {{grouped_matmul [6, 6, 10, 24]}}
  // expected-remark @+3 {{forward matmul 17280 vector 0 read 4608 written 720}}
  // expected-remark @+2 {{backward matmul 34560 vector 0 read 6048 written 4608}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 0}}
  %0 = tessera.grouped_linear %x, %w : tensor<6x6x24xbf16>, tensor<6x10x24xbf16> -> tensor<6x6x10xbf16>
  return
}
// -----
// CHECK-LABEL: @combine
func.func @combine(%r: tensor<6x6x24xbf16>, %p: tensor<2x8x2xf32>, %e: tensor<2x8x2xi32>) {
  // 2 * 32 * 24 = 1536; 32 * 48 + 256 = 1792 read, 768 written.
  // expected-remark @+4 {{gather [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1536 read 1792 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 3072 read 2560 written 1856}}
  // expected-remark @+1 {{saved operands 7 results 0 extra 0}}
  %0 = tessera.combine %r, %p, %e : tensor<6x6x24xbf16>, tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x24xbf16>
  return
}
// -----
// CHECK-LABEL: @split
func.func @split(%x: tensor<2x8x24xbf16>) {
  // CHECK: tessera.split %{{.*}} : tensor<2x8x24xbf16> -> tensor<2x8x20xbf16>, tensor<2x8x4xbf16>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 768 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 768 written 768}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %0:2 = tessera.split %x : tensor<2x8x24xbf16> -> tensor<2x8x20xbf16>, tensor<2x8x4xbf16>
  return
}
// -----
// CHECK-LABEL: @latent_attention
func.func @latent_attention(%q: tensor<2x8x30xbf16>, %kv: tensor<2x8x42xbf16>, %k: tensor<2x8x4xbf16>, %t: tensor<9x2x2xf32>) {
  // 3 heads, nope 6, rope 4, value 8: pairs 2 * 3 * 36 = 216, key 10.
  // 2 * 216 * 18 = 7776; 5 * 216 + 384 + 3 * 16 * 4 * 4 = 2232.
  // q 960, kv 1344, k 128, angles 8 * 4 * 4 = 128, out 768, lse 2 * 3 * 8 * 4 = 192.
  // Backward: 2 * 216 * 46 = 19872; 6 * 216 + 768 + 768 = 2832.
  // expected-remark @+4 {{attention [6, 8, 8, 10]}}
  // expected-remark @+3 {{forward matmul 7776 vector 2232 read 2560 written 768}}
  // expected-remark @+2 {{backward matmul 19872 vector 2832 read 4288 written 2432}}
  // expected-remark @+1 {{saved operands 15 results 1 extra 192}}
  %0 = tessera.latent_attention %q, %kv, %k, %t nope_dim 6 rope_dim 4 value_dim 8 scale 0.3 causal
    : tensor<2x8x30xbf16>, tensor<2x8x42xbf16>, tensor<2x8x4xbf16>, tensor<9x2x2xf32> -> tensor<2x8x24xbf16>
  return
}
