//===- MatmulBF16.cpp - tensor-core matmul for sm_80 and later ------------===//
//
// The multistage scheme of CUTLASS 2.x (cp.async ring, one barrier a tile;
// https://github.com/NVIDIA/cutlass, "efficient_gemm") written over NVVM ops:
//
//   start the copies of the first stages - 1 tiles
//   for each tile: wait for it; barrier; start the copy of the tile
//     stages - 1 ahead into the buffer that was read last; load fragments
//     with ldmatrix one k-step ahead of the mma.sync that use them
//
// Tiles are swizzled (SwizzledTile.h): any 8 rows that ldmatrix reads together,
// and any 8 threads of a cp.async, touch all 32 banks once.
//
//===----------------------------------------------------------------------===//
#include "MatmulTiles.h"
#include "SwizzledTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::kernels;

namespace {

/// A tile of one operand in shared memory: where its chunks lie, and how it
/// gets there.
class StagedTile {
public:
  StagedTile(KernelBuilder &kb, const Operand &source, int64_t offset)
      : kb(kb), source(source), layout(kb, source.cols), offset(offset) {
    prepare();
  }

  int64_t rowBytes() const { return layout.rowBytes(); }
  /// Byte offset in a stage of an element.
  Value byteOffset(Value row, Value col);
  /// Starts (or, where rows are not even 4-byte aligned, performs) the copy of
  /// the tile at k = k0 into the stage at `stage`.
  void copy(Value stage, Value k0);
  bool asynchronous() const { return source.width >= 2; }

private:
  static constexpr int64_t kMaxUnrolled = 16;

  void prepare();
  void copyOne(Value to, Value anchor, Value row, Value col, Value k0);

  KernelBuilder &kb;
  Operand source;
  SwizzledTile layout;
  int64_t offset;
  // The unrolled form: rows a fixed distance apart, addresses made once.
  bool unrolled = false;
  int64_t rowStep = 0, copies = 0;
  Value row, col;
  SmallVector<Value> anchors, targets;
};

/// Loads fragments and multiplies.
class WarpTile {
public:
  WarpTile(KernelBuilder &kb, const MatmulTiles &tiles, StagedTile &a,
           StagedTile &b);
  /// One tile of `blockK`; `sums` are 4 values per 16x8 tile, row-major.
  SmallVector<Value> multiply(Value stage, ValueRange sums);
  int64_t tilesM() const { return tiles.warpM / 16; }
  int64_t tilesN() const { return tiles.warpN / 8; }
  Value warpRow, warpCol;

private:
  struct Fragments {
    SmallVector<SmallVector<Value>> a; ///< per 16 rows
    SmallVector<SmallVector<Value>> b; ///< per 16 columns: two fragments
  };
  Fragments loadFragments(Value stage, int64_t step);

  KernelBuilder &kb;
  const MatmulTiles &tiles;
  StagedTile &a, &b;
  /// Lane offsets: of `a` per k-step; of `b` per k-step if it is [n, k], else
  /// per 16 columns of the first 64.
  SmallVector<Value> aOffsets, bOffsets;
};

} // namespace

//===----------------------------------------------------------------------===//
// StagedTile
//===----------------------------------------------------------------------===//

Value StagedTile::byteOffset(Value row, Value col) {
  Value inTile = layout.offset(kb.toI32(row), kb.toI32(kb.mul(col, 2)));
  return kb.add(kb.toIndex(inTile), offset);
}

void StagedTile::prepare() {
  kb.at("copy addresses");
  int64_t perRow = source.cols / source.width;
  int64_t total = source.rows * perRow;
  copies = total / kb.threads();
  unrolled = source.width == 8 && kb.threads() % perRow == 0 &&
             total % kb.threads() == 0 && copies <= kMaxUnrolled;
  if (!unrolled)
    return;
  rowStep = kb.threads() / perRow;
  row = kb.div(kb.thread(), perRow);
  col = kb.mul(kb.rem(kb.thread(), perRow), 8);
  for (int64_t i = 0; i < copies; ++i) {
    Value rowI = kb.add(row, i * rowStep);
    // Where the permutation repeats, only the immediate offset differs.
    if (i == 0 || rowStep % 8 != 0)
      targets.push_back(byteOffset(rowI, col));
    if (i == 0 || !source.rowStep(rowStep))
      anchors.push_back(source.anchor(rowI, col));
  }
}

void StagedTile::copyOne(Value to, Value anchor, Value row, Value col,
                         Value k0) {
  auto [from, valid] = source.access(anchor, row, col, k0);
  int64_t bytes = source.width * 2;
  if (asynchronous()) {
    Value readBytes;
    if (valid)
      readBytes = kb.select(valid, kb.i32(bytes), kb.i32(0));
    kb.cpAsync(to, from, bytes, readBytes);
    return;
  }
  Type type = kb.getI16Type();
  Value pointer = from;
  Value element = kb.ifElse(
      valid ? valid : kb.boolean(true), type,
      [&]() -> SmallVector<Value> { return {kb.loadPtr(type, pointer)}; },
      [&]() -> SmallVector<Value> { return {kb.zero(type)}; })[0];
  kb.storePtr(element, to);
}

void StagedTile::copy(Value stage, Value k0) {
  if (unrolled) {
    for (int64_t i = 0; i < copies; ++i) {
      Value rowI = kb.add(row, i * rowStep);
      Value to = targets.size() > 1 ? kb.advance(stage, targets[i])
                                    : kb.advance(kb.advance(stage, targets[0]),
                                                 i * rowStep * rowBytes());
      Value anchor =
          anchors.size() > 1
              ? anchors[i]
              : kb.advance(anchors[0], i ? *source.rowStep(i * rowStep) : 0);
      copyOne(to, anchor, rowI, col, k0);
    }
    return;
  }
  // Narrow rows or odd tiles: one access a turn, neighbours side by side.
  int64_t perRow = source.cols / source.width;
  kb.loop(kb.thread(), kb.idx(source.rows * perRow), kb.idx(kb.threads()),
          [&](Value i) {
            Value rowI = kb.div(i, perRow);
            Value colI = kb.mul(kb.rem(i, perRow), source.width);
            Value to = byteOffset(rowI, colI);
            copyOne(kb.advance(stage, to), source.anchor(rowI, colI), rowI,
                    colI, k0);
          });
}

//===----------------------------------------------------------------------===//
// WarpTile
//===----------------------------------------------------------------------===//

WarpTile::WarpTile(KernelBuilder &kb, const MatmulTiles &tiles, StagedTile &a,
                   StagedTile &b)
    : kb(kb), tiles(tiles), a(a), b(b) {
  kb.at("fragment addresses");
  warpRow = kb.div(kb.warp(), tiles.config.warpsN);
  warpCol = kb.rem(kb.warp(), tiles.config.warpsN);
  Value row16 = kb.rem(kb.lane(), 16), half8 = kb.mul(kb.div(kb.lane(), 16), 8);
  int64_t steps = tiles.config.blockK / 16;
  // Matrices in the order of the a operand: rows 0-7, rows 8-15, then the same
  // with k + 8.
  Value aRow = kb.add(kb.mul(warpRow, tiles.warpM), row16);
  for (int64_t step = 0; step < steps; ++step)
    aOffsets.push_back(a.byteOffset(aRow, kb.add(half8, step * 16)));
  Value firstCol = kb.mul(warpCol, tiles.warpN);
  if (tiles.spec.weightOutIn) {
    // [n, k]: columns 0-7 with k and k + 8, then columns 8-15.
    Value bRow = kb.add(kb.add(firstCol, kb.rem(kb.lane(), 8)), half8);
    Value second8 = kb.mul(kb.rem(kb.div(kb.lane(), 8), 2), 8);
    for (int64_t step = 0; step < steps; ++step)
      bOffsets.push_back(b.byteOffset(bRow, kb.add(second8, step * 16)));
    return;
  }
  // [k, n], transposed while loading: k 0-7 and 8-15 of columns 0-7, then of
  // columns 8-15. The permutation repeats every 64 columns.
  Value col = kb.add(firstCol, half8);
  for (int64_t pair = 0; pair < std::min<int64_t>(tilesN() / 2, 4); ++pair)
    bOffsets.push_back(b.byteOffset(row16, kb.add(col, pair * 16)));
}

WarpTile::Fragments WarpTile::loadFragments(Value stage, int64_t step) {
  Fragments result;
  Value aBase = kb.advance(stage, aOffsets[step]);
  for (int64_t i = 0; i < tilesM(); ++i)
    result.a.push_back(
        kb.ldmatrix(kb.advance(aBase, i * 16 * a.rowBytes()), 4));
  for (int64_t pair = 0; pair < tilesN() / 2; ++pair) {
    bool outIn = tiles.spec.weightOutIn;
    Value base = kb.advance(stage, outIn ? bOffsets[step] : bOffsets[pair % 4]);
    int64_t bytes = outIn ? pair * 16 * b.rowBytes()
                          : step * 16 * b.rowBytes() + pair / 4 * 128;
    result.b.push_back(kb.ldmatrix(kb.advance(base, bytes), 4, !outIn));
  }
  return result;
}

SmallVector<Value> WarpTile::multiply(Value stage, ValueRange sums) {
  SmallVector<Value> result(sums);
  int64_t steps = tiles.config.blockK / 16;
  kb.at("fragments");
  Fragments next = loadFragments(stage, 0);
  for (int64_t step = 0; step < steps; ++step) {
    Fragments now = std::move(next);
    kb.at("fragments");
    if (step + 1 < steps)
      next = loadFragments(stage, step + 1);
    kb.at("products");
    for (int64_t i = 0; i < tilesM(); ++i)
      for (int64_t j = 0; j < tilesN(); ++j) {
        ArrayRef<Value> pair = now.b[j / 2];
        auto sum =
            MutableArrayRef<Value>(result).slice((i * tilesN() + j) * 4, 4);
        llvm::copy(kb.mmaBF16(now.a[i], pair.slice(j % 2 * 2, 2), sum),
                   sum.begin());
      }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Stores the accumulators of one slab as f32; see the layout of c in
/// KernelBuilderMemory.cpp.
static void stageSums(KernelBuilder &kb, const MatmulTiles &tiles,
                      const WarpTile &warp, ArrayRef<Value> sums, int64_t slab,
                      Value staging) {
  int64_t tilesM = tiles.slabRows() / 16, tilesN = warp.tilesN();
  Value row =
      kb.add(kb.mul(warp.warpRow, tiles.slabRows()), kb.div(kb.lane(), 4));
  Value col = kb.add(kb.mul(warp.warpCol, tiles.warpN),
                     kb.mul(kb.rem(kb.lane(), 4), 2));
  Value element = kb.add(kb.mul(row, tiles.stagingPitch), col);
  Value base = kb.advance(staging, kb.mul(element, 4));
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t at = ((slab * tilesM + i) * tilesN + j) * 4 + half * 2;
        int64_t offset = (i * 16 + half * 8) * tiles.stagingPitch + j * 8;
        kb.storePtr(kb.fromElements({sums[at], sums[at + 1]}),
                    kb.advance(base, offset * 4));
      }
}

void tessera::kernels::emitMatmulBF16(KernelBuilder &kb,
                                      const MatmulTiles &tiles) {
  const MatmulConfig &config = tiles.config;
  auto [tileM, tileN] = tilePosition(kb, tiles);
  kb.at("operands");
  Value tileRow = kb.mul(tileM, config.blockM);
  Value tileCol = kb.mul(tileN, config.blockN);
  Value memory = kb.dynamicShared();
  auto [aSource, bSource] = matmulOperands(kb, tiles, tileRow, tileCol, 2);
  StagedTile a(kb, aSource, 0), b(kb, bSource, tiles.aBytes);
  WarpTile warp(kb, tiles, a, b);
  int64_t stageBytes = tiles.aBytes + tiles.bBytes;
  int64_t ahead = config.stages - 1;

  auto startCopy = [&](Value stage, Value k0) {
    kb.at("copy");
    a.copy(stage, k0);
    b.copy(stage, k0);
  };
  for (int64_t i = 0; i < ahead; ++i) {
    if (i < tiles.kTiles)
      startCopy(kb.advance(memory, i * stageBytes), kb.idx(i * config.blockK));
    kb.cpAsyncCommit();
  }

  Value end = kb.idx(config.stages * stageBytes);
  auto nextStage = [&](Value stage) {
    Value next = kb.add(stage, stageBytes);
    return kb.select(kb.eq(next, end), kb.idx(0), next);
  };
  kb.at("main loop");
  SmallVector<Value> carried(warp.tilesM() * warp.tilesN() * 4, kb.f32(0.0));
  carried.push_back(kb.idx(0));
  carried.push_back(kb.idx(ahead * stageBytes));
  Value aheadK = kb.idx(ahead * config.blockK);
  carried = kb.loop(
      kb.idx(0), kb.idx(tiles.kTiles * config.blockK), kb.idx(config.blockK),
      carried, [&](Value k0, ValueRange values) -> SmallVector<Value> {
        Value readStage = values[values.size() - 2];
        Value writeStage = values.back();
        kb.at("wait");
        kb.cpAsyncWait(ahead - 1);
        kb.barrier();
        if (tiles.kTiles > ahead) {
          Value k1 = kb.add(k0, aheadK);
          kb.ifThen(kb.ltU(k1, tiles.kTiles * config.blockK),
                    [&] { startCopy(kb.advance(memory, writeStage), k1); });
        }
        kb.cpAsyncCommit();
        SmallVector<Value> next =
            warp.multiply(kb.advance(memory, readStage), values.drop_back(2));
        kb.at("main loop");
        next.push_back(nextStage(readStage));
        next.push_back(nextStage(writeStage));
        return next;
      });
  emitEpilogue(kb, tiles, tileRow, tileCol, [&](int64_t slab, Value staging) {
    stageSums(kb, tiles, warp, carried, slab, staging);
  });
}
