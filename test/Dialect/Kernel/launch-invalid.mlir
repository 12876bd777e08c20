// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{grid must have 3 sizes, got 2}}
  %0 = kernel.launch @k grid [1, 1] block [64, 1, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @positive(%x: tensor<4xf32>) {
  // expected-error @+1 {{block sizes must be positive, got 0}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 0, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @grid(%x: tensor<4xf32>) {
  // expected-error @+1 {{grid sizes must be at most 2147483647, 65535, 65535, got 65536}}
  %0 = kernel.launch @k grid [1, 65536, 1] block [64, 1, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The product of these is 2^64, which wraps to 0.
func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @wraps(%x: tensor<4xf32>) {
  // expected-error @+1 {{block sizes must be at most 1024, 1024, 64, got 4294967296}}
  %0 = kernel.launch @k grid [1, 1, 1] block [4294967296, 4294967296, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @threads(%x: tensor<4xf32>) {
  // expected-error @+1 {{a block holds at most 1024 threads, got 2048}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 32, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @shared(%x: tensor<4xf32>) {
  // expected-error @+1 {{shared memory must not be negative, got -1}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared -1 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{kernel @nothing is not a function}}
  %0 = kernel.launch @nothing grid [1, 1, 1] block [64, 1, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>)
func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{kernel @k takes 1 arguments, the launch has 2 operands and results}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared 0 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @odd(%x: tensor<4xf32>) {
  // expected-error @+1 {{in_place must list pairs of operand and result}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared 0 in_place [0] (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @operand(%x: tensor<4xf32>) {
  // expected-error @+1 {{in_place names operand 1, there are 1}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared 0 in_place [1, 0] (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @result(%x: tensor<4xf32>) {
  // expected-error @+1 {{in_place names result -1, there are 1}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared 0 in_place [0, -1] (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>, memref<8xf32>)
func.func @size(%x: tensor<4xf32>) {
  // expected-error @+1 {{in_place pairs 'tensor<4xf32>' with 'tensor<8xf32>', which differ in size}}
  %0 = kernel.launch @k grid [1, 1, 1] block [64, 1, 1] shared 0 in_place [0, 0] (%x) : (tensor<4xf32>) -> tensor<8xf32>
  return
}
