// RUN: tessera-opt %s --tessera-schedule | FileCheck %s

module attributes {gpu.container_module, tessera.mesh = #tessera.mesh<"dp" = 2, "tp" = 2>,
    tessera.model = {architecture = "LlamaForCausalLM", vocab = 64}} {
  tessera.parameter @embed : tensor<64x32xf32> checkpoint #tessera.checkpoint<"embed">
  tessera.parameter @w : tensor<32x32xf32> checkpoint #tessera.checkpoint<"l.{layer}.w">
    layers first 0 count 3 sharding #tessera.sharding<[{}, {"tp"}]> {init_std = 0.02 : f64}
  gpu.module @kernels {
    gpu.func @embedding_0(%a: memref<32xi32, #gpu.address_space<global>>, %t: memref<64x32xf32, #gpu.address_space<global>>, %o: memref<32x32xf32, #gpu.address_space<global>>) kernel { gpu.return }
    gpu.func @matmul_0(%a: memref<32x32xf32, #gpu.address_space<global>>, %w: memref<32x16xf32, #gpu.address_space<global>>, %r: memref<32x32xf32, #gpu.address_space<global>>, %o: memref<32x32xf32, #gpu.address_space<global>>) kernel { gpu.return }
    gpu.func @stats_0(%x: memref<32x32xf32, #gpu.address_space<global>>, %l: memref<32xi32, #gpu.address_space<global>>, %o: memref<32xf32, #gpu.address_space<global>>, %offset: i64) kernel { gpu.return }
  }
  func.func private @block(%x: tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {
    %w = tessera.get_parameter @w : tensor<32x16xf32>
    %0 = kernel.launch @kernels::@matmul_0 grid [1, 1, 1] block [64, 1, 1] shared 1024 in_place [2, 0]
        (%x, %w, %x) : (tensor<2x16x32xf32>, tensor<32x16xf32>, tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
    %1 = tessera.all_reduce %0 over ["tp"] : tensor<2x16x32xf32> -> tensor<2x16x32xf32>
    %2 = kernel.launch @kernels::@matmul_0 grid [1, 1, 1] block [64, 1, 1] shared 0 in_place [2, 0]
        (%1, %w, %x) : (tensor<2x16x32xf32>, tensor<32x16xf32>, tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
    return %2 : tensor<2x16x32xf32>
  }
  func.func @forward(%tokens: tensor<2x16xi32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>},
                     %labels: tensor<2x16xi32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>})
      -> (tensor<2x16xf32> {tessera.sharding = #tessera.sharding<[{"dp"}, {}]>}) {
    %t = tessera.get_parameter @embed : tensor<64x32xf32>
    %e = kernel.launch @kernels::@embedding_0 grid [4, 1, 1] block [64, 1, 1] shared 0
        (%tokens, %t) : (tensor<2x16xi32>, tensor<64x32xf32>) -> tensor<2x16x32xf32>
    %x = tessera.layers @block(%e) first 0 count 3 : tensor<2x16x32xf32> -> tensor<2x16x32xf32>
    %off = tessera.shard_offset ["dp", "tp"] size 8
    %nll = kernel.launch @kernels::@stats_0 grid [4, 1, 1] block [64, 1, 1] shared 0
        (%x, %labels, %off) : (tensor<2x16x32xf32>, tensor<2x16xi32>, index) -> tensor<2x16xf32>
    return %nll : tensor<2x16xf32>
  }
}
