// Programs that once ended in an assertion or did not end: whatever a .mlir file
// says, the answer is a message.

// RUN: split-file %s %t
// RUN: not timeout 60 tessera compile %t/scalar.mlir --mesh dp=2 -o %t/x 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not timeout 60 tessera compile %t/dynamic.mlir --compile-from tile -o %t/x 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not timeout 60 tessera compile %t/huge.mlir --compile-from partition -o %t/x 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not timeout 60 tessera compile %t/index.mlir --compile-from tile -o %t/x 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not timeout 60 tessera compile %t/last-layer.mlir --mesh dp=2 -o %t/x 2>&1 | FileCheck %s --check-prefix=LAYERS
// RUN: not timeout 60 tessera compile %t/parameters.mlir --compile-from partition -o %t/x 2>&1 | FileCheck %s --check-prefix=PARAMETERS

// Thirty blocks, each of which calls the next one twice: 2^30 paths.
// RUN: %python %S/Inputs/nested_blocks.py 30 > %t/nested.mlir
// RUN: timeout 60 tessera compile %t/nested.mlir --mesh dp=2 --chip sm_80 --virtual=false --compile-to schedule -o %t/nested.out.mlir
// RUN: FileCheck %s --check-prefix=NESTED < %t/nested.out.mlir
// NESTED-DAG: @b0
// NESTED-DAG: @b30

//--- scalar.mlir
// SCALAR: scalar.mlir:4:{{.*}}error: {{.*}}a tensor without dimensions
module attributes {tessera.model = {vocab = 8 : i64}} {
  func.func @forward(%a: tensor<f32>) -> tensor<f32> {
    %0 = tessera.add %a, %a : tensor<f32>
    return %0 : tensor<f32>
  }
}

//--- dynamic.mlir
// DYNAMIC: error: 'func.func' op cannot be placed in memory: 'tensor<?x8xf32>' has no static shape
func.func @forward(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %a : tensor<?x8xf32>
}

//--- huge.mlir
// 2^62 x 8 x 3 elements: the product wraps around to a small number.
// HUGE: error: {{.*}}is larger than the memory of any device
func.func @forward(%a: tensor<4611686018427387904x8x3xf32>) -> tensor<4611686018427387904x8x3xf32> {
  %0 = tessera.add %a, %a : tensor<4611686018427387904x8x3xf32>
  return %0 : tensor<4611686018427387904x8x3xf32>
}

//--- index.mlir
// INDEX: error: 'func.func' op cannot be placed in memory: 'tensor<8xindex>' has elements that are no numbers
func.func @forward(%a: tensor<8xindex>) -> tensor<8xindex> {
  return %a : tensor<8xindex>
}

//--- last-layer.mlir
// LAYERS: error: 'tessera.layers' op expects layers below 2147483647, got first 9223372036854775807 and count 1
func.func private @block(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = tessera.add %x, %x : tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
func.func @forward(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = tessera.layers @block(%x) first 9223372036854775807 count 1 : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

//--- parameters.mlir
// PARAMETERS: error: {{.*}}2000000000 layers of them, are larger than the memory of any device
module attributes {tessera.model = {vocab = 8 : i64}} {
  tessera.parameter @w : tensor<65536x65536xf32> checkpoint <"{layer}.w"> layers first 0 count 2000000000
  func.func private @block(%x: tensor<2x8x65536xf32>) -> tensor<2x8x65536xf32> {
    %w = tessera.get_parameter @w : tensor<65536x65536xf32>
    %0 = tessera.linear %x, %w : tensor<2x8x65536xf32>, tensor<65536x65536xf32> -> tensor<2x8x65536xf32>
    return %0 : tensor<2x8x65536xf32>
  }
  func.func @forward(%x: tensor<2x8x65536xf32>) -> tensor<2x8x65536xf32> {
    %0 = tessera.layers @block(%x) first 0 count 2000000000 : tensor<2x8x65536xf32> -> tensor<2x8x65536xf32>
    return %0 : tensor<2x8x65536xf32>
  }
}
