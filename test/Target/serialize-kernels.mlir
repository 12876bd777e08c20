// RUN: tessera-opt %s --tessera-serialize-kernels="ptx-only" -split-input-file -verify-diagnostics | FileCheck %s

// A binary in place of the module: an object a target, and the names of the
// kernels in launch order. What is not a kernel is not named.
// CHECK-NOT: gpu.module
// CHECK: gpu.binary @kernels <#kernel.binary_table> [
// CHECK-SAME: #gpu.object<#nvvm.target<chip = "sm_80", features = "+ptx80">, properties = {kernels = ["first", "second"]}, assembly = "{{.*}}.target sm_80{{.*}}.entry first(
// CHECK-SAME: #gpu.object<#kernel.virtual_target, properties = {kernels = ["first", "second"]}, offload = "\7FELF
gpu.module @kernels <#kernel.binary_table> [#nvvm.target<chip = "sm_80", features = "+ptx80">, #kernel.virtual_target] {
  llvm.func @first() attributes {gpu.kernel, nvvm.kernel, kernel.param_bytes = array<i64>} {
    llvm.return
  }
  llvm.func internal @helper() {
    llvm.return
  }
  llvm.func @second() attributes {gpu.kernel, nvvm.kernel, kernel.param_bytes = array<i64>} {
    llvm.return
  }
}

// -----

// expected-error @below {{has no targets; run tessera-attach-targets first}}
gpu.module @bare {
  llvm.func @first() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// The manifest learns what was compiled; nothing else of it changes.
gpu.module @kernels <#kernel.binary_table> [#kernel.virtual_target<cpu = "x86-64-v2", instrument = true>] {
  llvm.func @first() attributes {gpu.kernel, nvvm.kernel, kernel.param_bytes = array<i64>} {
    llvm.return
  }
}
// CHECK: llvm.mlir.global external constant @tessera_manifest("{\22images\22:[],\22version\22:1,\22virtual\22:{\22cpu\22:\22x86-64-v2\22,\22features\22:[{{.*}}\22sse4.2\22{{.*}}],\22instrumented\22:true}}\00")
// CHECK-SAME: section = ".tessera.manifest"
llvm.mlir.global external constant @tessera_manifest("{\22version\22:1}\00") : !llvm.array<14 x i8>
