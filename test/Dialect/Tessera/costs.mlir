// Costs against numbers worked out by hand from the formulas in the ops'
// descriptions. Elements of [2, 8, 24]: 384; tokens: 16.
// RUN: tessera-opt %s --test-print-costs --split-input-file --verify-diagnostics

func.func @embedding(%t: tensor<2x8xi32>, %w: tensor<99x24xbf16>) {
  // Rows: 16 * 24 * 2 = 768 bytes; tokens: 16 * 4 = 64 bytes.
  // expected-remark @+4 {{gather [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 832 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 384 read 1600 written 768}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %0 = tessera.embedding %t, %w : tensor<2x8xi32>, tensor<99x24xbf16> -> tensor<2x8x24xbf16>
  return
}
// -----
func.func @positions(%x: tensor<2x8x24xbf16>, %w: tensor<16x24xbf16>) {
  // x: 768 bytes; 8 table rows of 48 bytes.
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 384 read 1152 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 384 read 768 written 384}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %0 = tessera.add_positions %x, %w : tensor<2x8x24xbf16>, tensor<16x24xbf16>
  return
}
// -----
func.func @linear(%x: tensor<2x8x24xbf16>, %w: tensor<10x24xbf16>) {
  // 2 * 16 * 10 * 24 = 7680; x 768, w 480, y (f32) 16 * 10 * 4 = 640 bytes.
  // expected-remark @+4 {{matmul [1, 16, 10, 24]}}
  // expected-remark @+3 {{forward matmul 7680 vector 0 read 1248 written 640}}
  // expected-remark @+2 {{backward matmul 15360 vector 0 read 2528 written 1248}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 0}}
  %0 = tessera.linear %x, %w : tensor<2x8x24xbf16>, tensor<10x24xbf16> -> tensor<2x8x10xf32>
  return
}
// -----
func.func @linear(%x: tensor<2x8x24xf32>, %w: tensor<24x10xf32>) {
  // expected-remark @+4 {{matmul [1, 16, 10, 24]}}
  // expected-remark @+3 {{forward matmul 7680 vector 0 read 2496 written 640}}
  // expected-remark @+2 {{backward matmul 15360 vector 0 read 3776 written 2496}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 0}}
  %0 = tessera.linear %x, %w {weight_layout = #tessera<weight_layout in_out>} : tensor<2x8x24xf32>, tensor<24x10xf32> -> tensor<2x8x10xf32>
  return
}
// -----
func.func @bias(%x: tensor<2x8x24xf32>, %b: tensor<24xf32>) {
  // x 1536, bias 96 bytes.
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 384 read 1632 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 384 read 1536 written 96}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %0 = tessera.add_bias %x, %b : tensor<2x8x24xf32>, tensor<24xf32>
  return
}
// -----
func.func @rms(%x: tensor<2x8x24xbf16>, %w: tensor<24xbf16>, %h: tensor<6xbf16>) {
  // 16 groups: 4 * 384 + 3 * 16 = 1584; 9 * 384 + 4 * 16 = 3520. Reads backward:
  // 2 * 768 + 48 + 4 * 16 = 1648.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1584 read 816 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 3520 read 1648 written 816}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 64}}
  %0 = tessera.rms_norm %x, %w eps 1.0e-5 : tensor<2x8x24xbf16>, tensor<24xbf16>
  // 64 groups: 1536 + 192; 3456 + 256; reads 1536 + 12 + 256.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1728 read 780 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 3712 read 1804 written 780}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 256}}
  %1 = tessera.rms_norm %x, %h eps 1.0e-5 : tensor<2x8x24xbf16>, tensor<6xbf16>
  return
}
// -----
func.func @layer_norm(%x: tensor<2x8x24xf32>, %w: tensor<24xf32>) {
  // 7 * 384 + 4 * 16 = 2752; 13 * 384 + 2 * 16 = 5024; reads backward
  // 2 * 1536 + 96 + 8 * 16 = 3296.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 2752 read 1728 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 5024 read 3296 written 1728}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 128}}
  %0 = tessera.layer_norm %x, %w bias %w : tensor<24xf32> eps 1.0e-5 : tensor<2x8x24xf32>, tensor<24xf32>
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 2368 read 1632 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 4640 read 3296 written 1632}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 128}}
  %1 = tessera.layer_norm %x, %w eps 1.0e-5 : tensor<2x8x24xf32>, tensor<24xf32>
  return
}
// -----
func.func @rotary(%x: tensor<2x8x24xbf16>, %t: tensor<16x2x2xf32>) {
  // 4 heads of 6, 4 elements rotating: 3 * 16 * 4 * 4 = 768; 8 rows of 16 bytes.
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 768 read 896 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 768 read 896 written 768}}
  // expected-remark @+1 {{saved operands 2 results 0 extra 0}}
  %0 = tessera.rotary %x, %t head_dim 6 : tensor<2x8x24xbf16>, tensor<16x2x2xf32>
  return
}
// -----
func.func @attention(%q: tensor<2x8x24xbf16>, %k: tensor<2x8x12xbf16>) {
  // 2 * 4 heads of 6. Causal: 8 * 9 / 2 = 36 pairs a head, 288 in all:
  // 4 * 288 * 6 = 6912; 5 * 288 + 384 = 1824; 10 * 288 * 6 = 17280;
  // 6 * 288 + 2 * 384 = 2496. Bytes: q 768, k and v 384 each, log-sum-exp
  // 4 * 2 * 4 * 8 = 256; backward reads 1536 + 2 * 768 + 256 = 3328.
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 6912 vector 1824 read 1536 written 768}}
  // expected-remark @+2 {{backward matmul 17280 vector 2496 read 3328 written 1536}}
  // expected-remark @+1 {{saved operands 7 results 1 extra 256}}
  %0 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal : tensor<2x8x24xbf16>, tensor<2x8x12xbf16>, tensor<2x8x12xbf16> -> tensor<2x8x24xbf16>
  // Rows see 1, 2, 3, 3, 3, 3, 3, 3 keys: 21 pairs a head, 168 in all.
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 4032 vector 1224 read 1536 written 768}}
  // expected-remark @+2 {{backward matmul 10080 vector 1776 read 3328 written 1536}}
  // expected-remark @+1 {{saved operands 7 results 1 extra 256}}
  %1 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {window = 3 : i64} : tensor<2x8x24xbf16>, tensor<2x8x12xbf16>, tensor<2x8x12xbf16> -> tensor<2x8x24xbf16>
  // A window as long as the sequence hides nothing.
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 6912 vector 1824 read 1536 written 768}}
  // expected-remark @+2 {{backward matmul 17280 vector 2496 read 3328 written 1536}}
  // expected-remark @+1 {{saved operands 7 results 1 extra 256}}
  %2 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 causal {window = 8 : i64} : tensor<2x8x24xbf16>, tensor<2x8x12xbf16>, tensor<2x8x12xbf16> -> tensor<2x8x24xbf16>
  // All 64 pairs of 8 heads.
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 12288 vector 2944 read 1536 written 768}}
  // expected-remark @+2 {{backward matmul 30720 vector 3840 read 3328 written 1536}}
  // expected-remark @+1 {{saved operands 7 results 1 extra 256}}
  %3 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 : tensor<2x8x24xbf16>, tensor<2x8x12xbf16>, tensor<2x8x12xbf16> -> tensor<2x8x24xbf16>
  // Not causal, window 3: rows see 8, 8, 8, 7, 6, 5, 4, 3 keys, 49 pairs a head.
  // expected-remark @+4 {{attention [8, 8, 8, 6]}}
  // expected-remark @+3 {{forward matmul 9408 vector 2344 read 1536 written 768}}
  // expected-remark @+2 {{backward matmul 23520 vector 3120 read 3328 written 1536}}
  // expected-remark @+1 {{saved operands 7 results 1 extra 256}}
  %4 = tessera.attention %q, %k, %k head_dim 6 scale 1.0 {window = 3 : i64} : tensor<2x8x24xbf16>, tensor<2x8x12xbf16>, tensor<2x8x12xbf16> -> tensor<2x8x24xbf16>
  return
}
// -----
func.func @activations(%x: tensor<2x8x24xf32>) {
  // 5 * 384; (4 + 8 + 3) * 384.
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1920 read 3072 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 5760 read 4608 written 3072}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 0}}
  %0 = tessera.swiglu %x, %x : tensor<2x8x24xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1920 read 1536 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 4224 read 3072 written 1536}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %1 = tessera.activation gelu %x : tensor<2x8x24xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 3456 read 1536 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 6912 read 3072 written 1536}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %2 = tessera.activation gelu_tanh %x : tensor<2x8x24xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1536 read 1536 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 3456 read 3072 written 1536}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %3 = tessera.activation silu %x : tensor<2x8x24xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 384 read 1536 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 768 read 3072 written 1536}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %4 = tessera.activation relu %x : tensor<2x8x24xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 384 read 3072 written 1536}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 0 written 0}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %5 = tessera.add %x, %x : tensor<2x8x24xf32>
  return
}
// -----
func.func @loss(%x: tensor<2x8x12xf32>, %l: tensor<2x8xi32>, %nll: tensor<2x8xf32>, %s: tensor<2xf32>) {
  // 10 of 12 columns count: 4 * 160 + 3 * 16 = 688; 3 * 160 + 16 = 496. Reads
  // 16 * 10 * 4 + 64 = 704, backward 704 + 128; all 12 columns get gradients.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 688 read 704 written 64}}
  // expected-remark @+2 {{backward matmul 0 vector 496 read 832 written 768}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 64}}
  %0 = tessera.cross_entropy %x, %l vocab 10 : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 32 read 128 written 8}}
  // expected-remark @+2 {{backward matmul 0 vector 16 read 72 written 64}}
  // expected-remark @+1 {{saved operands 2 results 0 extra 0}}
  %1 = tessera.token_sum %nll, %l : tensor<2x8xf32>, tensor<2x8xi32> -> tensor<2xf32>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 1 read 8 written 4}}
  // expected-remark @+2 {{backward matmul 0 vector 1 read 12 written 8}}
  // expected-remark @+1 {{saved operands 1 results 0 extra 0}}
  %2 = tessera.token_mean %s : tensor<2xf32> -> tensor<f32>
  return
}
// -----
func.func @split_loss(%x: tensor<2x8x12xbf16>, %l: tensor<2x8xi32>, %stats: tensor<2x8x12xf32>, %o: index) {
  // 192 logits: 768; 3 * 192 + 16 = 592; reads 384 + 64, backward 128 more.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 768 read 448 written 192}}
  // expected-remark @+2 {{backward matmul 0 vector 592 read 576 written 384}}
  // expected-remark @+1 {{saved operands 3 results 0 extra 0}}
  %0 = tessera.cross_entropy_stats %x, %l offset %o vocab 40 : tensor<2x8x12xbf16>, tensor<2x8xi32> -> tensor<2x8x3xf32>
  // 4 ranks: (6 * 4 + 3) * 16 = 432; reads 768 + 64.
  // expected-remark @+4 {{row_reduction [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 432 read 832 written 64}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 0 written 0}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 64}}
  %1 = tessera.cross_entropy_combine %stats, %l : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @collectives(%x: tensor<2x8x24xbf16>) {
  // x: 768 bytes.
  // expected-remark @+4 {{collective [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 768 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 0 written 0}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %0 = tessera.all_reduce %x over ["tp"] : tensor<2x8x24xbf16> -> tensor<2x8x24xbf16>
  // expected-remark @+4 {{collective [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 768 written 3072}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 3072 written 768}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %1 = tessera.all_gather %x over ["tp"] dim 1 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x32x24xbf16>
  // expected-remark @+4 {{collective [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 768 written 192}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 192 written 768}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %2 = tessera.reduce_scatter %x over ["tp"] dim 1 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x2x24xbf16>
  // expected-remark @+4 {{collective [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 768 written 768}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 768 written 768}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %3 = tessera.all_to_all %x over ["tp"] split 1 concat 2 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x2x96xbf16>
  // expected-remark @+4 {{elementwise [0, 0, 0, 0]}}
  // expected-remark @+3 {{forward matmul 0 vector 0 read 192 written 192}}
  // expected-remark @+2 {{backward matmul 0 vector 0 read 192 written 768}}
  // expected-remark @+1 {{saved operands 0 results 0 extra 0}}
  %4 = tessera.slice %x over ["tp"] dim 1 ranks 4 : tensor<2x8x24xbf16> -> tensor<2x2x24xbf16>
  return
}
