//===- RotaryKernel.cpp - rotary position embedding -----------------------===//
//
// One warp per (batch, position) row. A lane takes pairs of vectors: elements
// i.. and i + rotaryDim / 2.. of one head rotate together by the angles of the
// table's row. Elements past rotaryDim are copied.
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tessera::kernels {

bool check(const RotarySpec &spec, std::string &why) {
  if (!checkPositive({{"batch", spec.batch},
                      {"sequence", spec.seq},
                      {"heads", spec.heads},
                      {"head dimension", spec.headDim},
                      {"rotary dimension", spec.rotaryDim}},
                     why))
    return false;
  if (spec.rotaryDim % 2 != 0 || spec.rotaryDim > spec.headDim) {
    why = llvm::formatv("rotary dimension must be even and at most the head "
                        "dimension {0}, got {1}",
                        spec.headDim, spec.rotaryDim)
              .str();
    return false;
  }
  if (spec.positions < spec.seq) {
    why = llvm::formatv("table has {0} positions, the sequence needs {1}",
                        spec.positions, spec.seq)
              .str();
    return false;
  }
  return true;
}

LaunchShape launchShape(const RotarySpec &spec) {
  return rowLaunch(spec.batch * spec.seq);
}

SmallVector<Type> argumentTypes(const RotarySpec &spec, MLIRContext *context) {
  Type x = globalMemRef(context,
                        {spec.batch * spec.seq, spec.heads * spec.headDim},
                        elementType(context, spec.type));
  Type table = globalMemRef(context, {spec.positions, spec.rotaryDim},
                            Float32Type::get(context));
  return {x, table, x};
}

gpu::GPUFuncOp build(OpBuilder &builder, gpu::GPUModuleOp module,
                     StringRef name, const RotarySpec &spec) {
  KernelBuilder kb(builder, module, name,
                   argumentTypes(spec, builder.getContext()), kRowThreads);
  Value x = kb.arg(0), table = kb.arg(1), out = kb.arg(2);
  const int64_t half = spec.rotaryDim / 2;
  const int64_t tail = spec.headDim - spec.rotaryDim;
  // Vectors must start on their own size in x (head and half boundaries) and
  // in the table, whose elements are f32.
  const int64_t elementBytes = std::max<int64_t>(sizeOf(spec.type), 4);
  const int64_t width = std::min(vectorWidth(half, elementBytes),
                                 vectorWidth(spec.headDim, elementBytes));

  forRow(kb, spec.batch * spec.seq, [&](Value row) {
    Value position = kb.rem(row, spec.seq);
    kb.at("rotate");
    int64_t perHead = half / width;
    kb.loop(kb.lane(), kb.idx(spec.heads * perHead), kb.idx(kWarpSize),
            [&](Value item) {
              Value i = kb.mul(kb.rem(item, perHead), width);
              Value first =
                  kb.add(kb.mul(kb.div(item, perHead), spec.headDim), i);
              Value second = kb.add(first, half);
              // The table holds (cos, sin) pairs.
              Value pair = kb.mul(i, 2);
              Value low = kb.loadVector(table, {position, pair}, width);
              Value high =
                  kb.loadVector(table, {position, kb.add(pair, width)}, width);
              auto entry = [&](int64_t k) {
                return k < width ? kb.extract(low, k)
                                 : kb.extract(high, k - width);
              };
              SmallVector<Value> cosines, sines;
              for (int64_t k = 0; k < width; ++k) {
                cosines.push_back(entry(2 * k));
                sines.push_back(entry(2 * k + 1));
              }
              Value cos = kb.fromElements(cosines);
              Value sin = kb.fromElements(sines);
              Value a = kb.toF32(kb.loadVector(x, {row, first}, width));
              Value b = kb.toF32(kb.loadVector(x, {row, second}, width));
              Value rotatedA = kb.sub(kb.mul(a, cos), kb.mul(b, sin));
              Value rotatedB = kb.add(kb.mul(b, cos), kb.mul(a, sin));
              kb.storeVector(kb.convert(rotatedA, spec.type), out,
                             {row, first});
              kb.storeVector(kb.convert(rotatedB, spec.type), out,
                             {row, second});
            });
    if (tail == 0)
      return;
    kb.at("copy the rest of each head");
    int64_t bytes = sizeOf(spec.type);
    int64_t copy = std::min({vectorWidth(tail, bytes),
                             vectorWidth(spec.headDim, bytes),
                             vectorWidth(spec.rotaryDim, bytes)});
    int64_t perTail = tail / copy;
    kb.loop(kb.lane(), kb.idx(spec.heads * perTail), kb.idx(kWarpSize),
            [&](Value item) {
              Value column = kb.add(
                  kb.add(kb.mul(kb.div(item, perTail), spec.headDim),
                         kb.mul(kb.rem(item, perTail), copy)),
                  spec.rotaryDim);
              kb.storeVector(kb.loadVector(x, {row, column}, copy), out,
                             {row, column});
            });
  });
  return kb.finish();
}

} // namespace tessera::kernels
