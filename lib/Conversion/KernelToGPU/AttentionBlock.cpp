//===- AttentionBlock.cpp - where a block of an attention kernel stands ---===//
#include "AttentionBlock.h"
#include "AttentionGeometry.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tessera::kernels;

Value tessera::kernels::minSigned(KernelBuilder &kb, Value a, Value b) {
  return kb.createOrFold<arith::MinSIOp>(a, b);
}
Value tessera::kernels::maxSigned(KernelBuilder &kb, Value a, Value b) {
  return kb.createOrFold<arith::MaxSIOp>(a, b);
}
Value tessera::kernels::lessSigned(KernelBuilder &kb, Value a, Value b) {
  return kb.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b);
}

AttentionBlock::AttentionBlock(KernelBuilder &kb, const AttentionSpec &spec,
                               int64_t blockQ, int64_t blockKV)
    : kb(kb), spec(spec), blockQ(blockQ), blockKV(blockKV),
      window(effectiveWindow(spec)),
      queryStride(spec.heads * spec.headDim * sizeOf(spec.type)),
      keyStride(spec.kvHeads * spec.headDim * sizeOf(spec.type)) {
  Value tile = kb.block(gpu::Dimension::x);
  // Under a causal mask later queries see more keys: start the long blocks
  // first, so that short ones fill the last wave.
  if (spec.causal)
    tile = kb.sub(kb.idx(ceilDiv(spec.seqQ, blockQ) - 1), tile);
  Value head = kb.block(gpu::Dimension::y);
  Value batch = kb.block(gpu::Dimension::z);
  Value kvHead = kb.div(head, spec.heads / spec.kvHeads);
  Value firstRow = kb.mul(tile, blockQ);
  firstQuery = kb.toI32(firstRow);

  int64_t headBytes = spec.headDim * sizeOf(spec.type);
  Value queryRow = kb.add(kb.mul(batch, spec.seqQ), firstRow);
  Value queryOffset =
      kb.add(kb.mul(queryRow, queryStride), kb.mul(head, headBytes));
  Value keyOffset = kb.add(kb.mul(kb.mul(batch, spec.seqKV), keyStride),
                           kb.mul(kvHead, headBytes));
  q = kb.advance(kb.pointer(kb.arg(0)), queryOffset);
  k = kb.advance(kb.pointer(kb.arg(1)), keyOffset);
  v = kb.advance(kb.pointer(kb.arg(2)), keyOffset);
  out = kb.advance(kb.pointer(kb.arg(3)), queryOffset);

  firstTile = kb.i32(0);
  if (window > 0) {
    Value firstKey =
        maxSigned(kb, kb.sub(firstQuery, kb.i32(window - 1)), kb.i32(0));
    firstTile = kb.div(firstKey, blockKV);
  }
  lastTile = kb.i32(ceilDiv(spec.seqKV, blockKV));
  if (spec.causal) {
    Value lastKey = minSigned(kb, kb.add(firstQuery, blockQ),
                              kb.i32(std::min(spec.seqQ, spec.seqKV)));
    lastTile = kb.div(kb.add(lastKey, blockKV - 1), blockKV);
  }
}

Value AttentionBlock::validQueries() {
  if (spec.seqQ % blockQ == 0)
    return {};
  return kb.sub(kb.i32(spec.seqQ), firstQuery);
}

Value AttentionBlock::validKeys(Value tile) {
  if (spec.seqKV % blockKV == 0)
    return {};
  return kb.sub(kb.i32(spec.seqKV), kb.mul(tile, blockKV));
}

Value AttentionBlock::tileStart(Value base, Value tile) {
  Value wide = kb.createOrFold<arith::ExtUIOp>(kb.getI64Type(), tile);
  return kb.advance(base, kb.mul(wide, blockKV * keyStride));
}

Value AttentionBlock::needsMask(Value tile) {
  Value firstKey = kb.mul(tile, blockKV);
  Value lastKey = kb.add(firstKey, blockKV - 1);
  Value result;
  auto orIf = [&](Value condition) {
    result = result ? kb.bitOr(result, condition) : condition;
  };
  if (spec.causal)
    orIf(lessSigned(kb, firstQuery, lastKey));
  if (window > 0) // the last row's window starts after the first key
    orIf(lessSigned(kb, firstKey, kb.add(firstQuery, blockQ - window)));
  if (spec.seqKV % blockKV != 0)
    orIf(lessSigned(kb, kb.i32(spec.seqKV - 1), lastKey));
  return result;
}

AttentionBlock::Visible AttentionBlock::visible(Value tile, Value row,
                                                Value firstKey) {
  // Query index, and key limits, relative to `firstKey` of the tile.
  Value origin = kb.add(kb.mul(tile, blockKV), firstKey);
  Value query = kb.sub(kb.add(firstQuery, row), origin);
  Visible result;
  if (spec.causal)
    result.high = query;
  if (spec.seqKV % blockKV != 0) {
    Value last = kb.sub(kb.i32(spec.seqKV - 1), origin);
    result.high = result.high ? minSigned(kb, result.high, last) : last;
  }
  if (window > 0)
    result.low = kb.sub(query, kb.i32(window));
  return result;
}

Value tessera::kernels::finiteMaximum(KernelBuilder &kb, Value maximum) {
  Type type = maximum.getType();
  Value none = kb.fp(-std::numeric_limits<double>::infinity(), type);
  return kb.select(kb.cmpF(arith::CmpFPredicate::OEQ, maximum, none),
                   kb.fp(0.0, type), maximum);
}

Value tessera::kernels::inverseSum(KernelBuilder &kb, Value sum,
                                   bool mayBeZero) {
  Type type = sum.getType();
  Value inverse = kb.div(kb.fp(1.0, type), sum);
  if (!mayBeZero)
    return inverse;
  Value zero = kb.fp(0.0, type);
  return kb.select(kb.cmpF(arith::CmpFPredicate::OEQ, sum, zero), zero,
                   inverse);
}
