// RUN: tessera-opt %s --tessera-schedule | FileCheck %s

// The block works in place on the residual stream: no second buffer. Layer l's
// parameters lie 2048 bytes after those of layer l - 1.
// CHECK-LABEL: func.func private @block(
// CHECK-SAME: %[[STREAM:[^:]*]]: !llvm.ptr, %[[PARAMS:[^:]*]]: memref<14336xi8, #gpu.address_space<global>>,
// CHECK-SAME: %[[SCRATCH:[^:]*]]: memref<4096xi8, {{.*}}>, %[[COMMS:[^:]*]]: memref<1x!nccl.comm>,
// CHECK-SAME: %{{[^:]*}}: memref<2xi64>, %[[LAYER:[^:]*]]: index, %[[X:[^:]*]]: memref<4096xi8, {{[^)]*}}) {
// CHECK: %[[COMM:.*]] = memref.load %[[COMMS]]
// CHECK: %[[XV:.*]] = memref.view %[[X]]
// CHECK: %[[L:.*]] = arith.muli %[[LAYER]], %c2048
// CHECK: %[[AT:.*]] = arith.addi %[[L]], %c0
// CHECK: %[[W:.*]] = memref.view %[[PARAMS]][%[[AT]]]
// CHECK: %[[H:.*]] = memref.view %[[SCRATCH]][%c0]
// CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @kernels::@matmul_0 {{.*}} dynamic_shared_memory_size %c1024_i32 args(%[[XV]] : {{.*}}, %[[W]] : {{.*}}, %[[XV]] : {{.*}}, %[[H]] :
// The reduction is in place.
// CHECK: %[[A:.*]] = memref.view %[[SCRATCH]][%c0]
// CHECK: %[[B:.*]] = memref.view %[[SCRATCH]][%c0]
// CHECK: nccl.all_reduce sum %[[A]], %[[B]] comm %[[COMM]] stream %[[STREAM]]
// CHECK: %[[Y:.*]] = memref.view %[[X]][%c0]
// CHECK: gpu.launch_func {{.*}}, %[[Y]] : memref

// CHECK-LABEL: func.func @tessera_forward(
// CHECK-SAME: %[[STREAM:[^:]*]]: !llvm.ptr, %[[PARAMS:[^:]*]]: memref<14336xi8, #gpu.address_space<global>>,
// CHECK-SAME: %{{[^:]*}}: memref<8704xi8, #gpu.address_space<global>>, %{{[^:]*}}: memref<1x!nccl.comm>, %[[COORDS:[^:]*]]: memref<2xi64>)
// The embedding lies behind the layers' parameters.
// CHECK: memref.view %[[PARAMS]][%c6144]
// CHECK: gpu.launch_func {{.*}} @kernels::@embedding_0
// One loop, whatever the number of layers.
// CHECK: scf.for %[[I:.*]] = %c0 to %c3 step %c1 {
// CHECK-NEXT: func.call @block(%[[STREAM]], %[[PARAMS]], %{{.*}}, %{{.*}}, %[[COORDS]], %[[I]], %{{[^,)]*}}) :
// CHECK-NEXT: }
// Index along dp and tp, dp slowest, times 8.
// CHECK: %[[DP:.*]] = memref.load %[[COORDS]][%c0]
// CHECK: %[[TP:.*]] = memref.load %[[COORDS]][%c1]
// CHECK: arith.muli %{{.*}}, %c2
// CHECK: arith.addi
// CHECK: %[[OFF:.*]] = arith.muli %{{.*}}, %c8
// CHECK: %[[I64:.*]] = arith.index_cast %[[OFF]] : index to i64
// CHECK: gpu.launch_func {{.*}} @kernels::@stats_0 {{.*}} %[[I64]] : i64)

// CHECK: llvm.mlir.global external constant @tessera_manifest
// CHECK-SAME: \22arena_bytes\22:8704,\22batch\22:4,
// CHECK-SAME: {\22calls\22:3,\22communicator\22:0,\22count\22:1024,\22dtype\22:\22f32\22,\22op\22:\22all_reduce\22}
// CHECK-SAME: \22communicators\22:[{\22axes\22:[\22tp\22]}]
// CHECK-SAME: \22global_shape\22:[4,16],\22name\22:\22tokens\22
// CHECK-SAME: \22name\22:\22nll\22
// CHECK-SAME: \22parameter_bytes\22:14336
// CHECK-SAME: \22layer_stride\22:2048,\22layers\22:{\22count\22:3,\22first\22:0},\22name\22:\22w\22,\22offset\22:0,\22padded\22:false,\22shape\22:[32,16],\22sharding\22:{{\[\[\],\[}}\22tp\22]]
// CHECK-SAME: \22vocab\22:64
// CHECK-NOT: tessera.parameter

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
