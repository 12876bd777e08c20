// Parameters, tables, block calls and the symbols that they name.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'tessera.parameter' op has an empty checkpoint name}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"">
// -----
// expected-error @+1 {{'tessera.parameter' op expects layers from 0 on and at least one, got first 0 count 0}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a.{layer}"> layers first 0 count 0
// -----
// expected-error @+1 {{'tessera.parameter' op is repeated over layers, but its checkpoint name "a" has no {layer}}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a"> layers first 0 count 2
// -----
// expected-error @+1 {{'tessera.parameter' op has {layer} in its checkpoint name "a.{layer}", but no layers}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a.{layer}">
// -----
// expected-error @+1 {{'tessera.parameter' op expects first_layer and layer_count together or neither}}
"tessera.parameter"() {sym_name = "p", type = tensor<4xf32>, checkpoint = #tessera.checkpoint<"a.{layer}">, first_layer = 0 : i64} : () -> ()
// -----
// expected-error @+1 {{'tessera.parameter' op has a view with dim 3, expected 0 to 2}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a" view [4, 3, 4] dim 3 index 0>
// -----
// expected-error @+1 {{'tessera.parameter' op has a view with index 3, expected 0 to 2}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a" view [4, 3, 4] dim 1 index 3>
// -----
// expected-error @+1 {{'tessera.parameter' op has a view of size 0 in dimension 0}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a" view [0, 3, 4] dim 1 index 1>
// -----
// expected-error @+1 {{'tessera.parameter' op has a view of 20 elements, but the parameter has 16}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a" view [5, 3, 4] dim 1 index 1>
// -----
// expected-error-re @+1 {{'tessera.parameter' op expects a finite init_std of at least 0, got -1.0{{.*}}}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a"> {init_std = -1.0 : f64}
// -----
// expected-error-re @+1 {{'tessera.parameter' op expects a finite init_mean, got {{.*}}}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a"> {init_mean = 0x7FF8000000000000 : f64}
// -----
// expected-error @+1 {{'tessera.parameter' op has a sharding of 1 dimensions, but 2 dimensions}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a"> sharding <[{"tp"}]>
// -----
// expected-error @+1 {{'tessera.parameter' op cannot have a partial sharding}}
tessera.parameter @p : tensor<4x4xf32> checkpoint <"a"> sharding <[{}, {}] partial sum {"tp"}>
// -----
// expected-error @+1 {{'tessera.parameter' op attribute 'type' failed to satisfy constraint}}
"tessera.parameter"() {sym_name = "p", type = f32, checkpoint = #tessera.checkpoint<"a">} : () -> ()

// -----
func.func @f() {
  // expected-error @+1 {{'tessera.get_parameter' op reads @p, which is no parameter of this module}}
  %0 = tessera.get_parameter @p : tensor<4xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.get_parameter' op reads @f, which is no parameter of this module}}
  %0 = tessera.get_parameter @f : tensor<4xf32>
  return
}
// -----
// expected-note @+1 {{the parameter is declared here}}
tessera.parameter @p : tensor<8xf32> checkpoint <"a">
func.func @f() {
  // expected-error @+1 {{'tessera.get_parameter' op has type 'tensor<4xf32>', but @p has type 'tensor<8xf32>'}}
  %0 = tessera.get_parameter @p : tensor<4xf32>
  return
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"tp" = 4>} {
  // expected-note @+1 {{the parameter is declared here}}
  tessera.parameter @p : tensor<7x3xf32> checkpoint <"a"> sharding <[{"tp"}, {}]> {padded}
  func.func @f() {
    %local = tessera.get_parameter @p : tensor<2x3xf32>
    %global = tessera.get_parameter @p : tensor<7x3xf32>
    // expected-error @+1 {{'tessera.get_parameter' op has type 'tensor<1x3xf32>', but @p has type 'tensor<7x3xf32>', on one rank 'tensor<2x3xf32>'}}
    %0 = tessera.get_parameter @p : tensor<1x3xf32>
    return
  }
}

// -----
tessera.parameter @p : tensor<8xf32> checkpoint <"a.{layer}"> layers first 0 count 2
func.func @f() {
  // expected-error @+1 {{'tessera.get_parameter' op reads @p, which has one tensor per layer, in the public function @f; read it in a private block function}}
  %0 = tessera.get_parameter @p : tensor<8xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.rotary_table' op expects a result of shape [positions, 2, 2], got [8, 4, 2]}}
  %0 = tessera.rotary_table <theta = 1.0e4 : f64, dim = 4> : tensor<8x4x2xf32>
  return
}
// -----
// expected-error @+1 {{rotary dim must be even and at least 2, got 3}}
#r = #tessera.rotary<theta = 1.0e4 : f64, dim = 3>
// -----
// expected-error @+1 {{rotary theta must be positive, got 0}}
#r = #tessera.rotary<theta = 0.0 : f64, dim = 4>
// -----
// expected-error @+1 {{rotary scaling 'linear' needs factor}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = linear>
// -----
// expected-error @+1 {{rotary scaling 'llama3' needs low_freq_factor}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = llama3, factor = 2.0 : f64>
// -----
// expected-error @+1 {{rotary scaling 'llama3' needs high_freq_factor}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = llama3, factor = 2.0 : f64, low_freq_factor = 1.0 : f64>
// -----
// expected-error @+1 {{rotary scaling 'llama3' needs positive original_positions, got 0}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = llama3, factor = 2.0 : f64, low_freq_factor = 1.0 : f64, high_freq_factor = 4.0 : f64>
// -----
// expected-error-re @+1 {{rotary low_freq_factor must be below high_freq_factor, got 4{{.*}} and 4{{.*}}}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = llama3, factor = 2.0 : f64, low_freq_factor = 4.0 : f64, high_freq_factor = 4.0 : f64, original_positions = 64>
// -----
// expected-error-re @+1 {{rotary beta_fast must be positive, got -1{{.*}}}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = yarn, factor = 2.0 : f64, beta_fast = -1.0 : f64>
// -----
// expected-error @+1 {{rotary scaling 'yarn' needs a theta other than 1}}
#r = #tessera.rotary<theta = 1.0 : f64, dim = 4, scaling = yarn, factor = 2.0 : f64, original_positions = 64>

// -----
func.func private @block(tensor<2xf32>) -> tensor<2xf32>
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op expects first to be at least 0, got -1}}
  %0 = tessera.layers @block(%x) first -1 count 1 : tensor<2xf32> -> tensor<2xf32>
  return
}
// -----
func.func private @block(tensor<2xf32>) -> tensor<2xf32>
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op expects a count of at least 1, got 0}}
  %0 = tessera.layers @block(%x) first 0 count 0 : tensor<2xf32> -> tensor<2xf32>
  return
}
// -----
func.func private @block(tensor<2xf32>) -> tensor<3xf32>
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op expects results of the operands' types ('tensor<2xf32>'), got ('tensor<3xf32>')}}
  %0 = tessera.layers @block(%x) first 0 count 1 : tensor<2xf32> -> tensor<3xf32>
  return
}
// -----
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op calls @block, which is no function of this module}}
  %0 = tessera.layers @block(%x) first 0 count 1 : tensor<2xf32> -> tensor<2xf32>
  return
}
// -----
// expected-note @+1 {{the block is defined here}}
func.func private @block(tensor<3xf32>) -> tensor<3xf32>
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op has type '(tensor<2xf32>) -> tensor<2xf32>', but @block has type '(tensor<3xf32>) -> tensor<3xf32>'}}
  %0 = tessera.layers @block(%x) first 0 count 1 : tensor<2xf32> -> tensor<2xf32>
  return
}
// -----
// expected-note @+1 {{the parameter is declared here}}
tessera.parameter @p : tensor<2xf32> checkpoint <"a.{layer}"> layers first 1 count 3
func.func private @block(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tessera.get_parameter @p : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'tessera.layers' op calls @block for layers 1 to 4, but @p exists for layers 1 to 3}}
  %0 = tessera.layers @block(%x) first 1 count 4 : tensor<2xf32> -> tensor<2xf32>
  return
}
