//===- NormKernel.cpp - RMSNorm and LayerNorm -----------------------------===//
//
// One warp normalises one row: lanes stride over the row in 16-byte vectors,
// sums go through a butterfly of shuffles, everything in f32. LayerNorm takes
// the mean first and the variance of the differences second (two passes over
// a row that the first pass brought into the cache), which does not cancel as
// mean(x^2) - mean(x)^2 does.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tessera::kernels {

Value sumElements(KernelBuilder &kb, Value vector, int64_t width) {
  Value sum = kb.extract(vector, 0);
  for (int64_t i = 1; i < width; ++i)
    sum = kb.add(sum, kb.extract(vector, i));
  return sum;
}

bool checkPositive(
    std::initializer_list<std::pair<const char *, int64_t>> sizes,
    std::string &why) {
  for (auto [name, size] : sizes)
    if (size <= 0) {
      why = llvm::formatv("{0} must be positive, got {1}", name, size).str();
      return false;
    }
  return true;
}

bool check(const NormSpec &spec, std::string &why) {
  return checkPositive({{"rows", spec.rows}, {"columns", spec.cols}}, why);
}

LaunchShape launchShape(const NormSpec &spec) { return rowLaunch(spec.rows); }

SmallVector<Type> argumentTypes(const NormSpec &spec, MLIRContext *context) {
  Type element = elementType(context, spec.type);
  Type matrix = globalMemRef(context, {spec.rows, spec.cols}, element);
  Type vector = globalMemRef(context, {spec.cols}, element);
  SmallVector<Type> types{matrix};
  if (spec.hasResidual)
    types.push_back(matrix);
  types.push_back(vector);
  if (spec.hasBias)
    types.push_back(vector);
  if (spec.hasResidual)
    types.push_back(matrix);
  types.push_back(matrix);
  return types;
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const NormSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kRowThreads);
  unsigned next = 0;
  Value x = kb.arg(next++);
  Value residual = spec.hasResidual ? kb.arg(next++) : Value();
  Value weight = kb.arg(next++);
  Value bias = spec.hasBias ? kb.arg(next++) : Value();
  Value sum = spec.hasResidual ? kb.arg(next++) : Value();
  Value out = kb.arg(next++);

  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));
  VectorType vectorType = kb.vec(width, kb.getF32Type());
  const bool layer = spec.kind == NormSpec::Kind::Layer;
  auto addF = [&](Value a, Value b) { return kb.add(a, b); };

  forRow(kb, spec.rows, [&](Value row) {
    Value from = kb.mul(kb.lane(), width), to = kb.idx(spec.cols),
          step = kb.idx(kWarpSize * width);
    // Sum over the row of f(x), in each lane.
    auto rowSum = [&](llvm::function_ref<Value(Value column, Value acc)> f) {
      SmallVector<Value> acc =
          kb.loop(from, to, step, {kb.zero(vectorType)},
                  [&](Value column, ValueRange carried) -> SmallVector<Value> {
                    return {f(column, carried[0])};
                  });
      return kb.warpReduce(sumElements(kb, acc[0], width), addF);
    };
    // The normalised tensor: x itself, or the stored (rounded) sum.
    Value source = spec.hasResidual ? sum : x;
    auto read = [&](Value column) {
      return kb.toF32(kb.loadVector(source, {row, column}, width));
    };
    if (spec.hasResidual) {
      kb.at("residual");
      forColumns(kb, spec.cols, width, [&](Value column) {
        Value value =
            kb.add(kb.toF32(kb.loadVector(x, {row, column}, width)),
                   kb.toF32(kb.loadVector(residual, {row, column}, width)));
        kb.storeVector(kb.convert(value, spec.type), sum, {row, column});
      });
    }

    Value inverseCount = kb.f32(1.0 / static_cast<double>(spec.cols));
    Value mean;
    if (layer) {
      kb.at("mean");
      Value total = rowSum([&](Value column, Value acc) {
        return kb.add(acc, read(column));
      });
      mean = kb.splat(kb.mul(total, inverseCount), width);
    }
    kb.at("variance");
    Value squares = rowSum([&](Value column, Value acc) {
      Value value = read(column);
      if (layer)
        value = kb.sub(value, mean);
      return kb.fma(value, value, acc);
    });
    Value scale = kb.splat(
        emitRsqrt(kb, kb.fma(squares, inverseCount, kb.f32(spec.eps))), width);

    kb.at("scale");
    forColumns(kb, spec.cols, width, [&](Value column) {
      Value value = read(column);
      if (layer)
        value = kb.sub(value, mean);
      value = kb.mul(value, scale);
      Value w = kb.toF32(kb.loadVector(weight, {column}, width));
      value = bias ? kb.fma(value, w,
                            kb.toF32(kb.loadVector(bias, {column}, width)))
                   : kb.mul(value, w);
      kb.storeVector(kb.convert(value, spec.type), out, {row, column});
    });
  });
  return kb.finish();
}

} // namespace tessera::kernels
