// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-convert-host-to-llvm | FileCheck %s

// Launches keep the caller's stream and pass bare pointers; device code is left alone.
module attributes {gpu.container_module} {
  // CHECK: gpu.module @k
  gpu.module @k {
    llvm.func @double(%x: !llvm.ptr, %n: i64) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // CHECK-LABEL: llvm.func @run(
  // CHECK-SAME: %[[STREAM:[^:]*]]: !llvm.ptr, %[[BYTES:[^:]*]]: !llvm.ptr, %[[N:[^:]*]]: i64)
  func.func @run(%stream: !llvm.ptr, %bytes: memref<1024xi8, #gpu.address_space<global>>, %n: i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %x = memref.view %bytes[%c64][] : memref<1024xi8, #gpu.address_space<global>> to memref<4x8xf32, #gpu.address_space<global>>
    // A loop becomes branches.
    // CHECK: llvm.cond_br
    scf.for %i = %c0 to %c64 step %c1 {
      // CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @k::@double blocks in (%{{.*}}) threads in (%{{.*}}) : i64 args(%{{.*}} : !llvm.ptr, %[[N]] : i64)
      gpu.launch_func <%stream : !llvm.ptr> @k::@double blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%x : memref<4x8xf32, #gpu.address_space<global>>, %n : i64)
    }
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    llvm.func @f() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @no_stream() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{has no stream to run on}}
    // expected-error @below {{failed to legalize operation 'gpu.launch_func'}}
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
