// Every check of the verifiers of relative attention.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'tessera.sinusoid_table' op expects the result to have 3 dimensions, got 2}}
  %0 = tessera.sinusoid_table : tensor<8x24xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.sinusoid_table' op expects a result of batch 1, got 2}}
  %0 = tessera.sinusoid_table : tensor<2x8x24xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.sinusoid_table' op expects an even width of at least 2, got 23}}
  %0 = tessera.sinusoid_table : tensor<1x8x23xf32>
  return
}
// -----
func.func @f(%q: tensor<8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects q to have 3 dimensions, got 2}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects r to have 3 dimensions, got 2}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects a positive head_dim, got 0}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 0 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects the width of q to be a multiple of head_dim 7, got 24}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 7 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x12xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects k to have shape [2, 8, 24] (the shape of q), got [2, 8, 12]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x12xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x9x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects v to have shape [2, 8, 24] (the shape of q), got [2, 9, 24]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x9x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects the result to have shape [2, 8, 24] (the shape of q), got [1, 8, 24]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<1x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<2x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects r to have shape [1, 8, 24] (batch 1, distances and the width of q), got [2, 8, 24]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x7x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects r to encode at least 8 distances, the sequence of q, got 7}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x7x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<6xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects content_bias to have shape [24] (the width of q), got [6]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<6xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<4x6xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects position_bias to have shape [24] (the width of q), got [4, 6]}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<4x6xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xbf16>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects r to have the element type 'f32' of q, got 'bf16'}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xbf16>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xbf16>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects position_bias to have the element type 'f32' of q, got 'bf16'}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0.4
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xbf16> -> tensor<2x8x24xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x24xf32>, %k: tensor<2x8x24xf32>, %v: tensor<2x8x24xf32>, %r: tensor<1x8x24xf32>, %u: tensor<24xf32>, %w: tensor<24xf32>) {
  // expected-error @+1 {{'tessera.relative_attention' op expects a finite scale, got}}
  %0 = tessera.relative_attention %q, %k, %v, %r biases %u, %w head_dim 6 scale 0x7FF0000000000000
    : tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<2x8x24xf32>, tensor<1x8x24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<2x8x24xf32>
  return
}
