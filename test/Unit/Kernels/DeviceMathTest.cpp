//===- DeviceMathTest.cpp - device functions against the C library --------===//
//
// Every function runs on the virtual GPU over a dense sweep of its range and is
// compared with the C library's function of the same float in double.
//
//===----------------------------------------------------------------------===//
#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace tessera::kernels;
using namespace tessera::kernels::test;
using mlir::Value;

namespace {

constexpr int64_t kCount = 1 << 14;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMin = std::numeric_limits<float>::min();
constexpr float kMax = std::numeric_limits<float>::max();

struct Function {
  const char *name;
  Value (*emit)(KernelBuilder &, Value);
  double (*reference)(double);
  double from, to;
  /// Bound of the error: relative to |reference|, with an absolute part.
  double relative, absolute;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }
double geluTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x * sigmoid(2 * u);
}

const Function kFunctions[] = {
    {"exp2", emitExp2, std::exp2, -125, 127, 2e-7, 0},
    {"exp", emitExp, std::exp, -87, 88, 3e-7, 0},
    {"rsqrt", emitRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e4,
     2e-7, 0},
    {"reciprocal", emitReciprocal, [](double x) { return 1 / x; }, 1e-3, 1e4,
     2e-7, 0},
    {"tanh", emitTanh, std::tanh, -12, 12, 3e-7, 0},
    {"tanh_small", emitTanh, std::tanh, -0.7, 0.7, 3e-7, 0},
    {"erf", emitErf, std::erf, -5, 5, 0, 3e-7},
    {"erf_small", emitErf, std::erf, -1, 1, 3e-7, 0},
    {"sigmoid", emitSigmoid, sigmoid, -20, 20, 2e-6, 0},
    {"silu", emitSilu, [](double x) { return x * sigmoid(x); }, -20, 20, 2e-6,
     0},
    {"gelu", emitGelu, gelu, -8, 8, 3e-7, 5e-7},
    {"gelu_tanh", emitGeluTanh, geluTanh, -8, 8, 4e-6, 1e-12},
};

/// One kernel per function: out[i] = f(in[i]), eight per thread.
std::unique_ptr<tessera::KernelHarness> compileFunctions(
    llvm::ArrayRef<std::pair<const char *, Value (*)(KernelBuilder &, Value)>>
        functions) {
  return compileKernel(
      [&](mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module) {
        mlir::MLIRContext *context = builder.getContext();
        mlir::Type type =
            globalMemRef(context, {kCount}, mlir::Float32Type::get(context));
        for (auto [name, emit] : functions) {
          KernelBuilder kb(builder, module, name, {type, type}, 128);
          Value at = kb.mul(kb.add(kb.mul(kb.block(), 128), kb.thread()), 8);
          // Half by scalars, half as a vector.
          for (int64_t i = 0; i < 4; ++i) {
            Value place = kb.add(at, i);
            kb.store(emit(kb, kb.load(kb.arg(0), {place})), kb.arg(1), {place});
          }
          Value place = kb.add(at, 4);
          kb.storeVector(emit(kb, kb.loadVector(kb.arg(0), {place}, 4)),
                         kb.arg(1), {place});
          kb.finish();
        }
      });
}

std::vector<float> evaluate(tessera::KernelHarness &harness, const char *name,
                            std::vector<float> in) {
  in.resize(kCount, 1.0f);
  std::vector<float> out(kCount, NAN);
  tessera::LaunchShape shape;
  shape.grid[0] = kCount / 1024;
  shape.block[0] = 128;
  EXPECT_EQ(harness.launch(name, shape, {in.data(), out.data()}), "");
  return out;
}

TEST(DeviceMath, ErrorsOverTheRange) {
  std::vector<std::pair<const char *, Value (*)(KernelBuilder &, Value)>> list;
  for (const Function &function : kFunctions)
    list.push_back({function.name, function.emit});
  auto harness = compileFunctions(list);
  ASSERT_TRUE(harness);
  for (const Function &function : kFunctions) {
    std::vector<float> in(kCount);
    for (int64_t i = 0; i < kCount; ++i)
      in[i] = static_cast<float>(function.from + (function.to - function.from) *
                                                     i / (kCount - 1));
    std::vector<float> out = evaluate(*harness, function.name, in);
    double worst = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      double want = function.reference(in[i]);
      double error = std::abs(out[i] - want);
      double bound = function.absolute + function.relative * std::abs(want);
      ASSERT_TRUE(error <= bound)
          << function.name << "(" << in[i] << "): expected " << want << ", got "
          << out[i] << ", error " << error << " over " << bound;
      // Relative where the bound is; absolute where it has an absolute part.
      worst = std::max(worst,
                       function.absolute > 0 ? error : error / std::abs(want));
    }
    RecordProperty(function.name, llvm::formatv("{0:e2}", worst).str());
  }
}

TEST(DeviceMath, LogarithmsOnAllMagnitudes) {
  auto harness = compileFunctions({{"log", emitLog}, {"log2", emitLog2}});
  ASSERT_TRUE(harness);
  // Every exponent, subnormals included, and densely around 1.
  std::vector<float> in;
  for (int e = -149; e < 128; ++e)
    for (int i = 0; i < 40; ++i) {
      float x = std::ldexp(1.0f + i / 40.0f, e);
      if (x > 0 && std::isfinite(x))
        in.push_back(x);
    }
  while (static_cast<int64_t>(in.size()) < kCount)
    in.push_back(0.5f + in.size() * 1.5f / kCount);
  std::vector<float> natural = evaluate(*harness, "log", in);
  std::vector<float> binary = evaluate(*harness, "log2", in);
  for (int64_t i = 0; i < kCount; ++i) {
    double x = in[i];
    // 1.5 units in the last place of max(|result|, 0.5).
    auto bound = [](double want) {
      return 1.5 * std::ldexp(std::max(std::abs(want), 0.5), -23);
    };
    ASSERT_TRUE(std::abs(natural[i] - std::log(x)) <= bound(std::log(x)))
        << "log " << x << " = " << natural[i];
    ASSERT_TRUE(std::abs(binary[i] - std::log2(x)) <= bound(std::log2(x)))
        << "log2 " << x << " = " << binary[i];
  }
}

struct Limit {
  const char *name;
  Value (*emit)(KernelBuilder &, Value);
  std::vector<std::pair<float, float>> values;
};

TEST(DeviceMath, Limits) {
  const std::vector<Limit> limits = {
      {"exp",
       emitExp,
       {{0, 1}, {kInf, kInf}, {-kInf, 0}, {200, kInf}, {-200, 0}, {NAN, NAN}}},
      {"log",
       emitLog,
       {{1, 0}, {0, -kInf}, {kInf, kInf}, {-1, NAN}, {NAN, NAN}}},
      {"log2",
       emitLog2,
       {{1, 0},
        {8, 3},
        {kMin, -126},
        {0, -kInf},
        {kInf, kInf},
        {-kInf, NAN},
        {NAN, NAN}}},
      {"rsqrt", emitRsqrt, {{4, 0.5}, {kInf, 0}, {0, kInf}, {-1, NAN}}},
      {"tanh",
       emitTanh,
       {{0, 0}, {kInf, 1}, {-kInf, -1}, {kMax, 1}, {100, 1}, {NAN, NAN}}},
      {"erf",
       emitErf,
       {{0, 0}, {kInf, 1}, {-kInf, -1}, {kMax, 1}, {-6, -1}, {NAN, NAN}}},
      {"sigmoid",
       emitSigmoid,
       {{0, 0.5}, {kInf, 1}, {-kInf, 0}, {200, 1}, {-200, 0}, {NAN, NAN}}},
      {"silu",
       emitSilu,
       {{0, 0}, {200, 200}, {-200, 0}, {kInf, kInf}, {NAN, NAN}}},
      {"gelu",
       emitGelu,
       {{0, 0}, {100, 100}, {-100, 0}, {kInf, kInf}, {NAN, NAN}}},
      {"gelu_tanh",
       emitGeluTanh,
       {{0, 0}, {100, 100}, {-100, 0}, {kInf, kInf}, {NAN, NAN}}},
      {"relu",
       [](KernelBuilder &kb, Value x) {
         return emitActivation(kb, Activation::Relu, x);
       },
       {{2, 2}, {-2, 0}, {kInf, kInf}, {-kInf, 0}, {NAN, NAN}}},
  };
  std::vector<std::pair<const char *, Value (*)(KernelBuilder &, Value)>> list;
  for (const Limit &limit : limits)
    list.push_back({limit.name, limit.emit});
  auto harness = compileFunctions(list);
  ASSERT_TRUE(harness);
  for (const Limit &limit : limits) {
    // Each value in a scalar and in a vector place.
    std::vector<float> in;
    for (auto [x, y] : limit.values)
      in.insert(in.end(), 8, x);
    std::vector<float> out = evaluate(*harness, limit.name, in);
    for (size_t i = 0; i < in.size(); ++i) {
      auto [x, want] = limit.values[i / 8];
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(out[i]))
            << limit.name << "(" << x << ") = " << out[i];
      else
        EXPECT_EQ(out[i], want) << limit.name << "(" << x << ")";
    }
  }
}

} // namespace
