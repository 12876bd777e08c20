//===- ElementwiseKernel.cpp - chains of element-wise ops -----------------===//
//
// Each thread takes a few 16-byte vectors, a block's threads side by side so
// that a warp's accesses are contiguous. A handful of vectors per thread keeps
// enough loads in flight and pays for the thread's start.
//
//===----------------------------------------------------------------------===//

#include "EpilogueMath.h"
#include "RowKernels.h"

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
  llvm::append_range(types, epilogueArgumentTypes(spec, matrix));
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
  EpilogueInputs memrefs = epilogueArguments(kb, spec, next);
  Value out = kb.arg(next++);

  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));
  const int64_t perRow = spec.cols / width;
  const int64_t perBlock = kElementwiseThreads * kVectorsPerThread;
  Value blockStart = kb.mul(kb.block(), perBlock);
  Value blockEnd =
      kb.minU(kb.add(blockStart, perBlock), kb.idx(vectorsIn(spec)));
  kb.loop(kb.add(blockStart, kb.thread()), blockEnd,
          kb.idx(kElementwiseThreads), [&](Value item) {
            Value row = kb.div(item, perRow);
            Value column = kb.mul(kb.rem(item, perRow), width);
            auto read = [&](Value memref, ArrayRef<Value> at) {
              return memref ? kb.loadVector(memref, at, width) : Value();
            };
            Value value = kb.toF32(read(x, {row, column}));
            EpilogueInputs inputs{read(memrefs.bias, {column}),
                                  read(memrefs.gate, {row, column}),
                                  read(memrefs.residual, {row, column})};
            value = emitEpilogueMath(kb, spec, value, inputs);
            kb.storeVector(kb.convert(value, spec.type), out, {row, column});
          });
  return kb.finish();
}

} // namespace tessera::kernels
