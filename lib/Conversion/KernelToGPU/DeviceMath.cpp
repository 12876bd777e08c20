//===- DeviceMath.cpp - Transcendental functions in kernels ---------------===//
//
// Sources of the approximations:
//   exp: 2^(x log2 e) with the rounding error of the product, recovered by a
//     fused multiply-add, applied as a first-order correction.
//   log, tanh (small arguments), erf (|x| <= 1): the polynomials of S. L.
//     Moshier's Cephes library, single precision (logf, log2f, tanhf, erff).
//   erf (|x| > 1): Abramowitz and Stegun, Handbook of Mathematical Functions,
//     7.1.26, |error| <= 1.5e-7.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace tessera::kernels;

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kLn2 = 0.6931471805599453;

static Value constant(KernelBuilder &kb, double value, Value like) {
  return kb.fp(value, like.getType());
}

/// coefficients[0] x^n + ... + coefficients[n].
static Value polynomial(KernelBuilder &kb, Value x,
                        std::initializer_list<double> coefficients) {
  Value sum;
  for (double c : coefficients) {
    Value term = constant(kb, c, x);
    sum = sum ? kb.fma(sum, x, term) : term;
  }
  return sum;
}

static Type integerLike(KernelBuilder &kb, Value x) {
  Type i32 = kb.getI32Type();
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    return VectorType::get(vector.getShape(), i32);
  return i32;
}
static Value integer(KernelBuilder &kb, int32_t value, Type type) {
  TypedAttr attr = kb.getI32IntegerAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = SplatElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(kb, attr);
}
static Value bits(KernelBuilder &kb, Value x) {
  return arith::BitcastOp::create(kb, integerLike(kb, x), x);
}
static Value fromBits(KernelBuilder &kb, Value x, Type type) {
  return arith::BitcastOp::create(kb, type, x);
}

static Value absolute(KernelBuilder &kb, Value x) {
  Value i = bits(kb, x);
  return fromBits(kb, kb.bitAnd(i, integer(kb, 0x7fffffff, i.getType())),
                  x.getType());
}
/// `magnitude` (>= 0) with the sign of x.
static Value withSign(KernelBuilder &kb, Value magnitude, Value x) {
  Value i = bits(kb, x);
  Value sign = kb.bitAnd(i, integer(kb, INT32_MIN, i.getType()));
  return fromBits(kb, kb.bitOr(bits(kb, magnitude), sign), x.getType());
}

Value tessera::kernels::emitExp2(KernelBuilder &kb, Value x) {
  return kb.intrinsic("exp2", {x}, /*fast=*/true);
}

Value tessera::kernels::emitExp(KernelBuilder &kb, Value x) {
  // log2 e as a sum of two floats.
  const float high = static_cast<float>(kLog2E);
  Value log2e = constant(kb, high, x);
  Value product = kb.mul(x, log2e);
  Value error = kb.fma(x, log2e, kb.sub(constant(kb, -0.0, x), product));
  error = kb.fma(x, constant(kb, kLog2E - high, x), error);
  // Where the power is 0 or infinite (and for NaN) the correction is 0 * inf.
  Value inside = kb.cmpF(arith::CmpFPredicate::OLT, absolute(kb, product),
                         constant(kb, 127.0, x));
  Value correction = kb.select(inside, kb.mul(error, constant(kb, kLn2, x)),
                               constant(kb, 0.0, x));
  Value power = emitExp2(kb, product);
  return kb.select(inside, kb.fma(power, correction, power), power);
}

namespace {
/// x = 2^exponent * (1 + fraction), and `tail` such that
/// ln(1 + fraction) = fraction + tail.
struct LogParts {
  Value exponent, fraction, tail;
};
} // namespace

static LogParts splitLog(KernelBuilder &kb, Value x) {
  // Subnormals are scaled up by 2^24 first.
  Value tiny =
      kb.cmpF(arith::CmpFPredicate::OLT, x, constant(kb, 1.17549435e-38, x));
  Value scaled = kb.select(tiny, kb.mul(x, constant(kb, 16777216.0, x)), x);
  Value shift = kb.select(tiny, constant(kb, -24.0, x), constant(kb, 0.0, x));
  // Mantissa in [sqrt(1/2), sqrt 2): subtracting the bits of sqrt(1/2) moves
  // the borrow into the exponent.
  Value i = bits(kb, scaled);
  Type type = i.getType();
  Value offset = kb.sub(i, integer(kb, 0x3f3504f3, type));
  Value exponent = arith::ShRSIOp::create(kb, offset, integer(kb, 23, type));
  Value mantissaBits = kb.add(kb.bitAnd(offset, integer(kb, 0x007fffff, type)),
                              integer(kb, 0x3f3504f3, type));
  Value m =
      kb.sub(fromBits(kb, mantissaBits, x.getType()), constant(kb, 1.0, x));
  Value z = kb.mul(m, m);
  Value p = polynomial(kb, m,
                       {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                        -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  p = kb.mul(kb.mul(p, m), z);
  p = kb.fma(z, constant(kb, -0.5, x), p);
  Value e =
      kb.add(Value(arith::SIToFPOp::create(kb, x.getType(), exponent)), shift);
  return {e, m, p};
}

/// log 0, log infinity and log of what has no logarithm.
static Value logLimits(KernelBuilder &kb, Value x, Value result) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  using P = arith::CmpFPredicate;
  Value ordinary = kb.cmpF(P::OLT, x, constant(kb, inf, x));
  result = kb.select(ordinary, result, x); // infinity and NaN stay
  result = kb.select(kb.cmpF(P::OEQ, x, constant(kb, 0.0, x)),
                     constant(kb, -inf, x), result);
  return kb.select(kb.cmpF(P::OLT, x, constant(kb, 0.0, x)),
                   constant(kb, std::numeric_limits<double>::quiet_NaN(), x),
                   result);
}

Value tessera::kernels::emitLog(KernelBuilder &kb, Value x) {
  auto [e, m, tail] = splitLog(kb, x);
  Value low = kb.fma(e, constant(kb, -2.12194440e-4, x), tail);
  Value sum = kb.add(m, low);
  return logLimits(kb, x, kb.fma(e, constant(kb, 0.693359375, x), sum));
}

Value tessera::kernels::emitLog2(KernelBuilder &kb, Value x) {
  auto [e, m, tail] = splitLog(kb, x);
  Value c = constant(kb, kLog2E - 1.0, x);
  Value sum = kb.fma(m, c, kb.mul(tail, c));
  sum = kb.add(kb.add(sum, tail), m);
  return logLimits(kb, x, kb.add(sum, e));
}

Value tessera::kernels::emitDivide(KernelBuilder &kb, Value a, Value b) {
  return arith::DivFOp::create(
      kb, a, b, arith::FastMathFlags::afn | arith::FastMathFlags::contract);
}

Value tessera::kernels::emitReciprocal(KernelBuilder &kb, Value x) {
  return emitDivide(kb, constant(kb, 1.0, x), x);
}

Value tessera::kernels::emitRsqrt(KernelBuilder &kb, Value x) {
  return emitReciprocal(kb, kb.intrinsic("sqrt", {x}, /*fast=*/true));
}

Value tessera::kernels::emitTanh(KernelBuilder &kb, Value x) {
  Value one = constant(kb, 1.0, x);
  Value z = absolute(kb, x);
  // 1 - 2 / (e^2z + 1); e^2z = infinity gives 1.
  Value e = emitExp(kb, kb.add(z, z));
  Value large =
      kb.sub(one, emitDivide(kb, constant(kb, 2.0, x), kb.add(e, one)));
  Value s = kb.mul(x, x);
  Value p = polynomial(kb, s,
                       {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                        1.33314422036e-1, -3.33332819422e-1});
  Value small = kb.fma(kb.mul(p, s), x, x);
  // Unordered goes to the polynomial, which keeps NaN.
  Value isLarge = kb.cmpF(arith::CmpFPredicate::OGT, z, constant(kb, 0.625, x));
  return kb.select(isLarge, withSign(kb, large, x), small);
}

Value tessera::kernels::emitErf(KernelBuilder &kb, Value x) {
  Value one = constant(kb, 1.0, x);
  Value z = absolute(kb, x);
  Value s = kb.mul(x, x);
  Value p = polynomial(kb, s,
                       {7.853861353153693e-5, -8.010193625184903e-4,
                        5.188327685732524e-3, -2.685381193529856e-2,
                        1.128358514861418e-1, -3.761262582423300e-1,
                        1.128379165726710e+0});
  Value small = kb.mul(x, p);
  Value t = emitReciprocal(kb, kb.fma(z, constant(kb, 0.3275911, x), one));
  Value q = polynomial(
      kb, t,
      {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592});
  // 2^(-x^2 log2 e); where the square overflows the power is 0.
  Value e = emitExp2(kb, kb.mul(s, constant(kb, -kLog2E, x)));
  Value large = kb.sub(one, kb.mul(kb.mul(q, t), e));
  Value isLarge = kb.cmpF(arith::CmpFPredicate::OGT, z, one);
  return kb.select(isLarge, withSign(kb, large, x), small);
}

/// 1 + e^-x.
static Value sigmoidDenominator(KernelBuilder &kb, Value x) {
  Value e = emitExp2(kb, kb.mul(x, constant(kb, -kLog2E, x)));
  return kb.add(e, constant(kb, 1.0, x));
}

Value tessera::kernels::emitSigmoid(KernelBuilder &kb, Value x) {
  return emitReciprocal(kb, sigmoidDenominator(kb, x));
}

Value tessera::kernels::emitSilu(KernelBuilder &kb, Value x) {
  return emitDivide(kb, x, sigmoidDenominator(kb, x));
}

Value tessera::kernels::emitGelu(KernelBuilder &kb, Value x) {
  Value erf = emitErf(kb, kb.mul(x, constant(kb, 0.7071067811865476, x)));
  Value half = kb.mul(x, constant(kb, 0.5, x));
  return kb.fma(half, erf, half);
}

Value tessera::kernels::emitGeluTanh(KernelBuilder &kb, Value x) {
  // (1 + tanh u) / 2 = 1 / (1 + e^-2u).
  constexpr double twoSqrt2OverPi = 1.5957691216057308;
  Value s = kb.mul(x, x);
  Value factor = kb.fma(s, constant(kb, twoSqrt2OverPi * 0.044715, x),
                        constant(kb, twoSqrt2OverPi, x));
  return emitDivide(kb, x, sigmoidDenominator(kb, kb.mul(x, factor)));
}

Value tessera::kernels::emitActivation(KernelBuilder &kb, Activation activation,
                                       Value x) {
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Gelu:
    return emitGelu(kb, x);
  case Activation::GeluTanh:
    return emitGeluTanh(kb, x);
  case Activation::Silu:
    return emitSilu(kb, x);
  case Activation::Relu:
    // arith.maximumf keeps NaN (max.NaN.f32 since sm_80).
    return arith::MaximumFOp::create(kb, x, constant(kb, 0.0, x));
  }
  llvm_unreachable("unknown activation");
}
