//===- MatmulTiles.cpp - what both matmul kernels share -------------------===//
#include "MatmulTiles.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tessera::kernels;

MatmulTiles::MatmulTiles(const MatmulSpec &spec, const MatmulConfig &config)
    : spec(spec), config(config) {
  threads = config.warpsM * config.warpsN * kWarpSize;
  gridM = ceilDiv(spec.m, config.blockM);
  gridN = ceilDiv(spec.n, config.blockN);
  kTiles = ceilDiv(spec.k, config.blockK);
  warpM = config.blockM / config.warpsM;
  warpN = config.blockN / config.warpsN;
  // f32 tiles are stored [k][row] with 16 bytes of padding.
  int64_t padding = spec.type == Element::F32 ? 4 : 0;
  int64_t rowBytes = config.blockK * sizeOf(spec.type);
  aBytes = (config.blockM + padding) * rowBytes;
  bBytes = (config.blockN + padding) * rowBytes;
  pipelineBytes = config.stages * (aBytes + bBytes);
  // 32 bytes of padding put the eight rows of a fragment into different banks.
  stagingPitch = config.blockN + 8;
  // Few slabs mean little code and few barriers, but staging should not cost
  // more shared memory than two blocks of the usual size can have on sm_80.
  constexpr int64_t budget = 72 * 1024;
  slabs = 1;
  while (config.blockM / slabs * stagingPitch * 4 >
             std::max(pipelineBytes, budget) &&
         (warpM / slabs) % 32 == 0)
    slabs *= 2;
  stagingBytes = config.blockM / slabs * stagingPitch * 4;
}

std::pair<Value, Value>
tessera::kernels::tilePosition(KernelBuilder &kb, const MatmulTiles &tiles) {
  kb.at("tile order");
  int64_t group = std::min(tiles.config.groupM, tiles.gridM);
  int64_t last = tiles.gridM % group; // rows of a smaller last group
  Value block = kb.toI32(kb.block());
  Value which = kb.div(block, group * tiles.gridN);
  Value inside = kb.rem(block, group * tiles.gridN);
  Value row = kb.rem(inside, group), col = kb.div(inside, group);
  if (last != 0) {
    Value isLast = kb.eq(which, kb.i32(tiles.gridM / group));
    row = kb.select(isLast, kb.rem(inside, last), row);
    col = kb.select(isLast, kb.div(inside, last), col);
  }
  row = kb.add(row, kb.mul(which, group));
  return {kb.toIndex(row), kb.toIndex(col)};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::pair<Operand, Operand>
tessera::kernels::matmulOperands(KernelBuilder &kb, const MatmulTiles &tiles,
                        Value tileRow, Value tileCol, int64_t elementBytes) {
  const MatmulSpec &spec = tiles.spec;
  const MatmulConfig &config = tiles.config;
  Operand a(kb, kb.arg(0), tileRow, spec.m, spec.k, config.blockM,
            config.blockK, /*kInRows=*/false, elementBytes);
  bool kInRows = !spec.weightOutIn;
  Operand b(kb, kb.arg(1), tileCol, spec.n, spec.k,
            kInRows ? config.blockK : config.blockN,
            kInRows ? config.blockN : config.blockK, kInRows, elementBytes);
  return {a, b};
}

Operand::Operand(KernelBuilder &kb, Value memref, Value start, int64_t extent,
                 int64_t k, int64_t rows, int64_t cols, bool kInRows,
                 int64_t elementBytes)
    : rows(rows), cols(cols), kb(kb), base(kb.pointer(memref)), start(start),
      extent(extent), k(k), pitch(kInRows ? extent : k),
      elementBytes(elementBytes), kInRows(kInRows),
      clamp(extent % (kInRows ? cols : rows) != 0) {
  width = std::min(vectorWidth(pitch, elementBytes), cols);
}

Value Operand::anchor(Value row, Value col) {
  Value across = kb.add(start, kInRows ? col : row);
  // An access begins at a multiple of its width, and so does the last one.
  if (clamp)
    across = kb.minU(across, kb.idx(kInRows ? extent - width : extent - 1));
  Value element = kInRows ? kb.add(kb.mul(row, pitch), across)
                          : kb.add(kb.mul(across, pitch), col);
  return kb.advance(base, kb.mul(element, elementBytes));
}

Operand::Access Operand::access(Value anchor, Value row, Value col, Value k0) {
  int64_t bytes = elementBytes * (kInRows ? pitch : 1);
  Access result;
  result.pointer = kb.advance(anchor, kb.mul(k0, bytes));
  if (k % (kInRows ? rows : cols) != 0)
    result.valid = kb.ltU(kb.add(k0, kInRows ? row : col), k);
  return result;
}

std::optional<int64_t> Operand::rowStep(int64_t distance) const {
  if (clamp && !kInRows)
    return std::nullopt;
  return distance * pitch * elementBytes;
}
