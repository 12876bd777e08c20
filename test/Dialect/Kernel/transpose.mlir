// RUN: tessera-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<8x32x64xf32>) -> tensor<2x128x64xf32> {
  // CHECK: kernel.transpose %{{.*}} rows 4 cols 2 : tensor<8x32x64xf32> -> tensor<2x128x64xf32>
  %0 = kernel.transpose %x rows 4 cols 2 : tensor<8x32x64xf32> -> tensor<2x128x64xf32>
  return %0 : tensor<2x128x64xf32>
}

// -----

func.func @sizes(%x: tensor<8xf32>) -> tensor<9xf32> {
  // expected-error @below {{moves 'tensor<8xf32>' to 'tensor<9xf32>'; element types and numbers of elements must agree}}
  %0 = kernel.transpose %x rows 4 cols 2 : tensor<8xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

func.func @parts(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot see 8 elements as 3 by 2 equal parts}}
  %0 = kernel.transpose %x rows 3 cols 2 : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @positive(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{rows and cols must be at least 1, got 0 and 2}}
  %0 = kernel.transpose %x rows 0 cols 2 : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
