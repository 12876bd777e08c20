// The passes of the device lowering, each by its name.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(tessera-name-source-ops,tessera-keep-param-bytes,tessera-device-math-to-native))" \
// RUN:   --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

gpu.module @kernels {
  // Extents of memory behind pointers, 0 for what is no pointer.
  // CHECK: gpu.func @extents(
  // CHECK: attributes {kernel.param_bytes = array<i64: 64, 24, 0>}
  gpu.func @extents(%a: memref<4x4xf32>, %b: memref<3xvector<4xbf16>>, %n: index) kernel {
    gpu.return
  }

  // CHECK: gpu.func @math(
  gpu.func @math(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
    // The name goes around the place in the file.
    // CHECK: llvm.intr.exp2(%{{.*}}) : (vector<4xf32>) -> vector<4xf32> loc("math.exp2"("{{.*}}device-passes.mlir":[[# @LINE + 1]]:{{[0-9]+}}))
    %0 = math.exp2 %v : vector<4xf32>
    // CHECK: llvm.intr.sqrt(%{{.*}}) {fastmathFlags = #llvm.fastmath<contract>} : (vector<4xf32>)
    %1 = math.sqrt %0 fastmath<contract> : vector<4xf32>
    // CHECK: llvm.intr.maxnum
    %2 = arith.maxnumf %0, %1 : vector<4xf32>
    vector.store %2, %x[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @libdevice(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<4xf32>
    // expected-error @below {{'math.sin' on 'f32' has no device instruction; use the functions of DeviceMath on f32}}
    %0 = math.sin %v : f32
    memref.store %0, %x[%c0] : memref<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{argument #0 of type 'memref<?xf32>' cannot become a bare pointer, expected a static shape and the identity layout}}
  gpu.func @dynamic(%x: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{argument #1 is an unranked memref, expected a static shape}}
  gpu.func @unranked(%n: index, %x: memref<*xf32>) kernel {
    gpu.return
  }
}
