// RUN: tessera-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Defaults are not printed.
// CHECK: gpu.module @plain [#kernel.virtual_target]
gpu.module @plain [#kernel.virtual_target] {
}

// -----

// CHECK: gpu.module @both<#kernel.binary_table> [#nvvm.target<chip = "sm_90">, #kernel.virtual_target<O = 1, cpu = "x86-64-v3", instrument = true>]
gpu.module @both <#kernel.binary_table> [
  #nvvm.target<chip = "sm_90">,
  #kernel.virtual_target<O = 1, cpu = "x86-64-v3", features = "", instrument = true>] {
}

// -----

// expected-error @+1 {{expected 'O' to be 0, 1, 2 or 3, got 4}}
gpu.module @level [#kernel.virtual_target<O = 4>] {
}

// -----

// expected-error @+1 {{expected 'cpu' to name a CPU, got an empty string; "native" is the compiling machine}}
gpu.module @cpu [#kernel.virtual_target<cpu = "">] {
}
