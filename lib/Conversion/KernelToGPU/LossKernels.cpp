//===- LossKernels.cpp - from token losses to the mean --------------------===//
//
// Small kernels at the end of the forward pass: combining the statistics of a
// split vocabulary, summing token losses in a fixed order, dividing by the
// count.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include <limits>

using namespace mlir;

namespace tessera::kernels {

static constexpr int64_t kIgnored = -100;
static constexpr int64_t kCombineThreads = 128;
static constexpr int64_t kSumThreads = 256;

//===----------------------------------------------------------------------===//
// cross_entropy_combine: one thread per token
//===----------------------------------------------------------------------===//

bool check(const CrossEntropyCombineSpec &spec, std::string &why) {
  return checkPositive({{"rows", spec.rows}, {"ranks", spec.ranks}}, why);
}

LaunchShape launchShape(const CrossEntropyCombineSpec &spec) {
  LaunchShape shape;
  shape.grid[0] = ceilDiv(spec.rows, kCombineThreads);
  shape.block[0] = kCombineThreads;
  return shape;
}

SmallVector<Type> argumentTypes(const CrossEntropyCombineSpec &spec,
                                MLIRContext *context) {
  Type f32 = Float32Type::get(context);
  return {globalMemRef(context, {spec.rows, 3 * spec.ranks}, f32),
          globalMemRef(context, {spec.rows}, IntegerType::get(context, 32)),
          globalMemRef(context, {spec.rows}, f32)};
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const CrossEntropyCombineSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kCombineThreads);
  Value stats = kb.arg(0), labels = kb.arg(1), out = kb.arg(2);
  Value row = kb.add(kb.mul(kb.block(), kCombineThreads), kb.thread());
  kb.ifThen(kb.ltU(row, spec.rows), [&] {
    Value zero = kb.idx(0), three = kb.idx(3), end = kb.idx(3 * spec.ranks);
    auto stat = [&](Value first, int64_t i) {
      return kb.load(stats, {row, kb.add(first, i)});
    };
    Value maximum = kb.loop(
        zero, end, three, {kb.f32(std::numeric_limits<float>::lowest())},
        [&](Value rank, ValueRange carried) -> SmallVector<Value> {
          return {kb.maxNum(carried[0], stat(rank, 0))};
        })[0];
    SmallVector<Value> sums = kb.loop(
        zero, end, three, {kb.f32(0), kb.f32(0)},
        [&](Value rank, ValueRange carried) -> SmallVector<Value> {
          Value factor = emitExp(kb, kb.sub(stat(rank, 0), maximum));
          return {kb.fma(stat(rank, 1), factor, carried[0]),
                  kb.add(carried[1], stat(rank, 2))};
        });
    Value nll = kb.sub(kb.add(emitLog(kb, sums[0]), maximum), sums[1]);
    Value ignored = kb.eq(kb.load(labels, {row}), kb.i32(kIgnored));
    kb.store(kb.select(ignored, kb.f32(0), nll), out, {row});
  });
  return kb.finish();
}

//===----------------------------------------------------------------------===//
// token_sum: one block, so the order of summation is fixed
//===----------------------------------------------------------------------===//

bool check(const TokenSumSpec &spec, std::string &why) {
  return checkPositive({{"rows", spec.rows}}, why);
}

LaunchShape launchShape(const TokenSumSpec &) {
  LaunchShape shape;
  shape.block[0] = kSumThreads;
  return shape;
}

SmallVector<Type> argumentTypes(const TokenSumSpec &spec,
                                MLIRContext *context) {
  Type f32 = Float32Type::get(context);
  return {globalMemRef(context, {spec.rows}, f32),
          globalMemRef(context, {spec.rows}, IntegerType::get(context, 32)),
          globalMemRef(context, {2}, f32)};
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const TokenSumSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kSumThreads);
  Value nll = kb.arg(0), labels = kb.arg(1), out = kb.arg(2);
  SmallVector<Value> sums = kb.loop(
      kb.thread(), kb.idx(spec.rows), kb.idx(kSumThreads),
      {kb.f32(0), kb.f32(0)},
      [&](Value row, ValueRange carried) -> SmallVector<Value> {
        Value ignored = kb.eq(kb.load(labels, {row}), kb.i32(kIgnored));
        Value value = kb.load(nll, {row});
        return {kb.add(carried[0], kb.select(ignored, kb.f32(0), value)),
                kb.add(carried[1],
                       kb.select(ignored, kb.f32(0), kb.f32(1)))};
      });
  Value scratch = kb.shared({kSumThreads / kWarpSize}, kb.getF32Type());
  Value sum = kb.blockSum(sums[0], scratch);
  Value count = kb.blockSum(sums[1], scratch);
  kb.ifThen(kb.eq(kb.thread(), kb.idx(0)), [&] {
    kb.store(sum, out, {kb.idx(0)});
    kb.store(count, out, {kb.idx(1)});
  });
  return kb.finish();
}

//===----------------------------------------------------------------------===//
// token_mean
//===----------------------------------------------------------------------===//

bool check(const TokenMeanSpec &, std::string &) { return true; }

LaunchShape launchShape(const TokenMeanSpec &) {
  LaunchShape shape;
  shape.block[0] = kWarpSize;
  return shape;
}

SmallVector<Type> argumentTypes(const TokenMeanSpec &, MLIRContext *context) {
  Type f32 = Float32Type::get(context);
  return {globalMemRef(context, {2}, f32), globalMemRef(context, {1}, f32)};
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const TokenMeanSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kWarpSize);
  kb.ifThen(kb.eq(kb.thread(), kb.idx(0)), [&] {
    Value sum = kb.load(kb.arg(0), {kb.idx(0)});
    Value count = kb.load(kb.arg(0), {kb.idx(1)});
    Value none = kb.cmpF(arith::CmpFPredicate::OEQ, count, kb.f32(0));
    Value divisor = kb.select(none, kb.f32(1), count);
    kb.store(kb.div(sum, divisor), kb.arg(1), {kb.idx(0)});
  });
  return kb.finish();
}

} // namespace tessera::kernels
