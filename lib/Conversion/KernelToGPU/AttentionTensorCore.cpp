//===- AttentionTensorCore.cpp - bf16 attention on mma.sync ---------------===//
//
// FlashAttention-2 (Dao 2023, arXiv 2307.08691) with m16n8k16 fragments. Each
// warp owns whole query rows, so that no row statistic leaves the warp: with
// group = lane / 4 and t = lane % 4 a thread holds columns 2t, 2t + 1 of every
// 8-column score tile for the rows group and group + 8, and a row's maximum
// and sum take two shuffles within the four lanes of its group.
//
// The accumulator fragment of two neighbouring score tiles is, rounded to
// bf16, the A fragment of the probabilities, so they never leave registers.
//
// With s stages the key and value tiles of s - 1 iterations are under way
// while one is computed, and one barrier an iteration suffices: the buffer that
// iteration i fills was last read in iteration i - 1, before its barrier.
//
//===----------------------------------------------------------------------===//
#include "AttentionBlock.h"
#include "AttentionGeometry.h"
#include "AttentionKernels.h"
#include "SwizzledTile.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include <limits>

using namespace mlir;
using namespace tessera::kernels;

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

/// State that the loop over key tiles carries, per 16-row tile of the warp.
struct Rows {
  SmallVector<Value> output; ///< [column tile][4]
  Value maximum[2], sum[2];  ///< rows group and group + 8
};

class TensorCoreAttention {
public:
  TensorCoreAttention(KernelBuilder &kb, const AttentionSpec &spec,
                      const AttentionConfig &config)
      : kb(kb), spec(spec), config(config), geometry(spec, config),
        block(kb, spec, config.blockQ, config.blockKV),
        tile(kb, geometry.paddedDim) {}

  void build();

private:
  using Scores = SmallVector<SmallVector<Value>>; ///< [row tile][key tile * 4]

  Value buffer(Value stage);
  void fetch(Value keyTile, Value stage);
  void fetchQueries();
  void loadQueryFragments();
  SmallVector<Value> queryFragment(int64_t rowTile, int64_t step);
  Scores scores(Value keys);
  void mask(Scores &scores, Value keyTile);
  void softmax(SmallVector<Value> &scores, Rows &rows);
  void accumulate(const Scores &probabilities, Value values,
                  SmallVector<Rows> &rows);
  SmallVector<Value> iteration(Value keyTile, ValueRange carried);
  void store(SmallVector<Rows> &rows);
  Value quadReduce(Value value, KernelBuilder::Combine combine) {
    return kb.warpReduce(value, combine, 4);
  }

  SmallVector<Value> pack(ArrayRef<Rows> rows);
  SmallVector<Rows> unpack(ValueRange values);
  int64_t columnTiles() const { return geometry.paddedDim / 8; }
  int64_t keyTiles() const { return config.blockKV / 8; }

  KernelBuilder &kb;
  const AttentionSpec &spec;
  const AttentionConfig &config;
  TensorCoreGeometry geometry;
  AttentionBlock block;
  SwizzledTile tile;

  Value queries, buffers; ///< shared memory
  Value warpQueries;      ///< first of the warp's rows in `queries`
  SwizzledTile::Fragments queryLanes, keyLanes, valueLanes;
  SmallVector<SmallVector<Value>> queryFragments; ///< if held in registers
  Value warpRow;  ///< i32, first of the warp's rows in the block
  Value group, t; ///< i32
  /// Scores times this are powers of two; 1 if they had to be scaled before
  /// the maximum (a scale that is not positive turns the order round).
  double exponentScale = 1.0;
  double scoreScale = 1.0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

Value TensorCoreAttention::buffer(Value stage) {
  return kb.advance(buffers, kb.mul(stage, 2 * geometry.kvTileBytes));
}

void TensorCoreAttention::fetch(Value keyTile, Value stage) {
  TileSource source{block.tileStart(block.k, keyTile), block.keyStride,
                    2 * spec.headDim, geometry.copyBytes,
                    block.validKeys(keyTile)};
  Value keys = buffer(stage);
  tile.copyIn(keys, config.blockKV, source);
  source.pointer = block.tileStart(block.v, keyTile);
  tile.copyIn(kb.advance(keys, geometry.kvTileBytes), config.blockKV, source);
}

void TensorCoreAttention::fetchQueries() {
  tile.copyIn(queries, config.blockQ,
              {block.q, block.queryStride, 2 * spec.headDim, geometry.copyBytes,
               block.validQueries()});
}

SmallVector<Value> TensorCoreAttention::queryFragment(int64_t rowTile,
                                                      int64_t step) {
  if (geometry.queriesInRegisters)
    return queryFragments[rowTile * geometry.paddedDim / 16 + step];
  return tile.load(queryLanes, warpQueries, 16 * rowTile, step);
}

void TensorCoreAttention::loadQueryFragments() {
  if (!geometry.queriesInRegisters)
    return;
  for (int64_t rowTile = 0; rowTile < geometry.rowTiles; ++rowTile)
    for (int64_t step = 0; step < geometry.paddedDim / 16; ++step)
      queryFragments.push_back(
          tile.load(queryLanes, warpQueries, 16 * rowTile, step));
}

//===----------------------------------------------------------------------===//
// One key tile
//===----------------------------------------------------------------------===//

TensorCoreAttention::Scores TensorCoreAttention::scores(Value keys) {
  kb.at("scores");
  Scores result(geometry.rowTiles,
                SmallVector<Value>(4 * keyTiles(), kb.f32(0.0)));
  for (int64_t step = 0; step < geometry.paddedDim / 16; ++step) {
    SmallVector<SmallVector<Value>> keyFragments;
    for (int64_t pair = 0; pair < keyTiles() / 2; ++pair)
      keyFragments.push_back(tile.load(keyLanes, keys, 16 * pair, step));
    for (int64_t rowTile = 0; rowTile < geometry.rowTiles; ++rowTile) {
      SmallVector<Value> a = queryFragment(rowTile, step);
      for (int64_t n = 0; n < keyTiles(); ++n) {
        auto c = MutableArrayRef<Value>(result[rowTile]).slice(4 * n, 4);
        ArrayRef<Value> b = ArrayRef(keyFragments[n / 2]).slice(n % 2 * 2, 2);
        llvm::copy(kb.mmaBF16(a, b, c), c.begin());
      }
    }
  }
  if (scoreScale != 1.0)
    for (SmallVector<Value> &row : result)
      for (Value &score : row)
        score = kb.mul(score, kb.f32(scoreScale));
  return result;
}

void TensorCoreAttention::mask(Scores &scores, Value keyTile) {
  Value needed = block.needsMask(keyTile);
  if (!needed)
    return;
  kb.at("mask");
  SmallVector<Value> flat;
  for (auto &row : scores)
    flat.append(row);
  SmallVector<Type> types(flat.size(), kb.getF32Type());
  auto masked = [&] {
    Value hidden = kb.f32(-kInfinity);
    SmallVector<Value> result = flat;
    for (int64_t half = 0; half < 2 * geometry.rowTiles; ++half) {
      int64_t rowTile = half / 2;
      Value row = kb.add(kb.add(warpRow, group), 16 * rowTile + half % 2 * 8);
      auto [low, high] = block.visible(keyTile, row, kb.shl(t, 1));
      for (int64_t n = 0; n < keyTiles(); ++n)
        for (int64_t e = 0; e < 2; ++e) {
          Value key = kb.i32(8 * n + e);
          Value &score =
              result[4 * (rowTile * keyTiles() + n) + half % 2 * 2 + e];
          if (high)
            score = kb.select(lessSigned(kb, high, key), hidden, score);
          if (low)
            score = kb.select(lessSigned(kb, low, key), score, hidden);
        }
    }
    return result;
  };
  SmallVector<Value> result =
      kb.ifElse(needed, types, masked, [&] { return flat; });
  for (int64_t i = 0; i < geometry.rowTiles; ++i)
    scores[i].assign(result.begin() + 4 * keyTiles() * i,
                     result.begin() + 4 * keyTiles() * (i + 1));
}

/// Combines pairwise: a chain would be as long as the row.
static Value combineAll(ArrayRef<Value *> row, KernelBuilder::Combine combine) {
  SmallVector<Value> values;
  for (Value *value : row)
    values.push_back(*value);
  while (values.size() > 1) {
    SmallVector<Value> half;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      half.push_back(combine(values[i], values[i + 1]));
    if (values.size() % 2 != 0)
      half.push_back(values.back());
    values = std::move(half);
  }
  return values.front();
}

/// Scores of one 16-row tile to probabilities (not yet divided by the row
/// sum), and the row statistics and the output so far to the new maximum.
void TensorCoreAttention::softmax(SmallVector<Value> &scores, Rows &rows) {
  auto maximum = [&](Value a, Value b) { return kb.maxNum(a, b); };
  auto add = [&](Value a, Value b) { return kb.add(a, b); };
  for (int64_t half = 0; half < 2; ++half) {
    SmallVector<Value *> row;
    for (int64_t i = 0; i < 2 * keyTiles(); ++i)
      row.push_back(&scores[i / 2 * 4 + 2 * half + i % 2]);
    Value largest = quadReduce(combineAll(row, maximum), maximum);
    Value before = rows.maximum[half];
    rows.maximum[half] = maximum(before, largest);
    Value subtract = rows.maximum[half];
    if (block.rowsMayStartEmpty())
      subtract = finiteMaximum(kb, subtract);
    Value factor = kb.f32(exponentScale);
    Value shift = kb.mul(subtract, kb.f32(-exponentScale));
    Value rescale = emitExp2(kb, kb.fma(before, factor, shift));
    for (Value *score : row)
      *score = emitExp2(kb, kb.fma(*score, factor, shift));
    rows.sum[half] = kb.fma(rows.sum[half], rescale, combineAll(row, add));
    for (int64_t n = 0; n < columnTiles(); ++n)
      for (int64_t e = 0; e < 2; ++e) {
        Value &output = rows.output[4 * n + 2 * half + e];
        output = kb.mul(output, rescale);
      }
  }
}

void TensorCoreAttention::accumulate(const Scores &probabilities, Value values,
                                     SmallVector<Rows> &rows) {
  kb.at("output");
  for (int64_t step = 0; step < config.blockKV / 16; ++step) {
    SmallVector<SmallVector<Value>> valueFragments;
    for (int64_t pair = 0; pair < columnTiles() / 2; ++pair)
      valueFragments.push_back(tile.load(valueLanes, values, 16 * step, pair,
                                         /*transpose=*/true));
    for (int64_t rowTile = 0; rowTile < geometry.rowTiles; ++rowTile) {
      ArrayRef<Value> p = ArrayRef(probabilities[rowTile]).slice(8 * step, 8);
      SmallVector<Value> a;
      for (int64_t i = 0; i < 4; ++i)
        a.push_back(kb.packBF16(p[2 * i], p[2 * i + 1]));
      for (int64_t n = 0; n < columnTiles(); ++n) {
        auto c = MutableArrayRef<Value>(rows[rowTile].output).slice(4 * n, 4);
        ArrayRef<Value> b = ArrayRef(valueFragments[n / 2]).slice(n % 2 * 2, 2);
        llvm::copy(kb.mmaBF16(a, b, c), c.begin());
      }
    }
  }
}

SmallVector<Value> TensorCoreAttention::iteration(Value keyTile,
                                                  ValueRange carried) {
  kb.at("fetch");
  Value stage = carried[0];
  SmallVector<Rows> rows = unpack(carried.drop_front());
  int64_t stages = config.stages;
  if (stages == 1) {
    kb.barrier();
    fetch(keyTile, stage);
    kb.cpAsyncCommit();
    kb.cpAsyncWait(0);
    kb.barrier();
  } else {
    kb.cpAsyncWait(stages - 2);
    kb.barrier();
    Value next = kb.add(keyTile, stages - 1);
    kb.ifThen(lessSigned(kb, next, block.lastTile), [&] {
      Value free = kb.select(kb.eq(stage, kb.i32(0)), kb.i32(stages - 1),
                             kb.sub(stage, kb.i32(1)));
      fetch(next, free);
    });
    kb.cpAsyncCommit();
  }
  Value keys = buffer(stage);
  Scores tileScores = scores(keys);
  mask(tileScores, keyTile);
  kb.at("softmax");
  for (int64_t i = 0; i < geometry.rowTiles; ++i)
    softmax(tileScores[i], rows[i]);
  accumulate(tileScores, kb.advance(keys, geometry.kvTileBytes), rows);

  SmallVector<Value> result;
  if (stages == 1) {
    result.push_back(stage);
  } else {
    Value wraps = kb.eq(stage, kb.i32(stages - 1));
    result.push_back(kb.select(wraps, kb.i32(0), kb.add(stage, 1)));
  }
  result.append(pack(rows));
  return result;
}

SmallVector<Value> TensorCoreAttention::pack(ArrayRef<Rows> rows) {
  SmallVector<Value> values;
  for (const Rows &row : rows) {
    values.append(row.output);
    values.append({row.maximum[0], row.maximum[1], row.sum[0], row.sum[1]});
  }
  return values;
}

SmallVector<Rows> TensorCoreAttention::unpack(ValueRange values) {
  SmallVector<Rows> rows(geometry.rowTiles);
  for (Rows &row : rows) {
    row.output.assign(values.begin(), values.begin() + 4 * columnTiles());
    values = values.drop_front(4 * columnTiles());
    row.maximum[0] = values[0];
    row.maximum[1] = values[1];
    row.sum[0] = values[2];
    row.sum[1] = values[3];
    values = values.drop_front(4);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Divides by the row sums and stores. The output goes through the warp's own
/// rows of the query tile, so that global memory is written in whole chunks.
void TensorCoreAttention::store(SmallVector<Rows> &rows) {
  kb.at("store");
  kb.warpSync();
  for (int64_t half = 0; half < 2 * geometry.rowTiles; ++half) {
    Rows &row = rows[half / 2];
    Value sum = quadReduce(row.sum[half % 2],
                           [&](Value a, Value b) { return kb.add(a, b); });
    Value inverse = inverseSum(kb, sum, block.rowsMayStayEmpty());
    Value place = kb.add(group, 8 * half);
    for (int64_t n = 0; n < columnTiles(); ++n) {
      Value *pair = &row.output[4 * n + half % 2 * 2];
      Value packed =
          kb.packBF16(kb.mul(pair[0], inverse), kb.mul(pair[1], inverse));
      Value byte = kb.add(kb.shl(t, 2), 16 * n);
      kb.storePtr(packed, kb.advance(warpQueries, tile.offset(place, byte)));
    }
  }
  kb.warpSync();

  int64_t width = geometry.copyBytes, perRow = 2 * spec.headDim / width;
  Type type = width < 4    ? Type(kb.getIntegerType(8 * width))
              : width == 4 ? Type(kb.getI32Type())
                           : Type(kb.vec(width / 4, kb.getI32Type()));
  Value valid = block.validQueries();
  Value out = kb.advance(block.out, kb.mul(kb.createOrFold<arith::ExtUIOp>(
                                               kb.getI64Type(), warpRow),
                                           block.queryStride));
  kb.loop(
      kb.toI32(kb.lane()), kb.i32(16 * geometry.rowTiles * perRow),
      kb.i32(tessera::kernels::kWarpSize), [&](Value index) {
        Value place = kb.div(index, perRow);
        Value byte = kb.mul(kb.rem(index, perRow), width);
        auto copy = [&] {
          Value chunk = kb.loadPtr(
              type, kb.advance(warpQueries, tile.offset(place, byte)));
          kb.storePtr(
              chunk,
              kb.advance(out, kb.add(kb.mul(place, block.queryStride), byte)));
        };
        if (valid)
          kb.ifThen(lessSigned(kb, kb.add(place, warpRow), valid), copy);
        else
          copy();
      });
}

void TensorCoreAttention::build() {
  if (spec.scale > 0)
    exponentScale = spec.scale * kLog2E;
  else
    scoreScale = spec.scale * kLog2E;

  kb.at("queries");
  Value lane = kb.toI32(kb.lane());
  group = kb.shrU(lane, 2);
  t = kb.bitAnd(lane, kb.i32(3));
  warpRow = kb.mul(kb.toI32(kb.warp()), 16 * geometry.rowTiles);
  queries = kb.dynamicShared();
  buffers = kb.advance(queries, geometry.queryBytes);
  warpQueries = kb.advance(queries, kb.mul(warpRow, tile.rowBytes()));
  queryLanes = tile.rowsThenChunks();
  keyLanes = tile.chunksThenRows();
  valueLanes = queryLanes;

  tile.clearPadding(queries, geometry.sharedBytes / tile.rowBytes(),
                    2 * spec.headDim, geometry.copyBytes);
  fetchQueries();
  kb.cpAsyncCommit();
  for (int64_t ahead = 0; ahead < config.stages - 1; ++ahead) {
    Value keyTile = kb.add(block.firstTile, ahead);
    kb.ifThen(lessSigned(kb, keyTile, block.lastTile),
              [&] { fetch(keyTile, kb.i32(ahead)); });
    kb.cpAsyncCommit();
  }
  kb.cpAsyncWait(config.stages - 1);
  kb.barrier();
  loadQueryFragments();

  Rows start;
  start.output.assign(4 * columnTiles(), kb.f32(0.0));
  for (int64_t half = 0; half < 2; ++half) {
    start.maximum[half] = kb.f32(-kInfinity);
    start.sum[half] = kb.f32(0.0);
  }
  SmallVector<Value> initial{kb.i32(0)};
  initial.append(pack(SmallVector<Rows>(geometry.rowTiles, start)));
  SmallVector<Value> last =
      kb.loop(block.firstTile, block.lastTile, kb.i32(1), initial,
              [&](Value keyTile, ValueRange carried) {
                return iteration(keyTile, carried);
              });
  SmallVector<Rows> rows = unpack(ValueRange(last).drop_front());
  store(rows);
}

void tessera::kernels::buildTensorCoreAttention(KernelBuilder &kb,
                                                const AttentionSpec &spec,
                                                const AttentionConfig &config) {
  TensorCoreAttention(kb, spec, config).build();
}
