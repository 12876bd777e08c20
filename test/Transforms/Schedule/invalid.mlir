// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-schedule

// expected-error @below {{has no public function to run}}
module {
}

// -----

module {
  // expected-note @below {{the first is here}}
  func.func @a(%x: tensor<4xf32>) { return }
  // expected-error @below {{is a second public function; a program has one entry}}
  func.func @b(%x: tensor<4xf32>) { return }
}

// -----

module {
  func.func @forward(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
    // expected-error @below {{has no kernel; the host program holds launches, collectives and block calls only}}
    %0 = tessera.add %x, %x : tensor<1x4x4xf32>
    return %0 : tensor<1x4x4xf32>
  }
}

// -----

module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @forward(%x: tensor<2x4x4xf32>) -> tensor<2x8x4xf32> {
    // expected-error @below {{moves parts of dimension 1, which are not contiguous; run tessera-expand-copies first}}
    %0 = tessera.all_gather %x over ["tp"] dim 1 ranks 2 : tensor<2x4x4xf32> -> tensor<2x8x4xf32>
    return %0 : tensor<2x8x4xf32>
  }
}

// -----

module {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{returns a parameter, an argument or one tensor twice as result #0; copy it first}}
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has no integer 'vocab' in its attribute 'tessera.model'}}
module attributes {tessera.mesh = #tessera.mesh<"tp" = 2>} {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tessera.all_reduce %x over ["tp"] : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @below {{calls itself through tessera.layers}}
  func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tessera.layers @block(%x) first 0 count 1 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tessera.layers @block(%x) first 0 count 1 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
