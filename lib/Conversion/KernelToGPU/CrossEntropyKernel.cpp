//===- CrossEntropyKernel.cpp - loss of each token ------------------------===//
//
// One block per row of logits. Each thread keeps a running maximum and the sum
// of exponentials relative to it (Milakov and Gimelshein 2018, arXiv
// 1805.02867), so the row is read once and no probability is ever written.
// "No column yet" is the lowest finite float, not -infinity: differences of
// maxima then never become NaN.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace mlir;

namespace tessera::kernels {

static constexpr double kLowest = std::numeric_limits<float>::lowest();
static constexpr int64_t kIgnored = -100;

/// Enough threads that each sees some hundred columns, at most 256.
static int64_t crossEntropyThreads(int64_t cols) {
  int64_t warps = 1;
  while (warps < 8 && warps * kWarpSize * 128 < cols)
    warps *= 2;
  return warps * kWarpSize;
}

bool check(const CrossEntropySpec &spec, std::string &why) {
  if (!checkPositive({{"rows", spec.rows},
                      {"columns", spec.cols},
                      {"vocabulary", spec.vocab}},
                     why))
    return false;
  if (!spec.statsOnly && spec.vocab > spec.cols) {
    why = llvm::formatv("vocabulary of {0} exceeds the {1} columns of the "
                        "logits",
                        spec.vocab, spec.cols)
              .str();
    return false;
  }
  return true;
}

LaunchShape launchShape(const CrossEntropySpec &spec) {
  LaunchShape shape;
  shape.grid[0] = spec.rows;
  shape.block[0] = crossEntropyThreads(spec.cols);
  return shape;
}

SmallVector<Type> argumentTypes(const CrossEntropySpec &spec,
                                MLIRContext *context) {
  Type f32 = Float32Type::get(context);
  SmallVector<Type> types{
      globalMemRef(context, {spec.rows, spec.cols},
                   elementType(context, spec.type)),
      globalMemRef(context, {spec.rows}, IntegerType::get(context, 32)),
      spec.statsOnly ? globalMemRef(context, {spec.rows, 3}, f32)
                     : globalMemRef(context, {spec.rows}, f32)};
  if (spec.statsOnly)
    types.push_back(IntegerType::get(context, 64));
  return types;
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const CrossEntropySpec &spec) {
  const int64_t threads = crossEntropyThreads(spec.cols);
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), threads);
  Value logits = kb.arg(0), labels = kb.arg(1), out = kb.arg(2);
  Value row = kb.block();
  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));

  // Columns of this row that belong to the vocabulary.
  Value offset = spec.statsOnly ? kb.arg(3) : kb.i64(0);
  Value valid = kb.idx(std::min(spec.cols, spec.vocab));
  if (spec.statsOnly) {
    Value left = kb.sub(kb.i64(spec.vocab), offset);
    Value none = kb.ltU(kb.i64(spec.vocab), offset);
    valid = kb.toIndex(
        kb.select(none, kb.i64(0), kb.minU(left, kb.i64(spec.cols))));
  }

  kb.at("running maximum and sum");
  // One step: takes `values` (already f32) into (maximum, sum).
  auto absorb = [&](ArrayRef<Value> values, Value maximum, Value sum) {
    Value larger = maximum;
    for (Value value : values)
      larger = kb.maxNum(larger, value);
    Value total = kb.mul(sum, emitExp(kb, kb.sub(maximum, larger)));
    for (Value value : values)
      total = kb.add(total, emitExp(kb, kb.sub(value, larger)));
    return SmallVector<Value>{larger, total};
  };
  Value whole = kb.sub(valid, kb.rem(valid, width));
  SmallVector<Value> state = kb.loop(
      kb.mul(kb.thread(), width), whole, kb.idx(threads * width),
      {kb.f32(kLowest), kb.f32(0)}, [&](Value column, ValueRange carried) {
        Value vector = kb.toF32(kb.loadVector(logits, {row, column}, width));
        SmallVector<Value> values;
        for (int64_t i = 0; i < width; ++i)
          values.push_back(kb.extract(vector, i));
        return absorb(values, carried[0], carried[1]);
      });
  // The last columns, fewer than a vector, one to a thread.
  state = kb.loop(kb.add(whole, kb.thread()), valid, kb.idx(threads), state,
                  [&](Value column, ValueRange carried) {
                    Value value = kb.toF32(kb.load(logits, {row, column}));
                    return absorb({value}, carried[0], carried[1]);
                  });

  kb.at("combine threads");
  Value scratch =
      kb.shared({std::max<int64_t>(threads / kWarpSize, 1)}, kb.getF32Type());
  Value maximum = kb.blockMax(state[0], scratch);
  Value sum = kb.blockSum(
      kb.mul(state[1], emitExp(kb, kb.sub(state[0], maximum))), scratch);

  kb.at("store");
  kb.ifThen(kb.eq(kb.thread(), kb.idx(0)), [&] {
    Value label = kb.load(labels, {row});
    // Sign-extended, so that -100 lies outside every slice.
    Value wide = kb.create<arith::ExtSIOp>(kb.getI64Type(), label);
    Value column = kb.toIndex(kb.sub(wide, offset));
    Value mine = kb.ltU(column, valid);
    Value target = kb.ifElse(
        mine, TypeRange{kb.getF32Type()},
        [&]() -> SmallVector<Value> {
          return {kb.toF32(kb.load(logits, {row, column}))};
        },
        [&]() -> SmallVector<Value> { return {kb.f32(0)}; })[0];
    if (spec.statsOnly) {
      kb.store(maximum, out, {row, kb.idx(0)});
      kb.store(sum, out, {row, kb.idx(1)});
      kb.store(target, out, {row, kb.idx(2)});
      return;
    }
    Value nll = kb.sub(kb.add(emitLog(kb, sum), maximum), target);
    Value ignored = kb.eq(label, kb.i32(kIgnored));
    kb.store(kb.select(ignored, kb.f32(0), nll), out, {row});
  });
  return kb.finish();
}

} // namespace tessera::kernels
