// RUN: tessera-opt %s --tessera-attach-targets="chips=sm_80,sm_90" | FileCheck %s
// RUN: tessera-opt %s --tessera-attach-targets="chips=sm_90 virtual-gpu=false" | FileCheck %s --check-prefix=REAL
// RUN: tessera-opt %s --tessera-attach-targets="virtual-cpu=x86-64-v3 instrument" | FileCheck %s --check-prefix=VIRTUAL
// RUN: not tessera-opt %s --tessera-attach-targets="chips=sm_42" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tessera-opt %s --tessera-attach-targets="virtual-gpu=false" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tessera-opt %s --tessera-attach-targets="virtual-cpu=x86-64-v9" 2>&1 | FileCheck %s --check-prefix=CPU

// One target a chip, with the PTX version that the chip needs (LLVM aborts
// without it), and the virtual GPU for this machine.
// CHECK: gpu.module @fresh<#kernel.binary_table> [
// CHECK-SAME: #nvvm.target<O = 3, chip = "sm_80", features = "+ptx{{[0-9]+}}">,
// CHECK-SAME: #nvvm.target<O = 3, chip = "sm_90", features = "+ptx{{[0-9]+}}">,
// CHECK-SAME: #kernel.virtual_target] {
// REAL: gpu.module @fresh<#kernel.binary_table> [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx{{[0-9]+}}">] {
// VIRTUAL: gpu.module @fresh<#kernel.binary_table> [#kernel.virtual_target<cpu = "x86-64-v3", instrument = true>] {
gpu.module @fresh {
  gpu.func @k(%x: memref<4xf32>) kernel {
    gpu.return
  }
}

// What has targets keeps them.
// CHECK: gpu.module @decided [#nvvm.target<chip = "sm_86">] {
// REAL: gpu.module @decided [#nvvm.target<chip = "sm_86">] {
// VIRTUAL: gpu.module @decided [#nvvm.target<chip = "sm_86">] {
gpu.module @decided [#nvvm.target<chip = "sm_86">] {
}

// CHIP: error: unknown chip 'sm_42', expected one of sm_80, sm_86, sm_89, sm_90, sm_100, sm_120
// NONE: error: no device to compile kernels for
// CPU: error: virtual GPU: unknown CPU 'x86-64-v9'; did you mean 'x86-64-v{{[234]}}'?
