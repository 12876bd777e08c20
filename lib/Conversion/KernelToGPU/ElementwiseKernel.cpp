//===- ElementwiseKernel.cpp - chains of element-wise ops -----------------===//
//
// Each thread takes a few 16-byte vectors, a block's threads side by side so
// that a warp's accesses are contiguous. A handful of vectors per thread keeps
// enough loads in flight and pays for the thread's start.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

using namespace mlir;

namespace tessera::kernels {

static constexpr int64_t kElementwiseThreads = 256;
static constexpr int64_t kVectorsPerThread = 8;

static int64_t vectorsIn(const ElementwiseSpec &spec) {
  return spec.rows * spec.cols / vectorWidth(spec.cols, sizeOf(spec.type));
}

bool check(const ElementwiseSpec &spec, std::string &why) {
  return checkPositive({{"rows", spec.rows}, {"columns", spec.cols}}, why);
}

LaunchShape launchShape(const ElementwiseSpec &spec) {
  LaunchShape shape;
  shape.grid[0] =
      ceilDiv(vectorsIn(spec), kElementwiseThreads * kVectorsPerThread);
  shape.block[0] = kElementwiseThreads;
  return shape;
}

SmallVector<Type> argumentTypes(const ElementwiseSpec &spec,
                                MLIRContext *context) {
  Type element = elementType(context, spec.type);
  Type matrix = globalMemRef(context, {spec.rows, spec.cols}, element);
  SmallVector<Type> types{matrix};
  if (spec.hasBias)
    types.push_back(globalMemRef(context, {spec.cols}, element));
  if (spec.hasGate)
    types.push_back(matrix);
  if (spec.hasResidual)
    types.push_back(matrix);
  types.push_back(matrix);
  return types;
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const ElementwiseSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()),
                   kElementwiseThreads);
  unsigned next = 0;
  Value x = kb.arg(next++);
  Value bias = spec.hasBias ? kb.arg(next++) : Value();
  Value gate = spec.hasGate ? kb.arg(next++) : Value();
  Value residual = spec.hasResidual ? kb.arg(next++) : Value();
  Value out = kb.arg(next++);

  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));
  const int64_t perRow = spec.cols / width;
  const int64_t perBlock = kElementwiseThreads * kVectorsPerThread;
  Value blockStart = kb.mul(kb.block(), perBlock);
  Value blockEnd = kb.minU(kb.add(blockStart, perBlock), kb.idx(vectorsIn(spec)));
  kb.loop(kb.add(blockStart, kb.thread()), blockEnd,
          kb.idx(kElementwiseThreads), [&](Value item) {
            Value row = kb.div(item, perRow);
            Value column = kb.mul(kb.rem(item, perRow), width);
            auto read = [&](Value matrix) {
              return kb.toF32(kb.loadVector(matrix, {row, column}, width));
            };
            Value value = read(x);
            if (bias)
              value = kb.add(value,
                             kb.toF32(kb.loadVector(bias, {column}, width)));
            value = emitActivation(kb, spec.activation, value);
            if (gate)
              value = kb.mul(
                  emitActivation(kb, spec.gateActivation, read(gate)), value);
            if (residual)
              value = kb.add(value, read(residual));
            kb.storeVector(kb.convert(value, spec.type), out, {row, column});
          });
  return kb.finish();
}

} // namespace tessera::kernels
