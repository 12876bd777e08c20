// RUN: tessera-opt %s -split-input-file -verify-diagnostics -tessera-serialize-kernels -o /dev/null

gpu.module @cpu <#kernel.binary_table> [#kernel.virtual_target<cpu = "z80">] {
  // An unknown CPU is an error here and not a warning of LLVM.
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
// expected-error @-6 {{virtual GPU: unknown CPU 'z80'}}

// -----

gpu.module @fence <#kernel.binary_table> [#kernel.virtual_target] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{'nvvm.fence.proxy' op is not on the virtual GPU}}
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    llvm.return
  }
}

// -----

gpu.module @lowered <#kernel.binary_table> [#kernel.virtual_target] {
  // expected-error @+1 {{'gpu.func' op is left after the device lowering}}
  gpu.func @k() kernel {
    gpu.return
  }
}
