// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @reduce_sizes(%x: memref<8xf32>, %y: memref<9xf32>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{recv must have 8 elements (1 times those of send), got 9}}
  nccl.all_reduce sum %x, %y comm %c stream %s : memref<8xf32>, memref<9xf32>, !llvm.ptr
  return
}

// -----

func.func @reduce_types(%x: memref<8xf32>, %y: memref<8xbf16>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{send and recv must have the same element type, got 'memref<8xf32>' and 'memref<8xbf16>'}}
  nccl.all_reduce sum %x, %y comm %c stream %s : memref<8xf32>, memref<8xbf16>, !llvm.ptr
  return
}

// -----

func.func @gather_sizes(%x: memref<8xf32>, %y: memref<8xf32>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{recv must have 16 elements (2 times those of send), got 8}}
  nccl.all_gather %x, %y ranks 2 comm %c stream %s : memref<8xf32>, memref<8xf32>, !llvm.ptr
  return
}

// -----

func.func @scatter_sizes(%x: memref<8xf32>, %y: memref<2xf32>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{send must have 6 elements (3 times those of recv), got 8}}
  nccl.reduce_scatter sum %x, %y ranks 3 comm %c stream %s : memref<8xf32>, memref<2xf32>, !llvm.ptr
  return
}

// -----

func.func @ranks(%x: memref<8xf32>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{needs at least 1 rank, got 0}}
  nccl.all_gather %x, %x ranks 0 comm %c stream %s : memref<8xf32>, memref<8xf32>, !llvm.ptr
  return
}

// -----

func.func @element(%x: memref<8xi1>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{send has element type 'i1', which NCCL cannot move}}
  nccl.all_reduce sum %x, %x comm %c stream %s : memref<8xi1>, memref<8xi1>, !llvm.ptr
  return
}

// -----

func.func @dynamic(%x: memref<?xf32>, %c: !nccl.comm, %s: !llvm.ptr, %p: i32) {
  // expected-error @below {{buffer must have a static shape, got 'memref<?xf32>'}}
  nccl.send %x peer %p comm %c stream %s : memref<?xf32>, !llvm.ptr
  return
}

// -----

func.func @strided(%x: memref<8x8xf32, strided<[16, 1]>>, %c: !nccl.comm, %s: !llvm.ptr, %p: i32) {
  // expected-error @below {{buffer must be contiguous}}
  nccl.recv %x peer %p comm %c stream %s : memref<8x8xf32, strided<[16, 1]>>, !llvm.ptr
  return
}

// -----

func.func @root(%x: memref<8xf32>, %c: !nccl.comm, %s: !llvm.ptr) {
  // expected-error @below {{root must be a rank, got -1}}
  nccl.broadcast %x, %x root -1 comm %c stream %s : memref<8xf32>, memref<8xf32>, !llvm.ptr
  return
}

// -----

func.func @open() {
  // expected-error @below {{has no nccl.group_end in its block}}
  nccl.group_start
  return
}

// -----

func.func @nested() {
  // expected-error @below {{groups do not nest, close this one first}}
  nccl.group_start
  nccl.group_start
  nccl.group_end
  nccl.group_end
  return
}

// -----

func.func @close() {
  // expected-error @below {{closes no nccl.group_start}}
  nccl.group_end
  return
}
