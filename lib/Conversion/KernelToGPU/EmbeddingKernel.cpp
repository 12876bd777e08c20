//===- EmbeddingKernel.cpp - token and position embeddings ----------------===//
//
// One warp copies (or adds) one row of a table in 16-byte vectors. With an
// offset the table is one rank's slice of the vocabulary and rows of other
// ranks are zeros, so that the sum over the ranks is the whole embedding.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tessera::kernels {

bool check(const EmbeddingSpec &spec, std::string &why) {
  return checkPositive(
      {{"tokens", spec.count}, {"rows", spec.rows}, {"columns", spec.cols}},
      why);
}

LaunchShape launchShape(const EmbeddingSpec &spec) {
  return rowLaunch(spec.count);
}

SmallVector<Type> argumentTypes(const EmbeddingSpec &spec,
                                MLIRContext *context) {
  Type element = elementType(context, spec.type);
  SmallVector<Type> types{
      globalMemRef(context, {spec.count}, IntegerType::get(context, 32)),
      globalMemRef(context, {spec.rows, spec.cols}, element),
      globalMemRef(context, {spec.count, spec.cols}, element)};
  if (spec.hasOffset)
    types.push_back(IntegerType::get(context, 64));
  return types;
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const EmbeddingSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kRowThreads);
  Value tokens = kb.arg(0), table = kb.arg(1), out = kb.arg(2);
  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));
  forRow(kb, spec.count, [&](Value row) {
    Value id = kb.create<arith::ExtSIOp>(kb.getI64Type(),
                                         kb.load(tokens, {row}));
    if (spec.hasOffset)
      id = kb.sub(id, kb.arg(3));
    // As unsigned numbers, ids before the slice are past its end as well.
    Value inside = spec.hasOffset ? kb.ltU(id, spec.rows) : kb.boolean(true);
    Value source = kb.toIndex(id);
    forColumns(kb, spec.cols, width, [&](Value column) {
      kb.storeVector(kb.loadVectorOr(inside, table, {source, column}, width),
                     out, {row, column});
    });
  });
  return kb.finish();
}

bool check(const PositionsSpec &spec, std::string &why) {
  if (!checkPositive({{"batch", spec.batch},
                      {"sequence", spec.seq},
                      {"columns", spec.cols},
                      {"positions", spec.positions}},
                     why))
    return false;
  if (spec.first < 0 || spec.first + spec.seq > spec.positions) {
    why = llvm::formatv("position table has {0} rows, the sequence needs {1}",
                        spec.positions, spec.first + spec.seq)
              .str();
    return false;
  }
  return true;
}

LaunchShape launchShape(const PositionsSpec &spec) {
  return rowLaunch(spec.batch * spec.seq);
}

SmallVector<Type> argumentTypes(const PositionsSpec &spec,
                                MLIRContext *context) {
  Type element = elementType(context, spec.type);
  Type x = globalMemRef(context, {spec.batch * spec.seq, spec.cols}, element);
  SmallVector<Type> types{
      x, globalMemRef(context, {spec.positions, spec.cols}, element), x};
  if (spec.hasOffset)
    types.push_back(IntegerType::get(context, 64));
  return types;
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const PositionsSpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kRowThreads);
  Value x = kb.arg(0), table = kb.arg(1), out = kb.arg(2);
  const int64_t width = vectorWidth(spec.cols, sizeOf(spec.type));
  forRow(kb, spec.batch * spec.seq, [&](Value row) {
    Value position = kb.add(kb.rem(row, spec.seq), spec.first);
    if (spec.hasOffset)
      position = kb.add(position, kb.toIndex(kb.arg(3)));
    forColumns(kb, spec.cols, width, [&](Value column) {
      Value sum =
          kb.add(kb.toF32(kb.loadVector(x, {row, column}, width)),
                 kb.toF32(kb.loadVector(table, {position, column}, width)));
      kb.storeVector(kb.convert(sum, spec.type), out, {row, column});
    });
  });
  return kb.finish();
}

} // namespace tessera::kernels
