// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt | FileCheck %s

// CHECK-LABEL: @collectives
func.func @collectives(%x: memref<8x4xf32, 1>, %y: memref<32xf32, 1>, %z: memref<128xf32, 1>,
                       %comm: !nccl.comm, %stream: !llvm.ptr, %peer: i32) {
  // CHECK: nccl.all_reduce sum %{{.*}}, %{{.*}} comm %{{.*}} stream %{{.*}} : memref<8x4xf32, 1>, memref<32xf32, 1>, !llvm.ptr
  nccl.all_reduce sum %x, %y comm %comm stream %stream : memref<8x4xf32, 1>, memref<32xf32, 1>, !llvm.ptr
  // In place.
  // CHECK: nccl.all_reduce max %[[Y:.*]], %[[Y]] comm
  nccl.all_reduce max %y, %y comm %comm stream %stream : memref<32xf32, 1>, memref<32xf32, 1>, !llvm.ptr
  // CHECK: nccl.all_gather %{{.*}}, %{{.*}} ranks 4 comm
  nccl.all_gather %x, %z ranks 4 comm %comm stream %stream : memref<8x4xf32, 1>, memref<128xf32, 1>, !llvm.ptr
  // CHECK: nccl.reduce_scatter sum %{{.*}}, %{{.*}} ranks 4 comm
  nccl.reduce_scatter sum %z, %y ranks 4 comm %comm stream %stream : memref<128xf32, 1>, memref<32xf32, 1>, !llvm.ptr
  // CHECK: nccl.broadcast %{{.*}}, %{{.*}} root 2 comm
  nccl.broadcast %x, %y root 2 comm %comm stream %stream : memref<8x4xf32, 1>, memref<32xf32, 1>, !llvm.ptr
  // CHECK: nccl.group_start
  nccl.group_start
  // CHECK: nccl.send %{{.*}} peer %{{.*}} comm
  nccl.send %x peer %peer comm %comm stream %stream : memref<8x4xf32, 1>, !llvm.ptr
  // CHECK: nccl.recv %{{.*}} peer %{{.*}} comm
  nccl.recv %y peer %peer comm %comm stream %stream : memref<32xf32, 1>, !llvm.ptr
  // CHECK: nccl.group_end
  nccl.group_end
  return
}

// CHECK-LABEL: @table
func.func @table(%comms: memref<2x!nccl.comm>, %i: index) -> !nccl.comm {
  // CHECK: memref.load %{{.*}} : memref<2x!nccl.comm>
  %0 = memref.load %comms[%i] : memref<2x!nccl.comm>
  return %0 : !nccl.comm
}

// A call whose buffer nobody looks at is not dead: other ranks take part in it.
// RUN: tessera-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: @collectives
// KEPT-COUNT-2: nccl.all_reduce
// KEPT: nccl.all_gather
// KEPT: nccl.reduce_scatter
// KEPT: nccl.broadcast
// KEPT: nccl.group_start
// KEPT: nccl.send
// KEPT: nccl.recv
// KEPT: nccl.group_end
