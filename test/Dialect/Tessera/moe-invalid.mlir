// Every check of the verifiers of experts and latent attention.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x20xf32>) {
  // expected-error @+1 {{'tessera.router' op expects weight to have shape [6, 24] (experts and the width of x), got [6, 20]}}
  %0:2 = tessera.router %x, %w top_k 2 : tensor<2x8x24xf32>, tensor<6x20xf32> -> tensor<2x8x2xf32>, tensor<2x8x2xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x24xf32>) {
  // expected-error @+1 {{'tessera.router' op expects top_k to be at most 6, the number of experts to choose from, got 7}}
  %0:2 = tessera.router %x, %w top_k 7 : tensor<2x8x24xf32>, tensor<6x24xf32> -> tensor<2x8x7xf32>, tensor<2x8x7xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x24xf32>) {
  // expected-error @+1 {{'tessera.router' op expects groups to divide the 6 experts and top_groups to be at most groups, got groups 4 and top_groups 1}}
  %0:2 = tessera.router %x, %w top_k 1 {groups = 4 : i64} : tensor<2x8x24xf32>, tensor<6x24xf32> -> tensor<2x8x1xf32>, tensor<2x8x1xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x24xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{'tessera.router' op expects bias to have shape [6] (the number of experts), got [5]}}
  %0:2 = tessera.router %x, %w bias %b : tensor<5xf32> top_k 1 : tensor<2x8x24xf32>, tensor<6x24xf32> -> tensor<2x8x1xf32>, tensor<2x8x1xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x24xf32>) {
  // expected-error @+1 {{'tessera.router' op expects experts to have shape [2, 8, 1] (batch and sequence of x, and top_k), got [2, 8, 2]}}
  %0:2 = tessera.router %x, %w top_k 1 : tensor<2x8x24xf32>, tensor<6x24xf32> -> tensor<2x8x1xf32>, tensor<2x8x2xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %w: tensor<6x24xf32>) {
  // expected-error @+1 {{'tessera.router' op expects a positive top_k, got 0}}
  %0:2 = tessera.router %x, %w top_k 0 : tensor<2x8x24xf32>, tensor<6x24xf32> -> tensor<2x8x0xf32>, tensor<2x8x0xi32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %e: tensor<2x8x2xi32>) {
  // expected-error @+1 {{'tessera.permute' op expects rows to have shape [6, 6, 24] (experts, ceil(tokens * top_k / experts) and the width), got [6, 5, 24]}}
  %0 = tessera.permute %x, %e : tensor<2x8x24xf32>, tensor<2x8x2xi32> -> tensor<6x5x24xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %e: tensor<2x4x2xi32>) {
  // expected-error @+1 {{'tessera.permute' op expects experts to have shape [2, 8, 2] (batch and sequence of x, and top_k), got [2, 4, 2]}}
  %0 = tessera.permute %x, %e : tensor<2x8x24xf32>, tensor<2x4x2xi32> -> tensor<6x6x24xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>, %e: tensor<2x8x2xi32>) {
  // expected-error @+1 {{'tessera.permute' op expects rows to have the element type 'f32' of x, got 'bf16'}}
  %0 = tessera.permute %x, %e : tensor<2x8x24xf32>, tensor<2x8x2xi32> -> tensor<6x6x24xbf16>
  return
}
// -----
func.func @f(%x: tensor<6x6x24xf32>, %w: tensor<5x10x24xf32>) {
  // expected-error @+1 {{'tessera.grouped_linear' op expects weight to have shape [6, 10, 24] (experts of x, output size and the width of x), got [5, 10, 24]}}
  %0 = tessera.grouped_linear %x, %w : tensor<6x6x24xf32>, tensor<5x10x24xf32> -> tensor<6x6x10xf32>
  return
}
// -----
func.func @f(%x: tensor<6x6x24xf32>, %w: tensor<6x10x24xf32>) {
  // expected-error @+1 {{'tessera.grouped_linear' op expects the result to have shape [6, 6, 10] (x's rows and the weight's output size), got [6, 6, 11]}}
  %0 = tessera.grouped_linear %x, %w : tensor<6x6x24xf32>, tensor<6x10x24xf32> -> tensor<6x6x11xf32>
  return
}
// -----
func.func @f(%r: tensor<6x6x24xf32>, %p: tensor<2x8x2xf32>, %e: tensor<2x8x3xi32>) {
  // expected-error @+1 {{'tessera.combine' op expects experts to have shape [2, 8, 2] (the shape of weights), got [2, 8, 3]}}
  %0 = tessera.combine %r, %p, %e : tensor<6x6x24xf32>, tensor<2x8x2xf32>, tensor<2x8x3xi32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%r: tensor<6x6x24xf32>, %p: tensor<2x8x2xf32>, %e: tensor<2x8x2xi32>) {
  // expected-error @+1 {{'tessera.combine' op expects the result to have shape [2, 8, 24] (batch and sequence of weights, width of rows), got [2, 8, 20]}}
  %0 = tessera.combine %r, %p, %e : tensor<6x6x24xf32>, tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x20xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x24xf32>) {
  // expected-error @+1 {{'tessera.split' op expects the parts' widths to add up to 24, the width of x, got 25}}
  %0:2 = tessera.split %x : tensor<2x8x24xf32> -> tensor<2x8x20xf32>, tensor<2x8x5xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x31xf32>, %kv: tensor<2x8x42xf32>, %k: tensor<2x8x4xf32>, %t: tensor<9x2x2xf32>) {
  // expected-error @+1 {{'tessera.latent_attention' op expects the width of q to be a multiple of 10 (nope_dim + rope_dim), got 31}}
  %0 = tessera.latent_attention %q, %kv, %k, %t nope_dim 6 rope_dim 4 value_dim 8 scale 0.3 causal
    : tensor<2x8x31xf32>, tensor<2x8x42xf32>, tensor<2x8x4xf32>, tensor<9x2x2xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x30xf32>, %kv: tensor<2x8x40xf32>, %k: tensor<2x8x4xf32>, %t: tensor<9x2x2xf32>) {
  // expected-error @+1 {{'tessera.latent_attention' op expects kv to have shape [2, 8, 42] (heads of q times nope_dim + value_dim), got [2, 8, 40]}}
  %0 = tessera.latent_attention %q, %kv, %k, %t nope_dim 6 rope_dim 4 value_dim 8 scale 0.3 causal
    : tensor<2x8x30xf32>, tensor<2x8x40xf32>, tensor<2x8x4xf32>, tensor<9x2x2xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x30xf32>, %kv: tensor<2x8x42xf32>, %k: tensor<2x8x4xf32>, %t: tensor<7x2x2xf32>) {
  // expected-error @+1 {{'tessera.latent_attention' op has 8 positions, but the table has 7}}
  %0 = tessera.latent_attention %q, %kv, %k, %t nope_dim 6 rope_dim 4 value_dim 8 scale 0.3 causal
    : tensor<2x8x30xf32>, tensor<2x8x42xf32>, tensor<2x8x4xf32>, tensor<7x2x2xf32> -> tensor<2x8x24xf32>
  return
}
