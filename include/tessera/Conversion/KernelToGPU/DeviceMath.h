//===- DeviceMath.h - Transcendental functions in kernels -------*- C++ -*-===//
//
// Functions of f32 values (scalars or vectors) made of arithmetic and of the
// two LLVM intrinsics that NVPTX selects without libdevice: `llvm.exp2`
// (ex2.approx.f32, at most 2 ulp over the full range by the CUDA C++
// Programming Guide's table of device functions, which gives this for exp2f)
// and `llvm.sqrt` (sqrt.rn or, with afn, rsqrt.approx). The same IR compiles
// for the host, where exp2 is libm's.
//
// Errors below are the largest found against the C library in double over the
// range given (test/Unit/Kernels/DeviceMathTest.cpp holds them; on the virtual
// GPU). On a GPU add the 2 ulp of ex2.approx. NaN gives NaN everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_KERNELTOGPU_DEVICEMATH_H
#define TESSERA_CONVERSION_KERNELTOGPU_DEVICEMATH_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

/// 2^x, the hardware's: what attention uses with log2(e) folded into the scale.
mlir::Value emitExp2(KernelBuilder &kb, mlir::Value x);
/// e^x: relative error 1.2e-7 (|x| <= 87), exact limits at +-infinity.
mlir::Value emitExp(KernelBuilder &kb, mlir::Value x);
/// Logarithms: 1.5 ulp of max(|result|, 0.5) on all positive floats, subnormals
/// included; log 0 = -infinity, log of a negative number is NaN.
mlir::Value emitLog(KernelBuilder &kb, mlir::Value x);
mlir::Value emitLog2(KernelBuilder &kb, mlir::Value x);
/// 1 / sqrt(x), relative error 9e-8 (on a GPU rsqrt.approx.f32, 2^-22.9).
mlir::Value emitRsqrt(KernelBuilder &kb, mlir::Value x);
/// 1 / x and a / b, relative error 6e-8 (on a GPU div.approx.f32: 2 ulp for b
/// up to 2^126; larger finite b may give 0).
mlir::Value emitReciprocal(KernelBuilder &kb, mlir::Value x);
mlir::Value emitDivide(KernelBuilder &kb, mlir::Value a, mlir::Value b);
/// Relative error 1.4e-7.
mlir::Value emitTanh(KernelBuilder &kb, mlir::Value x);
/// Absolute error 1.8e-7; relative error 1.7e-7 for |x| < 1.
mlir::Value emitErf(KernelBuilder &kb, mlir::Value x);
/// 1 / (1 + e^-x): relative error 1e-6 (|x| <= 20).
mlir::Value emitSigmoid(KernelBuilder &kb, mlir::Value x);
/// x / (1 + e^-x): relative error 1e-6 (|x| <= 20).
mlir::Value emitSilu(KernelBuilder &kb, mlir::Value x);
/// x (1 + erf(x / sqrt 2)) / 2: absolute error 3.7e-7 (|x| <= 8).
mlir::Value emitGelu(KernelBuilder &kb, mlir::Value x);
/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: absolute error 5.1e-7
/// (|x| <= 8).
mlir::Value emitGeluTanh(KernelBuilder &kb, mlir::Value x);
/// The function that `activation` names; None is the identity.
mlir::Value emitActivation(KernelBuilder &kb, Activation activation,
                           mlir::Value x);

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_DEVICEMATH_H
