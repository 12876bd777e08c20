// Relative attention: printing, and costs worked out by hand from the formulas in
// TesseraRelativeOps.td.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s
// RUN: tessera-opt %s --split-input-file --test-print-costs --verify-diagnostics

// CHECK-LABEL: @sinusoid
func.func @sinusoid() -> tensor<1x10x24xbf16> {
  // CHECK: tessera.sinusoid_table : tensor<1x10x24xbf16>
  // expected-remark @+4 {{none [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 0 written 0}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 0 written 0}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %0 = tessera.sinusoid_table : tensor<1x10x24xbf16>
  return %0 : tensor<1x10x24xbf16>
}
// -----
// CHECK-LABEL: @attention
func.func @attention(%q: tensor<2x8x24xbf16>, %r: tensor<1x10x24xbf16>, %u: tensor<24xbf16>, %w: tensor<24xbf16>) {
  // 2 * 4 heads of 8 * 9 / 2 pairs: 288. 6 * 288 * 6 = 10368 and 6 * 288 + 3 * 384 =
  // 2880; 16 * 288 * 6 = 27648 and 7 * 288 + 7 * 384 = 4704. Operands: 3 * 768 + 480 +
  // 2 * 48 = 2880 bytes; log-sum-exp 8 * 8 * 4 = 256; 2880 + 2 * 768 + 256 = 4672.
  // CHECK: tessera.relative_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} biases %{{.*}}, %{{.*}} head_dim 6 scale 4.000000e-01
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 10368 vector 2880 read 2880 written 768}}
  // expected-remark @+2 {{backward matmul 27648 vector 4704 read 4672 written 2880}}
  // expected-remark @+1 {{saved operands 63 results 1 extra 256}}
  %0 = tessera.relative_attention %q, %q, %q, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xbf16>, tensor<2x8x24xbf16>, tensor<2x8x24xbf16>, tensor<1x10x24xbf16>, tensor<24xbf16>, tensor<24xbf16> -> tensor<2x8x24xbf16>
  return
}
