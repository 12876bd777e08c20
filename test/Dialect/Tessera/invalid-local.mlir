// Collectives, ops of one rank's program, and everything that must fit the mesh.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'tessera.axis_index' op expects at least one mesh axis}}
  %0 = tessera.axis_index []
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.axis_index' op names mesh axis "tp" twice}}
  %0 = tessera.axis_index ["tp", "tp"]
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'tessera.shard_offset' op expects a positive size, got 0}}
  %0 = tessera.shard_offset ["tp"] size 0
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_reduce' op expects the result to have shape [4] (the operand's), got [8]}}
  %0 = tessera.all_reduce %x over ["tp"] : tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_reduce' op expects the result to have the element type 'f32' of the operand, got 'bf16'}}
  %0 = tessera.all_reduce %x over ["tp"] : tensor<4xf32> -> tensor<4xbf16>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_reduce' op expects at least one mesh axis}}
  %0 = tessera.all_reduce %x over [] : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_gather' op expects the result to have shape [8] (the parts of all ranks), got [4]}}
  %0 = tessera.all_gather %x over ["tp"] dim 0 ranks 2 : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_gather' op expects dim to be in 0 to 0, got 1}}
  %0 = tessera.all_gather %x over ["tp"] dim 1 ranks 2 : tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.all_gather' op expects at least 1 rank, got 0}}
  %0 = tessera.all_gather %x over ["tp"] dim 0 ranks 0 : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.reduce_scatter' op cannot divide dimension 0 of size 4 among 3 ranks}}
  %0 = tessera.reduce_scatter %x over ["tp"] dim 0 ranks 3 : tensor<4xf32> -> tensor<1xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.reduce_scatter' op expects the result to have shape [2] (one rank's part), got [4]}}
  %0 = tessera.reduce_scatter %x over ["tp"] dim 0 ranks 2 : tensor<4xf32> -> tensor<4xf32>
  return
}
// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.slice' op cannot divide dimension 0 of size 4 among 8 ranks}}
  %0 = tessera.slice %x over ["tp"] dim 0 ranks 8 : tensor<4xf32> -> tensor<1xf32>
  return
}
// -----
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tessera.all_to_all' op expects split and concat to be different dimensions, got 0 for both}}
  %0 = tessera.all_to_all %x over ["tp"] split 0 concat 0 ranks 2 : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}
// -----
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tessera.all_to_all' op expects concat to be in 0 to 1, got 2}}
  %0 = tessera.all_to_all %x over ["tp"] split 0 concat 2 ranks 2 : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}
// -----
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tessera.all_to_all' op expects the result to have shape [2, 8] (split divided, concat multiplied by the ranks), got [4, 4]}}
  %0 = tessera.all_to_all %x over ["tp"] split 0 concat 1 ranks 2 : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}
// -----
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{'tessera.all_to_all' op cannot divide dimension 0 of size 5 among 2 ranks}}
  %0 = tessera.all_to_all %x over ["tp"] split 0 concat 1 ranks 2 : tensor<5x4xf32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x7xi32>, %o: index) {
  // expected-error @+1 {{'tessera.cross_entropy_stats' op expects labels to have shape [2, 8] (batch and sequence of logits), got [2, 7]}}
  %0 = tessera.cross_entropy_stats %x, %l offset %o vocab 12 : tensor<2x8x12xf32>, tensor<2x7xi32> -> tensor<2x8x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x8xi32>, %o: index) {
  // expected-error @+1 {{'tessera.cross_entropy_stats' op expects the result to have shape [2, 8, 3] (three numbers a token), got [2, 8, 2]}}
  %0 = tessera.cross_entropy_stats %x, %l offset %o vocab 12 : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x12xf32>, %l: tensor<2x8xi32>, %o: index) {
  // expected-error @+1 {{'tessera.cross_entropy_stats' op expects a vocabulary of at least 1 entry, got 0}}
  %0 = tessera.cross_entropy_stats %x, %l offset %o vocab 0 : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x12xf32>, %l: tensor<2x8xi32>, %o: index) {
  // expected-error @+1 {{'tessera.cross_entropy_stats' op expects logits to have 3 dimensions, got 2}}
  %0 = tessera.cross_entropy_stats %x, %l offset %o vocab 1 : tensor<2x12xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy_combine' op expects stats of width 3 * ranks, got 4}}
  %0 = tessera.cross_entropy_combine %x, %l : tensor<2x8x4xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x6xf32>, %l: tensor<2x7xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy_combine' op expects labels to have shape [2, 8] (batch and sequence of stats), got [2, 7]}}
  %0 = tessera.cross_entropy_combine %x, %l : tensor<2x8x6xf32>, tensor<2x7xi32> -> tensor<2x8xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x6xf32>, %l: tensor<2x8xi32>) {
  // expected-error @+1 {{'tessera.cross_entropy_combine' op expects the result to have shape [2, 8] (batch and sequence of stats), got [16]}}
  %0 = tessera.cross_entropy_combine %x, %l : tensor<2x8x6xf32>, tensor<2x8xi32> -> tensor<16xf32>
  return
}

// -----
// expected-error @+1 {{mesh axis 'tp' occurs twice}}
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2, "tp" = 2>} {}
// -----
// expected-error @+1 {{mesh axis 'tp' must have a positive size, got 0}}
module attributes {tessera.mesh = #tessera.mesh<"tp" = 0>} {}
// -----
// expected-error @+1 {{mesh axis 0 has an empty name}}
module attributes {tessera.mesh = #tessera.mesh<"" = 2>} {}
// -----
// expected-error @+1 {{expects tessera.mesh to be a #tessera.mesh, got 4}}
module attributes {tessera.mesh = 4 : i64} {}
// -----
// expected-error @+1 {{has tessera.mesh, which belongs on the module}}
func.func private @f() attributes {tessera.mesh = #tessera.mesh<"tp" = 2>}
// -----
// expected-error @+1 {{expects tessera.model to be a dictionary on the module}}
module attributes {tessera.model = 4 : i64} {}
// -----
// expected-error @+1 {{has an attribute 'tessera.msh' that the tessera dialect does not know}}
module attributes {tessera.msh = 4 : i64} {}
// -----
// expected-error @+1 {{mesh axis "tp" occurs twice in one sharding}}
#s = #tessera.sharding<[{"tp"}, {"tp"}]>
// -----
// expected-error @+1 {{expected 'sum' or 'max', got 'min'}}
#s = #tessera.sharding<[{}] partial min {"tp"}>
// -----
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has a tessera.sharding of 2 dimensions on a value of type 'tensor<2x8x4xf32>'}}
  %0 = tessera.add %x, %x {tessera.sharding = #tessera.sharding<[{}, {}]>} : tensor<2x8x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @+1 {{expects tessera.sharding to be a #tessera.sharding, got "tp"}}
  %0 = tessera.add %x, %x {tessera.sharding = "tp"} : tensor<2x8x4xf32>
  return
}
// -----
// expected-error @+1 {{argument 0 has a tessera.sharding of 1 dimensions on a value of type 'tensor<2x8xf32>'}}
func.func private @f(tensor<2x8xf32> {tessera.sharding = #tessera.sharding<[{}]>})
// -----
// expected-error @+1 {{result 0 has a tessera.sharding of 1 dimensions on a value of type 'tensor<2x8xf32>'}}
func.func private @f() -> (tensor<2x8xf32> {tessera.sharding = #tessera.sharding<[{}]>})
// -----
// expected-error @+1 {{result 0 has an attribute 'tessera.shard' that the tessera dialect does not know}}
func.func private @f() -> (tensor<2x8xf32> {tessera.shard = 1 : i64})
// -----
// expected-error @+1 {{argument 1 has tessera.sharding on a value that is no tensor ('index')}}
func.func private @f(index, index {tessera.sharding = #tessera.sharding<[]>})
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  // expected-error @+1 {{has a sharding that does not fit: the mesh has no axis 'ep'}}
  func.func private @f(tensor<2x8xf32> {tessera.sharding = #tessera.sharding<[{"ep"}, {}]>})
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  // expected-error @+1 {{has a sharding that does not fit: the mesh has no axis 'ep'}}
  func.func private @f() -> (tensor<2x8xf32> {tessera.sharding = #tessera.sharding<[{"ep"}, {}]>})
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  func.func @f(%x: tensor<2x8x4xf32>) {
    // expected-error @+1 {{has a sharding that does not fit: the mesh has no axis 'ep'}}
    %0 = tessera.add %x, %x {tessera.sharding = #tessera.sharding<[{}, {}, {"ep"}]>} : tensor<2x8x4xf32>
    return
  }
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  // expected-error @+1 {{has a sharding that does not fit: the mesh has no axis 'ep'}}
  tessera.parameter @p : tensor<4xf32> checkpoint <"a"> sharding <[{"ep"}]>
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  // expected-error @+1 {{has a sharding that does not fit: dimension 0 of size 6 cannot be split into 4 equal parts}}
  tessera.parameter @p : tensor<6xf32> checkpoint <"a"> sharding <[{"tp"}]>
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  func.func @f(%x: tensor<4xf32>) {
    // expected-error @+1 {{'tessera.all_gather' op is for 2 ranks, but the mesh has 8 along ["dp", "tp"]}}
    %0 = tessera.all_gather %x over ["dp", "tp"] dim 0 ranks 2 : tensor<4xf32> -> tensor<8xf32>
    return
  }
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  func.func @f(%x: tensor<4xf32>) {
    // expected-error @+1 {{'tessera.all_reduce' op names axis "ep", which the mesh lacks}}
    %0 = tessera.all_reduce %x over ["ep"] : tensor<4xf32> -> tensor<4xf32>
    return
  }
}
// -----
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  func.func @f() {
    // expected-error @+1 {{'tessera.shard_offset' op names axis "ep", which the mesh lacks}}
    %0 = tessera.shard_offset ["ep"] size 4
    return
  }
}
// -----
// A generic op without its attributes is found before the mesh looks at it.
module attributes {tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 4>} {
  func.func @f(%x: tensor<4xf32>) {
    // expected-error @+1 {{'tessera.all_gather' op requires attribute 'axes'}}
    %0 = "tessera.all_gather"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
