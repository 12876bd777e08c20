//===- ActivationReference.h - the activations' formulas --------*- C++ -*-===//
#ifndef TESSERA_TEST_SUPPORT_ACTIVATIONREFERENCE_H
#define TESSERA_TEST_SUPPORT_ACTIVATIONREFERENCE_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include <cmath>

namespace tessera::test {

/// As their papers define them, in double precision.
inline double activate(kernels::Activation kind, double x) {
  using kernels::Activation;
  switch (kind) {
  case Activation::None:
    return x;
  case Activation::Gelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::GeluTanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  case Activation::Relu:
    return x > 0 ? x : 0;
  }
  return NAN;
}

} // namespace tessera::test

#endif // TESSERA_TEST_SUPPORT_ACTIVATIONREFERENCE_H
