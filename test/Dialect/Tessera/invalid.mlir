// Every check of the graph ops' verifiers, with its exact message.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// embedding
func.func @f(%t: tensor<2x8x1xi32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.embedding' op expects tokens to have 2 dimensions, got 3}}
  %0 = tessera.embedding %t, %w : tensor<2x8x1xi32>, tensor<9x4xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%t: tensor<2x8xi32>, %w: tensor<9xf32>) {
  // expected-error @+1 {{'tessera.embedding' op expects table to have 2 dimensions, got 1}}
  %0 = tessera.embedding %t, %w : tensor<2x8xi32>, tensor<9xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%t: tensor<2x8xi32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.embedding' op expects the result to have shape [2, 8, 4] (tokens' shape and the table's width), got [2, 8, 5]}}
  %0 = tessera.embedding %t, %w : tensor<2x8xi32>, tensor<9x4xf32> -> tensor<2x8x5xf32>
  return
}
// -----
func.func @f(%t: tensor<2x8xi32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.embedding' op expects the result to have the element type 'f32' of the table, got 'bf16'}}
  %0 = tessera.embedding %t, %w : tensor<2x8xi32>, tensor<9x4xf32> -> tensor<2x8x4xbf16>
  return
}
// -----
func.func @f(%t: tensor<2x8xi64>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.embedding' op operand #0 must be statically shaped tensor of 32-bit signless integer values, but got 'tensor<2x8xi64>'}}
  %0 = tessera.embedding %t, %w : tensor<2x8xi64>, tensor<9x4xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%t: tensor<2x?xi32>, %w: tensor<9x4xf16>) {
  // expected-error @+1 {{'tessera.embedding' op operand #0 must be statically shaped tensor of 32-bit signless integer values, but got 'tensor<2x?xi32>'}}
  %0 = tessera.embedding %t, %w : tensor<2x?xi32>, tensor<9x4xf16> -> tensor<2x8x4xf16>
  return
}

// -----
// add_positions
func.func @f(%x: tensor<2x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.add_positions' op expects x to have 3 dimensions, got 2}}
  %0 = tessera.add_positions %x, %w : tensor<2x4xf32>, tensor<9x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4x1xf32>) {
  // expected-error @+1 {{'tessera.add_positions' op expects table to have 2 dimensions, got 3}}
  %0 = tessera.add_positions %x, %w : tensor<2x8x4xf32>, tensor<9x4x1xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xbf16>) {
  // expected-error @+1 {{'tessera.add_positions' op expects table to have the element type 'f32' of x, got 'bf16'}}
  %0 = tessera.add_positions %x, %w : tensor<2x8x4xf32>, tensor<9x4xbf16>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x5xf32>) {
  // expected-error @+1 {{'tessera.add_positions' op expects a table of width 4, the width of x, got 5}}
  %0 = tessera.add_positions %x, %w : tensor<2x8x4xf32>, tensor<9x5xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.add_positions' op has 8 positions from 2 on, but the table has 9 rows}}
  %0 = tessera.add_positions %x, %w {first = 2 : i64} : tensor<2x8x4xf32>, tensor<9x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.add_positions' op expects first to be at least 0, got -1}}
  %0 = tessera.add_positions %x, %w {first = -1 : i64} : tensor<2x8x4xf32>, tensor<9x4xf32>
  return
}

// -----
// linear
func.func @f(%x: tensor<2x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects x to have 3 dimensions, got 2}}
  %0 = tessera.linear %x, %w : tensor<2x4xf32>, tensor<9x4xf32> -> tensor<2x9xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects weight to have 2 dimensions, got 1}}
  %0 = tessera.linear %x, %w : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x9xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xbf16>) {
  // expected-error @+1 {{'tessera.linear' op expects weight to have the element type 'f32' of x, got 'bf16'}}
  %0 = tessera.linear %x, %w : tensor<2x8x4xf32>, tensor<9x4xbf16> -> tensor<2x8x9xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x9xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects x of width 4, the input size of the weight (out_in), got 9}}
  %0 = tessera.linear %x, %w : tensor<2x8x9xf32>, tensor<9x4xf32> -> tensor<2x8x9xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects x of width 9, the input size of the weight (in_out), got 4}}
  %0 = tessera.linear %x, %w {weight_layout = #tessera<weight_layout in_out>} : tensor<2x8x4xf32>, tensor<9x4xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects the result to have shape [2, 8, 9] (x's rows and the weight's output size), got [2, 8, 4]}}
  %0 = tessera.linear %x, %w : tensor<2x8x4xf32>, tensor<9x4xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<9x4xf32>) {
  // expected-error @+1 {{'tessera.linear' op expects a result of the element type of x ('f32') or f32, got 'bf16'}}
  %0 = tessera.linear %x, %w : tensor<2x8x4xf32>, tensor<9x4xf32> -> tensor<2x8x9xbf16>
  return
}

// -----
// add_bias
func.func @f(%x: tensor<2x8x4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{'tessera.add_bias' op expects bias to have shape [4] (the width of x), got [5]}}
  %0 = tessera.add_bias %x, %b : tensor<2x8x4xf32>, tensor<5xf32>
  return
}
// -----
func.func @f(%x: tensor<8x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.add_bias' op expects x to have 3 dimensions, got 2}}
  %0 = tessera.add_bias %x, %b : tensor<8x4xf32>, tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %b: tensor<4xbf16>) {
  // expected-error @+1 {{'tessera.add_bias' op expects bias to have the element type 'f32' of x, got 'bf16'}}
  %0 = tessera.add_bias %x, %b : tensor<2x8x4xf32>, tensor<4xbf16>
  return
}

// -----
// rms_norm
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'tessera.rms_norm' op expects a weight whose size divides the width 12 of x, got 5}}
  %0 = tessera.rms_norm %x, %w eps 1.0e-5 : tensor<2x8x12xf32>, tensor<5xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<1x12xf32>) {
  // expected-error @+1 {{'tessera.rms_norm' op expects weight to have 1 dimensions, got 2}}
  %0 = tessera.rms_norm %x, %w eps 1.0e-5 : tensor<2x8x12xf32>, tensor<1x12xf32>
  return
}
// -----
func.func @f(%x: tensor<8x12xf32>, %w: tensor<12xf32>) {
  // expected-error @+1 {{'tessera.rms_norm' op expects x to have 3 dimensions, got 2}}
  %0 = tessera.rms_norm %x, %w eps 1.0e-5 : tensor<8x12xf32>, tensor<12xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xbf16>, %w: tensor<12xf32>) {
  // expected-error @+1 {{'tessera.rms_norm' op expects weight to have the element type 'bf16' of x, got 'f32'}}
  %0 = tessera.rms_norm %x, %w eps 1.0e-5 : tensor<2x8x12xbf16>, tensor<12xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<12xf32>) {
  // expected-error-re @+1 {{'tessera.rms_norm' op expects a finite eps of at least 0, got -1.0{{.*}}}}
  %0 = tessera.rms_norm %x, %w eps -1.0 : tensor<2x8x12xf32>, tensor<12xf32>
  return
}

// -----
// layer_norm
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<6xf32>) {
  // expected-error @+1 {{'tessera.layer_norm' op expects weight to have shape [12] (the width of x), got [6]}}
  %0 = tessera.layer_norm %x, %w eps 1.0e-5 : tensor<2x8x12xf32>, tensor<6xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<12xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{'tessera.layer_norm' op expects bias to have shape [12] (the width of x), got [6]}}
  %0 = tessera.layer_norm %x, %w bias %b : tensor<6xf32> eps 1.0e-5 : tensor<2x8x12xf32>, tensor<12xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %w: tensor<12xf32>) {
  // expected-error-re @+1 {{'tessera.layer_norm' op expects a finite eps of at least 0, got {{.*}}}}
  %0 = tessera.layer_norm %x, %w eps 0x7FF0000000000000 : tensor<2x8x12xf32>, tensor<12xf32>
  return
}

// -----
// rotary
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<8x4xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects table to have 3 dimensions, got 2}}
  %0 = tessera.rotary %x, %t head_dim 4 : tensor<2x8x12xf32>, tensor<8x4xf32>
  return
}
// -----
func.func @f(%x: tensor<8x12xf32>, %t: tensor<8x2x2xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects x to have 3 dimensions, got 2}}
  %0 = tessera.rotary %x, %t head_dim 4 : tensor<8x12xf32>, tensor<8x2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<8x2x2xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects the width of x to be a multiple of head_dim 5, got 12}}
  %0 = tessera.rotary %x, %t head_dim 5 : tensor<2x8x12xf32>, tensor<8x2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<8x2x2xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects a positive head_dim, got 0}}
  %0 = tessera.rotary %x, %t head_dim 0 : tensor<2x8x12xf32>, tensor<8x2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<8x2x3xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects a table of cosines and sines, last dimension 2, got 3}}
  %0 = tessera.rotary %x, %t head_dim 4 : tensor<2x8x12xf32>, tensor<8x2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<8x3x2xf32>) {
  // expected-error @+1 {{'tessera.rotary' op rotates 6 elements, but a head has 4}}
  %0 = tessera.rotary %x, %t head_dim 4 : tensor<2x8x12xf32>, tensor<8x3x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %t: tensor<7x2x2xf32>) {
  // expected-error @+1 {{'tessera.rotary' op expects a table of at least 8 positions, the sequence of x, got 7}}
  %0 = tessera.rotary %x, %t head_dim 4 : tensor<2x8x12xf32>, tensor<7x2x2xf32>
  return
}

// -----
// attention
func.func @f(%q: tensor<2x8x12xf32>, %k: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects the width of k to be a multiple of head_dim 4, got 6}}
  %0 = tessera.attention %q, %k, %k head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<8x12xf32>, %k: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects q to have 3 dimensions, got 2}}
  %0 = tessera.attention %q, %k, %k head_dim 4 scale 1.0 : tensor<8x12xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects a positive head_dim, got -4}}
  %0 = tessera.attention %q, %q, %q head_dim -4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>, %v: tensor<2x8x12xbf16>) {
  // expected-error @+1 {{'tessera.attention' op expects v to have the element type 'f32' of q, got 'bf16'}}
  %0 = tessera.attention %q, %q, %v head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xbf16> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>, %k: tensor<2x7x12xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects k to have shape [2, 8, 12] (batch and sequence of q), got [2, 7, 12]}}
  %0 = tessera.attention %q, %k, %k head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x7x12xf32>, tensor<2x7x12xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects v to have shape [2, 8, 12] (the shape of k), got [2, 8, 4]}}
  %0 = tessera.attention %q, %q, %v head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x4xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects the result to have shape [2, 8, 12] (the shape of q), got [2, 8, 4]}}
  %0 = tessera.attention %q, %q, %q head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects the result to have the element type 'f32' of q, got 'bf16'}}
  %0 = tessera.attention %q, %q, %q head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x12xbf16>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>, %k: tensor<2x8x8xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects the number of query heads to be a multiple of the number of key-value heads, got 3 and 2}}
  %0 = tessera.attention %q, %k, %k head_dim 4 scale 1.0 : tensor<2x8x12xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>) {
  // expected-error-re @+1 {{'tessera.attention' op expects a finite scale, got {{.*}}}}
  %0 = tessera.attention %q, %q, %q head_dim 4 scale 0x7FF8000000000000 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%q: tensor<2x8x12xf32>) {
  // expected-error @+1 {{'tessera.attention' op expects a window of at least 0, got -3}}
  %0 = tessera.attention %q, %q, %q head_dim 4 scale 1.0 {window = -3 : i64} : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x12xf32>
  return
}

// -----
// element-wise ops: operands and result have one type
func.func @f(%x: tensor<2x8x12xf32>, %y: tensor<2x8x4xf32>) {
  // expected-error @+1 {{'tessera.add' op failed to verify that all of {lhs, rhs, result} have same type}}
  %0 = "tessera.add"(%x, %y) : (tensor<2x8x12xf32>, tensor<2x8x4xf32>) -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %y: tensor<2x8x4xf32>) {
  // expected-error @+1 {{'tessera.swiglu' op failed to verify that all of {gate, up, result} have same type}}
  %0 = "tessera.swiglu"(%x, %y) : (tensor<2x8x12xf32>, tensor<2x8x4xf32>) -> tensor<2x8x12xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>) {
  // expected-error @+1 {{'tessera.activation' op failed to verify that all of {x, result} have same type}}
  %0 = "tessera.activation"(%x) {kind = #tessera<activation silu>} : (tensor<2x8x12xf32>) -> tensor<2x8x12xbf16>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf16>) {
  // expected-error @+1 {{'tessera.activation' op operand #0 must be statically shaped f32 or bf16 tensor, but got 'tensor<2x8x12xf16>'}}
  %0 = tessera.activation silu %x : tensor<2x8x12xf16>
  return
}

// -----
// cross_entropy
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x7xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy' op expects labels to have shape [2, 8] (batch and sequence of logits), got [2, 7]}}
  %0 = tessera.cross_entropy %x, %l vocab 12 : tensor<2x8x12xf32>, tensor<2x7xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<16x12xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy' op expects logits to have 3 dimensions, got 2}}
  %0 = tessera.cross_entropy %x, %l vocab 12 : tensor<16x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy' op expects the result to have shape [2, 8] (batch and sequence of logits), got [16]}}
  %0 = tessera.cross_entropy %x, %l vocab 12 : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<16xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy' op expects a vocabulary of 1 to 12 entries, the width of the logits, got 13}}
  %0 = tessera.cross_entropy %x, %l vocab 13 : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}

// -----
// token_sum and token_mean
func.func @f(%x: tensor<2x8xf32>, %l: tensor<2x7xi32>) {
  // expected-error @+1 {{'tessera.token_sum' op expects labels to have shape [2, 8] (batch and sequence of nll), got [2, 7]}}
  %0 = tessera.token_sum %x, %l : tensor<2x8xf32>, tensor<2x7xi32> -> tensor<2xf32>
  return
}
// -----
func.func @f(%x: tensor<16xf32>, %l: tensor<16xi32>) {
  // expected-error @+1 {{'tessera.token_sum' op expects nll to have 2 dimensions, got 1}}
  %0 = tessera.token_sum %x, %l : tensor<16xf32>, tensor<16xi32> -> tensor<2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.token_sum' op expects the result to have shape [2] (sum and count), got [3]}}
  %0 = tessera.token_sum %x, %l : tensor<2x8xf32>, tensor<2x8xi32> -> tensor<3xf32>
  return
}
// -----
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'tessera.token_mean' op expects sum to have shape [2] (sum and count), got [3]}}
  %0 = tessera.token_mean %x : tensor<3xf32> -> tensor<f32>
  return
}
// -----
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.token_mean' op expects the result to have 0 dimensions, got 1}}
  %0 = tessera.token_mean %x : tensor<2xf32> -> tensor<1xf32>
  return
}
