//===- NormAndElementwiseTest.cpp - norms and element-wise chains ---------===//
#include "KernelTest.h"
#include "test/Support/ActivationReference.h"

#include "tessera/Conversion/KernelToGPU/RowKernels.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {

void tryNorm(NormSpec spec) {
  size_t n = spec.rows * spec.cols;
  Buffer x = Buffer::random(spec.type, n, 1);
  Buffer residual = Buffer::random(spec.type, n, 2);
  Buffer weight = Buffer::random(spec.type, spec.cols, 3);
  Buffer bias = Buffer::random(spec.type, spec.cols, 4);
  Buffer sum(spec.type, n), out(spec.type, n);
  std::vector<tessera::KernelArg> arguments{x.data()};
  if (spec.hasResidual)
    arguments.push_back(residual.data());
  arguments.push_back(weight.data());
  if (spec.hasBias)
    arguments.push_back(bias.data());
  if (spec.hasResidual)
    arguments.push_back(sum.data());
  arguments.push_back(out.data());
  ASSERT_NO_FATAL_FAILURE(runSpec(spec, arguments));

  if (spec.hasResidual)
    expectClose(
        sum, [&](size_t i) { return x[i] + residual[i]; },
        relativeError(spec.type), 1e-6);
  const Buffer &input = spec.hasResidual ? sum : x;
  std::vector<double> mean(spec.rows, 0.0), scale(spec.rows);
  for (int64_t r = 0; r < spec.rows; ++r) {
    double total = 0, squares = 0;
    for (int64_t c = 0; c < spec.cols; ++c)
      total += input[r * spec.cols + c];
    if (spec.kind == NormSpec::Kind::Layer)
      mean[r] = total / spec.cols;
    for (int64_t c = 0; c < spec.cols; ++c) {
      double d = input[r * spec.cols + c] - mean[r];
      squares += d * d;
    }
    scale[r] = 1.0 / std::sqrt(squares / spec.cols + spec.eps);
  }
  expectClose(
      out,
      [&](size_t i) {
        size_t r = i / spec.cols, c = i % spec.cols;
        double y = (input[i] - mean[r]) * scale[r] * weight[c];
        return spec.hasBias ? y + bias[c] : y;
      },
      relativeError(spec.type), spec.type == Element::F32 ? 3e-6 : 1e-2);
}

TEST(Norm, RmsOfAnyShape) {
  for (Element type : {Element::F32, Element::BF16})
    for (auto [rows, cols] : {std::pair<int64_t, int64_t>{1, 1},
                              {5, 7},
                              {3, 64},
                              {9, 576},
                              {2, 1000}}) {
      NormSpec spec;
      spec.rows = rows, spec.cols = cols, spec.type = type;
      tryNorm(spec);
    }
}

TEST(Norm, LayerWithBiasAndResidual) {
  for (Element type : {Element::F32, Element::BF16})
    for (bool bias : {false, true})
      for (bool residual : {false, true}) {
        NormSpec spec;
        spec.kind = NormSpec::Kind::Layer;
        spec.rows = 6, spec.cols = 84, spec.type = type, spec.eps = 1e-5;
        spec.hasBias = bias, spec.hasResidual = residual;
        tryNorm(spec);
      }
}

TEST(Norm, RefusesEmptyShapes) {
  NormSpec spec;
  spec.rows = 4;
  std::string why;
  EXPECT_FALSE(check(spec, why));
  EXPECT_EQ(why, "columns must be positive, got 0");
}

void tryElementwise(const ElementwiseSpec &spec) {
  size_t n = spec.rows * spec.cols;
  Buffer x = Buffer::random(spec.type, n, 1, 3.0);
  Buffer bias = Buffer::random(spec.type, spec.cols, 2);
  Buffer gate = Buffer::random(spec.type, n, 3);
  Buffer residual = Buffer::random(spec.type, n, 4);
  Buffer out(spec.type, n);
  std::vector<tessera::KernelArg> arguments{x.data()};
  if (spec.hasBias)
    arguments.push_back(bias.data());
  if (spec.hasGate)
    arguments.push_back(gate.data());
  if (spec.hasResidual)
    arguments.push_back(residual.data());
  arguments.push_back(out.data());
  ASSERT_NO_FATAL_FAILURE(runSpec(spec, arguments));
  expectClose(
      out,
      [&](size_t i) {
        double y = x[i];
        if (spec.hasBias)
          y += bias[i % spec.cols];
        y = tessera::test::activate(spec.activation, y);
        if (spec.hasGate)
          y *= tessera::test::activate(spec.gateActivation, gate[i]);
        return spec.hasResidual ? y + residual[i] : y;
      },
      relativeError(spec.type), 2e-6);
}

TEST(Elementwise, EveryPartAndActivation) {
  for (Element type : {Element::F32, Element::BF16})
    for (int mask = 0; mask < 8; ++mask) {
      ElementwiseSpec spec;
      spec.rows = 5, spec.cols = 52, spec.type = type;
      spec.hasBias = mask & 1;
      spec.hasGate = mask & 2;
      spec.hasResidual = mask & 4;
      spec.activation = static_cast<Activation>(mask % 5);
      spec.gateActivation = spec.hasGate ? Activation::Silu : Activation::None;
      tryElementwise(spec);
    }
}

TEST(Elementwise, OddAndLargeShapes) {
  for (auto [rows, cols] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 13}, {7, 1536}, {129, 64}}) {
    ElementwiseSpec spec;
    spec.rows = rows, spec.cols = cols, spec.type = Element::F32;
    spec.hasResidual = true;
    tryElementwise(spec);
  }
}

} // namespace
