// RUN: tessera-opt %s --tessera-convert-host-to-llvm | FileCheck %s

// The arguments of nccl.h: count of elements, ncclDataType_t, ncclRedOp_t.
// CHECK-DAG: llvm.func @ncclAllReduce(!llvm.ptr, !llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclAllGather(!llvm.ptr, !llvm.ptr, i64, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclReduceScatter(!llvm.ptr, !llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclBroadcast(!llvm.ptr, !llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclSend(!llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclRecv(!llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @ncclGroupStart() -> i32
// CHECK-DAG: llvm.func @ncclGroupEnd() -> i32

#device = #gpu.address_space<global>

// CHECK-LABEL: llvm.func @calls(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[STREAM:[^:]*]]: !llvm.ptr, %[[PEER:[^:]*]]: i32)
func.func @calls(%x: memref<8x4xf32, #device>, %whole: memref<128xbf16, #device>, %part: memref<32xbf16, #device>,
                 %comms: memref<1x!nccl.comm>, %stream: !llvm.ptr, %peer: i32) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[COMM:.*]] = llvm.load {{.*}} -> !llvm.ptr
  %comm = memref.load %comms[%c0] : memref<1x!nccl.comm>
  // CHECK: %[[N:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK: %[[F32:.*]] = llvm.mlir.constant(7 : i32)
  // CHECK: %[[MAX:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @ncclAllReduce(%{{.*}}, %{{.*}}, %[[N]], %[[F32]], %[[MAX]], %[[COMM]], %[[STREAM]])
  nccl.all_reduce max %x, %x comm %comm stream %stream : memref<8x4xf32, #device>, memref<8x4xf32, #device>, !llvm.ptr
  // The count is one rank's part, for gathering and for scattering.
  // CHECK: %[[N1:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK: %[[BF16:.*]] = llvm.mlir.constant(9 : i32)
  // CHECK: llvm.call @ncclAllGather(%{{.*}}, %{{.*}}, %[[N1]], %[[BF16]], %[[COMM]], %[[STREAM]])
  nccl.all_gather %part, %whole ranks 4 comm %comm stream %stream : memref<32xbf16, #device>, memref<128xbf16, #device>, !llvm.ptr
  // CHECK: %[[N2:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK: %[[SUM:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.call @ncclReduceScatter(%{{.*}}, %{{.*}}, %[[N2]], %{{.*}}, %[[SUM]], %[[COMM]], %[[STREAM]])
  nccl.reduce_scatter sum %whole, %part ranks 4 comm %comm stream %stream : memref<128xbf16, #device>, memref<32xbf16, #device>, !llvm.ptr
  // CHECK: %[[ROOT:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK: llvm.call @ncclBroadcast(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ROOT]], %[[COMM]], %[[STREAM]])
  nccl.broadcast %x, %x root 3 comm %comm stream %stream : memref<8x4xf32, #device>, memref<8x4xf32, #device>, !llvm.ptr
  // CHECK: llvm.call @ncclGroupStart()
  nccl.group_start
  // CHECK: llvm.call @ncclSend(%{{.*}}, %{{.*}}, %{{.*}}, %[[PEER]], %[[COMM]], %[[STREAM]])
  nccl.send %part peer %peer comm %comm stream %stream : memref<32xbf16, #device>, !llvm.ptr
  // CHECK: llvm.call @ncclRecv(%{{.*}}, %{{.*}}, %{{.*}}, %[[PEER]], %[[COMM]], %[[STREAM]])
  nccl.recv %part peer %peer comm %comm stream %stream : memref<32xbf16, #device>, !llvm.ptr
  // CHECK: llvm.call @ncclGroupEnd()
  nccl.group_end
  return
}
