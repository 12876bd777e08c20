//===- AttentionVector.cpp - f32 attention on fused multiply-adds ---------===//
//
// Online softmax over key tiles like the bf16 kernel, with both products as
// register-tiled matrix products from shared memory. Eight threads share a
// group of query rows. Each computes the scores of a few adjacent keys from the
// transposed key tile (one vector of keys times one broadcast query element per
// step), and in the second product a slice of output columns from all keys, so
// that no thread ever adds up across the lanes of a vector: on a GPU a vector
// is scalar fused multiply-adds on 16-byte loads, on the virtual GPU a SIMD
// register.
//
// Row maxima and probabilities pass through shared memory, not shuffles: one
// barrier each, for all rows of a thread at once. These two barriers also
// protect the tiles. Between them the values of this tile and the keys of the
// next are stored: every thread has then finished the previous output product
// and this tile's scores.
//
// The scale and log2 e are multiplied into the queries, so scores are powers
// of two.
//
//===----------------------------------------------------------------------===//
#include "AttentionBlock.h"
#include "AttentionGeometry.h"
#include "AttentionKernels.h"

#include "tessera/Conversion/KernelToGPU/DeviceMath.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tessera::kernels;

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

/// What the loop over key tiles carries for one query row of a thread.
struct Row {
  SmallVector<Value> output; ///< [slice], vectors of sliceWidth
  Value maximum;             ///< of the whole row
  Value sum;                 ///< of this thread's keys
};

class VectorAttention {
public:
  VectorAttention(KernelBuilder &kb, const AttentionSpec &spec,
                  const AttentionConfig &config)
      : kb(kb), spec(spec), config(config), geometry(spec, config),
        block(kb, spec, config.blockQ, config.blockKV),
        width(vectorWidth(spec.headDim, 4)) {}

  void build();

private:
  /// Global row `row` of a tile whose rows `valid` exist (the last one stands
  /// for those that do not; the mask hides it).
  Value globalRow(Value start, Value row, int64_t stride, Value valid);
  void forChunks(int64_t rows, bool rowsFastest,
                 llvm::function_ref<void(Value, Value)> body);
  void storeQueries();
  void storeKeys(Value keyTile);
  void storeValues(Value keyTile);
  SmallVector<Value> scores();
  void mask(SmallVector<Value> &scores, Value keyTile);
  SmallVector<Value> iteration(Value keyTile, ValueRange carried);
  void shareMaxima(ArrayRef<Value> scores);
  void softmax(ArrayRef<Value> scores, MutableArrayRef<Row> rows);
  void accumulate(MutableArrayRef<Row> rows);
  void storeOutput(ArrayRef<Row> rows);
  Value reduce(vector::CombiningKind kind, Value vector) {
    return vector::ReductionOp::create(kb, kind, vector,
                                       arith::FastMathFlags::reassoc);
  }
  Value partials(int64_t row) {
    return kb.loadPtr(kb.vec(8, kb.getF32Type()),
                      at(partialMaxima, kb.mul(rowOf(row), 8)), 16);
  }

  SmallVector<Value> pack(ArrayRef<Row> rows);
  SmallVector<Row> unpack(ValueRange values);
  /// Address of element `index` (i32).
  Value at(Value base, Value index) {
    return kb.advance(base, kb.shl(index, 2));
  }
  Value rowOf(int64_t i) { return kb.add(rowThread, i * geometry.rowThreads); }

  KernelBuilder &kb;
  const AttentionSpec &spec;
  const AttentionConfig &config;
  VectorGeometry geometry;
  AttentionBlock block;
  int64_t width; ///< elements per global access

  Value queries, keys, values, probabilities, partialMaxima; ///< shared memory
  Value rowThread, colThread;                                ///< i32
};

} // namespace

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

Value VectorAttention::globalRow(Value start, Value row, int64_t stride,
                                 Value valid) {
  if (valid)
    row = minSigned(kb, row, kb.sub(valid, kb.i32(1)));
  return kb.advance(start, kb.mul(row, stride));
}

/// Calls `body` with the row and first column of each global access of a tile,
/// spread over the threads.
void VectorAttention::forChunks(int64_t rows, bool rowsFastest,
                                llvm::function_ref<void(Value, Value)> body) {
  int64_t perRow = spec.headDim / width;
  kb.loop(kb.toI32(kb.thread()), kb.i32(rows * perRow), kb.i32(kb.threads()),
          [&](Value index) {
            int64_t inner = rowsFastest ? rows : perRow;
            Value fast = kb.rem(index, inner), slow = kb.div(index, inner);
            body(rowsFastest ? fast : slow,
                 kb.mul(rowsFastest ? slow : fast, width));
          });
}

void VectorAttention::storeQueries() {
  Type type = kb.vec(width, kb.getF32Type());
  Value scale = kb.fp(spec.scale * kLog2E, type);
  forChunks(config.blockQ, false, [&](Value row, Value col) {
    Value from =
        globalRow(block.q, row, block.queryStride, block.validQueries());
    Value chunk = kb.mul(kb.loadPtr(type, at(from, col)), scale);
    Value index = kb.add(kb.mul(row, geometry.queryPitch), col);
    kb.storePtr(chunk, at(queries, index));
  });
}

/// Transposed. Neighbouring threads take neighbouring keys, so that the stores
/// of a warp are to adjacent words.
void VectorAttention::storeKeys(Value keyTile) {
  kb.at("keys");
  Type type = kb.vec(width, kb.getF32Type());
  Value start = block.tileStart(block.k, keyTile);
  Value valid = block.validKeys(keyTile);
  forChunks(config.blockKV, true, [&](Value key, Value col) {
    Value from = globalRow(start, key, block.keyStride, valid);
    Value chunk = kb.loadPtr(type, at(from, col));
    Value index = kb.add(kb.mul(col, geometry.keyPitch), key);
    Value to = at(keys, index);
    for (int64_t i = 0; i < width; ++i)
      kb.storePtr(kb.extract(chunk, i),
                  kb.advance(to, 4 * i * geometry.keyPitch));
  });
}

void VectorAttention::storeValues(Value keyTile) {
  kb.at("values");
  Type type = kb.vec(width, kb.getF32Type());
  Value start = block.tileStart(block.v, keyTile);
  Value valid = block.validKeys(keyTile);
  forChunks(config.blockKV, false, [&](Value key, Value col) {
    Value from = globalRow(start, key, block.keyStride, valid);
    Value index = kb.add(kb.mul(key, geometry.paddedDim), col);
    kb.storePtr(kb.loadPtr(type, at(from, col)), at(values, index));
  });
}

//===----------------------------------------------------------------------===//
// One key tile
//===----------------------------------------------------------------------===//

SmallVector<Value> VectorAttention::scores() {
  kb.at("scores");
  int64_t unroll = std::min<int64_t>(width, 4);
  Type type = kb.vec(geometry.keysPerThread, kb.getF32Type());
  SmallVector<Value> zeros(geometry.rowsPerThread, kb.fp(0.0, type));
  Value firstKey = at(keys, kb.mul(colThread, geometry.keysPerThread));
  Value firstQuery = at(queries, kb.mul(rowThread, geometry.queryPitch));
  return kb.loop(
      kb.i32(0), kb.i32(spec.headDim), kb.i32(unroll), zeros,
      [&](Value col, ValueRange sums) {
        SmallVector<Value> result(sums);
        Value keyRow = at(firstKey, kb.mul(col, geometry.keyPitch));
        Value queryCol = at(firstQuery, col);
        for (int64_t u = 0; u < unroll; ++u) {
          Value key =
              kb.loadPtr(type, kb.advance(keyRow, 4 * u * geometry.keyPitch),
                         std::min<int64_t>(4 * geometry.keysPerThread, 16));
          for (int64_t i = 0; i < geometry.rowsPerThread; ++i) {
            Value query = kb.loadPtr(
                kb.getF32Type(),
                kb.advance(
                    queryCol,
                    4 * (i * geometry.rowThreads * geometry.queryPitch + u)));
            result[i] =
                kb.fma(kb.splat(query, geometry.keysPerThread), key, result[i]);
          }
        }
        return result;
      });
}

void VectorAttention::mask(SmallVector<Value> &scores, Value keyTile) {
  Value needed = block.needsMask(keyTile);
  if (!needed)
    return;
  kb.at("mask");
  int64_t n = geometry.keysPerThread;
  auto masked = [&] {
    SmallVector<int32_t> count(n);
    std::iota(count.begin(), count.end(), 0);
    Value key = arith::ConstantOp::create(kb, kb.getI32VectorAttr(count));
    Value hidden = kb.fp(-kInfinity, scores.front().getType());
    SmallVector<Value> result = scores;
    for (auto [i, score] : llvm::enumerate(result)) {
      auto [low, high] = block.visible(keyTile, rowOf(i), kb.mul(colThread, n));
      if (high)
        score =
            kb.select(lessSigned(kb, kb.splat(high, n), key), hidden, score);
      if (low)
        score = kb.select(lessSigned(kb, kb.splat(low, n), key), score, hidden);
    }
    return result;
  };
  scores = kb.ifElse(needed, TypeRange(ValueRange(scores)), masked,
                     [&] { return scores; });
}

void VectorAttention::shareMaxima(ArrayRef<Value> scores) {
  kb.at("row maxima");
  for (auto [i, score] : llvm::enumerate(scores))
    kb.storePtr(reduce(vector::CombiningKind::MAXNUMF, score),
                at(partialMaxima, kb.add(kb.mul(rowOf(i), 8), colThread)));
}

void VectorAttention::softmax(ArrayRef<Value> scores,
                              MutableArrayRef<Row> rows) {
  kb.at("softmax");
  int64_t n = geometry.keysPerThread;
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value before = row.maximum;
    row.maximum =
        kb.maxNum(before, reduce(vector::CombiningKind::MAXNUMF, partials(i)));
    Value subtract = row.maximum;
    if (block.rowsMayStartEmpty())
      subtract = finiteMaximum(kb, subtract);
    Value rescale = emitExp2(kb, kb.sub(before, subtract));
    Value p = emitExp2(kb, kb.sub(scores[i], kb.splat(subtract, n)));
    row.sum = kb.fma(row.sum, rescale, reduce(vector::CombiningKind::ADD, p));
    for (Value &output : row.output)
      output = kb.mul(output, kb.splat(rescale, geometry.sliceWidth));
    Value index = kb.add(kb.mul(rowOf(i), geometry.probabilityPitch),
                         kb.mul(colThread, n));
    kb.storePtr(p, at(probabilities, index), std::min<int64_t>(4 * n, 16));
  }
}

void VectorAttention::accumulate(MutableArrayRef<Row> rows) {
  kb.at("output");
  constexpr int64_t unroll = 4;
  int64_t n = geometry.sliceWidth;
  Type type = kb.vec(n, kb.getF32Type());
  SmallVector<Value> outputs;
  for (Row &row : rows)
    outputs.append(row.output);
  Value firstValue = at(values, kb.mul(colThread, n));
  Value firstP =
      at(probabilities, kb.mul(rowThread, geometry.probabilityPitch));
  outputs = kb.loop(
      kb.i32(0), kb.i32(config.blockKV), kb.i32(unroll), outputs,
      [&](Value key, ValueRange sums) {
        SmallVector<Value> result(sums);
        Value valueRow = at(firstValue, kb.mul(key, geometry.paddedDim));
        Value column = at(firstP, key);
        for (int64_t u = 0; u < unroll; ++u) {
          SmallVector<Value> slices;
          for (int64_t s = 0; s < geometry.slices; ++s)
            slices.push_back(kb.loadPtr(
                type,
                kb.advance(valueRow, 4 * (u * geometry.paddedDim +
                                          s * VectorGeometry::colThreads * n)),
                16));
          for (int64_t i = 0; i < geometry.rowsPerThread; ++i) {
            Value p = kb.splat(
                kb.loadPtr(
                    kb.getF32Type(),
                    kb.advance(column, 4 * (i * geometry.rowThreads *
                                                geometry.probabilityPitch +
                                            u))),
                n);
            for (int64_t s = 0; s < geometry.slices; ++s) {
              Value &sum = result[i * geometry.slices + s];
              sum = kb.fma(p, slices[s], sum);
            }
          }
        }
        return result;
      });
  for (auto [i, row] : llvm::enumerate(rows))
    llvm::copy(ArrayRef(outputs).slice(i * geometry.slices, geometry.slices),
               row.output.begin());
}

SmallVector<Value> VectorAttention::iteration(Value keyTile,
                                              ValueRange carried) {
  SmallVector<Row> rows = unpack(carried);
  SmallVector<Value> tileScores = scores();
  mask(tileScores, keyTile);
  shareMaxima(tileScores);
  kb.barrier();
  softmax(tileScores, rows);
  storeValues(keyTile);
  Value next = kb.add(keyTile, 1);
  kb.ifThen(lessSigned(kb, next, block.lastTile), [&] { storeKeys(next); });
  kb.barrier();
  accumulate(rows);
  return pack(rows);
}

SmallVector<Value> VectorAttention::pack(ArrayRef<Row> rows) {
  SmallVector<Value> result;
  for (const Row &row : rows) {
    result.append(row.output);
    result.append({row.maximum, row.sum});
  }
  return result;
}

SmallVector<Row> VectorAttention::unpack(ValueRange values) {
  SmallVector<Row> rows(geometry.rowsPerThread);
  for (Row &row : rows) {
    row.output.assign(values.begin(), values.begin() + geometry.slices);
    row.maximum = values[geometry.slices];
    row.sum = values[geometry.slices + 1];
    values = values.drop_front(geometry.slices + 2);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void VectorAttention::storeOutput(ArrayRef<Row> rows) {
  kb.at("store");
  for (auto [i, row] : llvm::enumerate(rows))
    kb.storePtr(row.sum,
                at(partialMaxima, kb.add(kb.mul(rowOf(i), 8), colThread)));
  kb.barrier();
  int64_t n = geometry.sliceWidth;
  // Elements per store, such that none crosses the end of a row.
  int64_t perStore = std::min(width, n);
  Value valid = block.validQueries();
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value inverse =
        inverseSum(kb, reduce(vector::CombiningKind::ADD, partials(i)),
                   block.rowsMayStayEmpty());
    Value index = rowOf(i);
    Value start = kb.advance(block.out, kb.mul(index, block.queryStride));
    auto storeRow = [&, &row = row] {
      for (int64_t s = 0; s < geometry.slices; ++s) {
        Value slice = kb.mul(row.output[s], kb.splat(inverse, n));
        for (int64_t e = 0; e < n; e += perStore) {
          Value col = kb.add(kb.mul(colThread, n),
                             s * VectorGeometry::colThreads * n + e);
          Value part = slice;
          if (perStore < n)
            part = vector::ExtractStridedSliceOp::create(
                kb, slice, ArrayRef<int64_t>{e}, ArrayRef<int64_t>{perStore},
                ArrayRef<int64_t>{1});
          auto storePart = [&] {
            kb.storePtr(part, at(start, col), 4 * perStore);
          };
          if (geometry.paddedDim == spec.headDim)
            storePart();
          else
            kb.ifThen(lessSigned(kb, col, kb.i32(spec.headDim)), storePart);
        }
      }
    };
    if (valid)
      kb.ifThen(lessSigned(kb, index, valid), storeRow);
    else
      storeRow();
  }
}

void VectorAttention::build() {
  kb.at("queries");
  queries = kb.dynamicShared();
  keys = kb.advance(queries, geometry.keyOffset);
  values = kb.advance(queries, geometry.valueOffset);
  probabilities = kb.advance(queries, geometry.probabilityOffset);
  partialMaxima = kb.advance(queries, geometry.partialOffset);
  Value thread = kb.toI32(kb.thread());
  rowThread = kb.div(thread, VectorGeometry::colThreads);
  colThread = kb.rem(thread, VectorGeometry::colThreads);

  storeQueries();
  if (int64_t padding = geometry.paddedDim - spec.headDim)
    kb.loop(thread, kb.i32(config.blockKV * padding), kb.i32(kb.threads()),
            [&](Value index) {
              Value place =
                  kb.add(kb.mul(kb.div(index, padding), geometry.paddedDim),
                         kb.add(kb.rem(index, padding), spec.headDim));
              kb.storePtr(kb.f32(0.0), at(values, place));
            });
  kb.ifThen(lessSigned(kb, block.firstTile, block.lastTile),
            [&] { storeKeys(block.firstTile); });
  kb.barrier();

  Row start;
  start.output.assign(geometry.slices,
                      kb.fp(0.0, kb.vec(geometry.sliceWidth, kb.getF32Type())));
  start.maximum = kb.f32(-kInfinity);
  start.sum = kb.f32(0.0);
  SmallVector<Value> last =
      kb.loop(block.firstTile, block.lastTile, kb.i32(1),
              pack(SmallVector<Row>(geometry.rowsPerThread, start)),
              [&](Value keyTile, ValueRange carried) {
                return iteration(keyTile, carried);
              });
  storeOutput(unpack(last));
}

void tessera::kernels::buildVectorAttention(KernelBuilder &kb,
                                            const AttentionSpec &spec,
                                            const AttentionConfig &config) {
  VectorAttention(kb, spec, config).build();
}
