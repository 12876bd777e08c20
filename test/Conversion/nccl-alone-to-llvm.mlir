// The pass by its own name: it converts NCCL calls and leaves the rest, with
// casts in between.
// RUN: tessera-opt %s --tessera-convert-nccl-to-llvm -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: llvm.func @ncclAllReduce(!llvm.ptr, !llvm.ptr, i64, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: func.func @reduce(
// CHECK-SAME: %[[X:.*]]: memref<8x4xf32>, %[[COMM:.*]]: !nccl.comm, %[[STREAM:.*]]: !llvm.ptr)
func.func @reduce(%x: memref<8x4xf32>, %comm: !nccl.comm, %stream: !llvm.ptr) -> memref<8x4xf32> {
  // CHECK-DAG: %[[C:.*]] = builtin.unrealized_conversion_cast %[[COMM]] : !nccl.comm to !llvm.ptr
  // CHECK-DAG: %[[D:.*]] = builtin.unrealized_conversion_cast %[[X]]
  // CHECK-DAG: %[[N:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK: llvm.call @ncclAllReduce(%{{.*}}, %{{.*}}, %[[N]], %{{.*}}, %{{.*}}, %[[C]], %[[STREAM]])
  // CHECK-NOT: nccl.all_reduce
  nccl.all_reduce sum %x, %x comm %comm stream %stream : memref<8x4xf32>, memref<8x4xf32>, !llvm.ptr
  // CHECK: return %[[X]]
  return %x : memref<8x4xf32>
}

// -----

// A second call uses the declaration of the first.
// CHECK: llvm.func @ncclSend
// CHECK-NOT: llvm.func @ncclSend
// CHECK-LABEL: func.func @twice(
func.func @twice(%x: memref<4xbf16>, %comm: !nccl.comm, %stream: !llvm.ptr, %peer: i32) {
  // CHECK: llvm.call @ncclGroupStart() : () -> i32
  nccl.group_start
  // CHECK: llvm.call @ncclSend
  nccl.send %x peer %peer comm %comm stream %stream : memref<4xbf16>, !llvm.ptr
  // CHECK: llvm.call @ncclSend
  nccl.send %x peer %peer comm %comm stream %stream : memref<4xbf16>, !llvm.ptr
  // CHECK: llvm.call @ncclGroupEnd() : () -> i32
  nccl.group_end
  return
}

// -----

// The name of an NCCL function stands for something else.
// expected-error @below {{redefinition of function 'ncclBroadcast' of different type}}
llvm.func @ncclBroadcast(i32)
func.func @taken(%x: memref<4xf32>, %comm: !nccl.comm, %stream: !llvm.ptr) {
  // expected-error @below {{needs the function 'ncclBroadcast', whose name the module uses otherwise}}
  // expected-error @below {{failed to legalize operation 'nccl.broadcast'}}
  nccl.broadcast %x, %x root 0 comm %comm stream %stream : memref<4xf32>, memref<4xf32>, !llvm.ptr
  return
}
