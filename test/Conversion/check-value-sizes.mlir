// A value that the registers of a thread (255 of 4 bytes) cannot hold is
// refused before upstream's lowerings take it apart element by element.
// RUN: tessera-opt %s --tessera-check-value-sizes -split-input-file -verify-diagnostics
// RUN: not tessera-opt %s --tessera-check-value-sizes -split-input-file 2>&1 | FileCheck %s

// What fits stays as it is.
// CHECK-LABEL: gpu.func @fits
// CHECK: vector<255xf32>
gpu.module @kernels {
  gpu.func @fits(%from: memref<1048576x1048576xf32>) kernel {
    %0 = arith.constant dense<0.0> : vector<255xf32>
    %1 = arith.constant dense<true> : vector<1020xi1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wide() kernel {
    // expected-error @below {{makes a value of type 'vector<256xf32>', which takes 1024 bytes; the registers of a thread hold 1020}}
    %0 = arith.constant dense<0.0> : vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @grows() kernel {
    %0 = ub.poison : vector<4xf64>
    // expected-error @below {{'vector<4611686018427387904x4xf64>', which takes 2^64 bytes or more}}
    %1 = vector.broadcast %0 : vector<4xf64> to vector<4611686018427387904x4xf64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has an argument of type 'memref<2xvector<2000xi8>>', which takes 2000 bytes}}
  gpu.func @element(%from: memref<2xvector<2000xi8>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @record() {
    // expected-error @below {{which takes 1200 bytes}}
    %0 = llvm.mlir.undef : !llvm.struct<(array<100 x i64>, array<400 x i8>)>
    llvm.return
  }
}

// -----

// Host code goes through the same lowerings.
func.func @host() {
  // expected-error @below {{'vector<65536xf32>', which takes 262144 bytes}}
  %0 = arith.constant dense<0.0> : vector<65536xf32>
  return
}
