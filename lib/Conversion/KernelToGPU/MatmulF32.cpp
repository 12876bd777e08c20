//===- MatmulF32.cpp - f32 matmul on the vector units ---------------------===//
//
// The classic register-tiled product: tiles of both operands lie in shared
// memory as [k][row], double-buffered; a thread multiplies columns of 4, 8 or
// 16 rows with rows of 4 or 8 columns as fused multiply-adds of whole vectors
// (which a host compiler turns into its own vector instructions). Rows of a
// thread come in groups of 4, kLanesM * 4 apart, columns likewise, so that a
// warp's 16-byte reads of shared memory touch each bank once.
//
//===----------------------------------------------------------------------===//
#include "MatmulTiles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::kernels;

namespace {

/// An operand's way from global memory through registers into [k][row] form.
class TransposedTile {
public:
  TransposedTile(KernelBuilder &kb, const Operand &source, bool kInRows,
                 int64_t offset);

  /// Bytes from one k to the next.
  int64_t pitchBytes() const {
    return ((kInRows ? source.cols : source.rows) + 4) * 4;
  }
  SmallVector<Type> types();
  SmallVector<Value> load(Value k0);
  void store(Value buffer, ValueRange values);
  int64_t offset; ///< of the tile in a buffer, bytes

private:
  KernelBuilder &kb;
  Operand source;
  bool kInRows;
  int64_t copies, rowStep;
  Value row, col;
  SmallVector<Value> anchors;
};

/// The sums of one thread.
class ThreadTile {
public:
  ThreadTile(KernelBuilder &kb, const MatmulTiles &tiles);
  /// Rows and columns, in groups of 4.
  int64_t groupsM, groupsN;
  VectorType rowType() { return kb.vec(groupsN * 4, kb.getF32Type()); }
  /// Adds the products of one k; sums are one vector per row.
  void multiply(Value aRow, Value bRow, MutableArrayRef<Value> sums);
  void stage(ArrayRef<Value> sums, int64_t slab, Value staging);
  /// Byte offsets of the thread's first row and column in a row of k.
  Value aOffset, bOffset;

private:
  KernelBuilder &kb;
  const MatmulTiles &tiles;
  Value warpRow, warpCol, laneRow, laneCol;
};

} // namespace

TransposedTile::TransposedTile(KernelBuilder &kb, const Operand &source,
                               bool kInRows, int64_t offset)
    : offset(offset), kb(kb), source(source), kInRows(kInRows) {
  kb.at("copy addresses");
  int64_t perRow = source.cols / source.width;
  rowStep = kb.threads() / perRow;
  copies = source.rows * perRow / kb.threads();
  row = kb.div(kb.thread(), perRow);
  col = kb.mul(kb.rem(kb.thread(), perRow), source.width);
  for (int64_t i = 0; i < copies; ++i)
    anchors.push_back(this->source.anchor(kb.add(row, i * rowStep), col));
}

SmallVector<Type> TransposedTile::types() {
  return SmallVector<Type>(copies, kb.vec(source.width, kb.getF32Type()));
}

SmallVector<Value> TransposedTile::load(Value k0) {
  SmallVector<Value> values;
  Type type = types().front();
  for (int64_t i = 0; i < copies; ++i) {
    auto [from, valid] =
        source.access(anchors[i], kb.add(row, i * rowStep), col, k0);
    Value pointer = from;
    values.append(kb.ifElse(
        valid ? valid : kb.boolean(true), type,
        [&]() -> SmallVector<Value> { return {kb.loadPtr(type, pointer)}; },
        [&]() -> SmallVector<Value> { return {kb.zero(type)}; }));
  }
  return values;
}

void TransposedTile::store(Value buffer, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    Value rowI = kb.add(row, i * rowStep);
    Value k = kInRows ? rowI : col, across = kInRows ? col : rowI;
    Value bytes = kb.add(kb.mul(k, pitchBytes()), kb.mul(across, 4));
    Value to = kb.advance(buffer, kb.add(bytes, offset));
    if (kInRows) {
      kb.storePtr(value, to);
      continue;
    }
    for (int64_t j = 0; j < source.width; ++j)
      kb.storePtr(kb.extract(value, j), kb.advance(to, j * pitchBytes()));
  }
}

ThreadTile::ThreadTile(KernelBuilder &kb, const MatmulTiles &tiles)
    : groupsM(tiles.warpM / (kLanesM * 4)),
      groupsN(tiles.warpN / (kLanesN * 4)), kb(kb), tiles(tiles) {
  kb.at("thread tile");
  warpRow = kb.div(kb.warp(), tiles.config.warpsN);
  warpCol = kb.rem(kb.warp(), tiles.config.warpsN);
  laneRow = kb.mul(kb.div(kb.lane(), kLanesN), 4);
  laneCol = kb.mul(kb.rem(kb.lane(), kLanesN), 4);
  aOffset = kb.mul(kb.add(kb.mul(warpRow, tiles.warpM), laneRow), 4);
  bOffset = kb.mul(kb.add(kb.mul(warpCol, tiles.warpN), laneCol), 4);
}

void ThreadTile::multiply(Value aRow, Value bRow, MutableArrayRef<Value> sums) {
  VectorType four = kb.vec(4, kb.getF32Type());
  Value b = kb.loadPtr(four, bRow);
  if (groupsN == 2) {
    Value high = kb.loadPtr(four, kb.advance(bRow, kLanesN * 16));
    b = vector::ShuffleOp::create(kb, b, high,
                                  ArrayRef<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  for (int64_t group = 0; group < groupsM; ++group) {
    Value a = kb.loadPtr(four, kb.advance(aRow, group * kLanesM * 16));
    for (int64_t i = 0; i < 4; ++i) {
      Value factor = kb.splat(kb.extract(a, i), groupsN * 4);
      Value &sum = sums[group * 4 + i];
      sum = kb.fma(factor, b, sum);
    }
  }
}

void ThreadTile::stage(ArrayRef<Value> sums, int64_t slab, Value staging) {
  int64_t groups = tiles.slabRows() / (kLanesM * 4);
  Value row = kb.add(kb.mul(warpRow, tiles.slabRows()), laneRow);
  Value col = kb.add(kb.mul(warpCol, tiles.warpN), laneCol);
  Value element = kb.add(kb.mul(row, tiles.stagingPitch), col);
  Value base = kb.advance(staging, kb.mul(element, 4));
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t i = 0; i < 4; ++i) {
      Value sum = sums[(slab * groups + group) * 4 + i];
      int64_t rowI = group * kLanesM * 4 + i;
      for (int64_t half = 0; half < groupsN; ++half) {
        Value part = sum;
        if (groupsN > 1)
          part = vector::ExtractStridedSliceOp::create(
              kb, sum, ArrayRef<int64_t>{half * 4}, ArrayRef<int64_t>{4},
              ArrayRef<int64_t>{1});
        int64_t at = rowI * tiles.stagingPitch + half * kLanesN * 4;
        kb.storePtr(part, kb.advance(base, at * 4));
      }
    }
}

void tessera::kernels::emitMatmulF32(KernelBuilder &kb,
                                     const MatmulTiles &tiles) {
  const MatmulSpec &spec = tiles.spec;
  const MatmulConfig &config = tiles.config;
  auto [tileM, tileN] = tilePosition(kb, tiles);
  kb.at("operands");
  Value tileRow = kb.mul(tileM, config.blockM);
  Value tileCol = kb.mul(tileN, config.blockN);
  Value memory = kb.dynamicShared();
  bool kInRows = !spec.weightOutIn;
  auto [aSource, bSource] = matmulOperands(kb, tiles, tileRow, tileCol, 4);
  TransposedTile a(kb, aSource, false, 0);
  TransposedTile b(kb, bSource, kInRows, tiles.aBytes);
  ThreadTile thread(kb, tiles);
  int64_t bufferBytes = tiles.aBytes + tiles.bBytes;

  kb.at("first tile");
  a.store(memory, a.load(kb.idx(0)));
  b.store(memory, b.load(kb.idx(0)));
  kb.barrier();

  SmallVector<Type> loadTypes = a.types();
  size_t aCopies = loadTypes.size();
  loadTypes.append(b.types());
  auto loadBoth = [&](Value k0) {
    kb.at("copy");
    SmallVector<Value> values = a.load(k0);
    values.append(b.load(k0));
    return values;
  };
  /// All k of the tile in `buffer`, a few unrolled.
  auto multiplyTile = [&](Value buffer, ValueRange sums) {
    constexpr int64_t unroll = 4;
    kb.at("products");
    Value aRow = kb.advance(kb.advance(buffer, a.offset), thread.aOffset);
    Value bRow = kb.advance(kb.advance(buffer, b.offset), thread.bOffset);
    return kb.loop(kb.idx(0), kb.idx(config.blockK), kb.idx(unroll), sums,
                   [&](Value k, ValueRange values) -> SmallVector<Value> {
                     SmallVector<Value> result(values);
                     Value aK = kb.advance(aRow, kb.mul(k, a.pitchBytes()));
                     Value bK = kb.advance(bRow, kb.mul(k, b.pitchBytes()));
                     for (int64_t i = 0; i < unroll; ++i)
                       thread.multiply(kb.advance(aK, i * a.pitchBytes()),
                                       kb.advance(bK, i * b.pitchBytes()),
                                       result);
                     return result;
                   });
  };

  SmallVector<Value> carried(thread.groupsM * 4, kb.zero(thread.rowType()));
  carried.push_back(kb.idx(0));
  int64_t endK = tiles.kTiles * config.blockK;
  carried = kb.loop(kb.idx(0), kb.idx(endK), kb.idx(config.blockK), carried,
                    [&](Value k0, ValueRange values) -> SmallVector<Value> {
                      Value current = values.back();
                      Value other = kb.sub(kb.idx(bufferBytes), current);
                      Value k1 = kb.add(k0, config.blockK);
                      Value more = kb.ltU(k1, endK);
                      SmallVector<Value> loaded = kb.ifElse(
                          more, loadTypes, [&] { return loadBoth(k1); },
                          [&] {
                            SmallVector<Value> none;
                            for (Type type : loadTypes)
                              none.push_back(kb.zero(type));
                            return none;
                          });
                      SmallVector<Value> next = multiplyTile(
                          kb.advance(memory, current), values.drop_back(1));
                      kb.at("copy");
                      kb.ifThen(more, [&] {
                        Value buffer = kb.advance(memory, other);
                        a.store(buffer, ValueRange(loaded).take_front(aCopies));
                        b.store(buffer, ValueRange(loaded).drop_front(aCopies));
                      });
                      kb.barrier();
                      next.push_back(other);
                      return next;
                    });
  emitEpilogue(kb, tiles, tileRow, tileCol, [&](int64_t slab, Value staging) {
    thread.stage(carried, slab, staging);
  });
}
