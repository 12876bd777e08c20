//===- Copy.cpp - kernels that rearrange memory ---------------------------===//
#include "tessera/Conversion/KernelToGPU/Copy.h"

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;

/// Enough threads to fill a multiprocessor with few registers each.
static constexpr int64_t kThreads = 256;

static int64_t widthOf(const CopySpec &spec) {
  return vectorWidth(spec.inner, spec.element.getIntOrFloatBitWidth() / 8);
}

SmallVector<Type> kernels::argumentTypes(const CopySpec &spec,
                                         MLIRContext *context) {
  int64_t in = spec.rows * spec.cols * spec.inner;
  SmallVector<Type> types = {
      globalMemRef(context, {in}, spec.element),
      globalMemRef(context, {spec.outElements()}, spec.element)};
  if (spec.kind == CopySpec::Kind::Slice)
    types.push_back(IntegerType::get(context, 64));
  return types;
}

LaunchShape kernels::launchShape(const CopySpec &spec) {
  LaunchShape shape;
  shape.grid[0] = ceilDiv(spec.outElements() / widthOf(spec), kThreads);
  shape.block[0] = kThreads;
  return shape;
}

FailureOr<gpu::GPUFuncOp> kernels::buildCopy(OpBuilder &builder,
                                             gpu::GPUModuleOp module,
                                             StringRef name,
                                             const CopySpec &spec) {
  if (launchShape(spec).grid[0] > INT32_MAX)
    return module.emitError()
           << "copy of " << spec.outElements()
           << " elements exceeds the largest grid of a launch";
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kThreads);
  int64_t width = widthOf(spec);
  int64_t perRow = spec.inner / width; // accesses in one innermost run
  Value access = kb.add(kb.mul(kb.block(), kThreads), kb.thread());
  kb.ifThen(kb.ltU(access, spec.outElements() / width), [&] {
    Value run = kb.div(access, perRow);
    Value at = kb.rem(access, perRow);
    Value source;
    if (spec.kind == CopySpec::Kind::Slice) {
      source = kb.add(kb.mul(run, spec.cols), kb.toIndex(kb.arg(2)));
    } else {
      // Run c * rows + r of the result is run r * cols + c of the source.
      Value row = kb.rem(run, spec.rows);
      source = kb.add(kb.mul(row, spec.cols), kb.div(run, spec.rows));
    }
    Value from = kb.mul(kb.add(kb.mul(source, perRow), at), width);
    Value vector = kb.loadVector(kb.arg(0), from, width);
    kb.storeVector(vector, kb.arg(1), kb.mul(access, width));
  });
  return kb.finish();
}
