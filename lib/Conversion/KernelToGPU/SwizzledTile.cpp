//===- SwizzledTile.cpp - 16-bit tiles in shared memory -------------------===//
#include "SwizzledTile.h"

#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace tessera::kernels;

SwizzledTile::SwizzledTile(KernelBuilder &kb, int64_t cols)
    : kb(kb), chunks(cols / 8), group(std::gcd<int64_t>(cols / 8, 8)) {
  assert(cols % 16 == 0 && "a row is a whole number of pairs of chunks");
}

/// (row / (8 / group)) mod group.
static Value swizzleOf(KernelBuilder &kb, Value row, int64_t group) {
  int64_t shift = llvm::countr_zero(static_cast<uint64_t>(8 / group));
  if (shift)
    row = kb.shrU(row, shift);
  return kb.bitAnd(row, kb.i32(group - 1));
}

Value SwizzledTile::offset(Value row, Value byte) {
  Value flip = kb.shl(swizzleOf(kb, row, group), 4);
  return kb.add(kb.mul(row, rowBytes()), kb.bitXor(byte, flip));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void SwizzledTile::copyChunkAt(Value to, const TileSource &source, Value row,
                               Value fromOffset) {
  Value valid;
  if (source.validRows) {
    // Where there is no row, nothing may be read; the address still has to be
    // a legal one, so it falls back to the tile's first row.
    valid = arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, row,
                                  source.validRows);
    fromOffset = kb.select(valid, fromOffset, kb.i32(0));
  }
  Value from = kb.advance(source.pointer, fromOffset);
  if (source.copyBytes >= 4) {
    Value readBytes;
    if (valid)
      readBytes = kb.select(valid, kb.i32(source.copyBytes), kb.i32(0));
    kb.cpAsync(to, from, source.copyBytes, readBytes);
    return;
  }
  Type type = kb.getIntegerType(8 * source.copyBytes);
  Value value = kb.loadPtr(type, from);
  if (valid)
    value = kb.select(valid, value, kb.zero(type));
  kb.storePtr(value, to);
}

void SwizzledTile::copyChunk(Value tile, const TileSource &source, Value row,
                             Value byte) {
  Value fromOffset = kb.add(kb.mul(row, source.rowStride), byte);
  copyChunkAt(kb.advance(tile, offset(row, byte)), source, row, fromOffset);
}

void SwizzledTile::copyIn(Value tile, int64_t rows, const TileSource &source) {
  int64_t perRow = source.usedBytes / source.copyBytes;
  int64_t total = rows * perRow, threads = kb.threads();
  Value thread = kb.toI32(kb.thread());
  auto place = [&](Value index) -> std::pair<Value, Value> {
    return {kb.div(index, perRow),
            kb.mul(kb.rem(index, perRow), source.copyBytes)};
  };
  // A thread's chunks lie a multiple of eight rows apart, so that one swizzle
  // serves them all: everything but the first address is an immediate.
  constexpr int64_t maxUnrolled = 16;
  if (threads % perRow == 0 && (threads / perRow) % 8 == 0 &&
      total % threads == 0 && total / threads <= maxUnrolled) {
    auto [row, byte] = place(thread);
    Value to = kb.advance(tile, offset(row, byte));
    Value from = kb.add(kb.mul(row, source.rowStride), byte);
    int64_t step = threads / perRow;
    for (int64_t first = 0; first < rows; first += step)
      copyChunkAt(kb.advance(to, first * rowBytes()), source,
                  kb.add(row, first), kb.add(from, first * source.rowStride));
    return;
  }
  kb.loop(thread, kb.i32(total), kb.i32(threads), [&](Value index) {
    auto [row, byte] = place(index);
    copyChunk(tile, source, row, byte);
  });
}

void SwizzledTile::clearPadding(Value tile, int64_t rows, int64_t usedBytes,
                                int64_t width) {
  int64_t perRow = (rowBytes() - usedBytes) / width;
  if (perRow == 0)
    return;
  int64_t words = width / 4;
  Type type = width < 4    ? Type(kb.getIntegerType(8 * width))
              : words == 1 ? Type(kb.getI32Type())
                           : Type(kb.vec(words, kb.getI32Type()));
  kb.loop(kb.toI32(kb.thread()), kb.i32(rows * perRow), kb.i32(kb.threads()),
          [&](Value index) {
            Value row = kb.div(index, perRow);
            Value byte =
                kb.add(kb.mul(kb.rem(index, perRow), width), usedBytes);
            kb.storePtr(kb.zero(type), kb.advance(tile, offset(row, byte)));
          });
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Offsets for chunk pairs 0 .. group / 2 - 1; later pairs are whole groups
/// further on.
SwizzledTile::Fragments SwizzledTile::fragments(Value row, Value chunk) {
  Value flipped = kb.bitXor(chunk, swizzleOf(kb, row, group));
  Value start = kb.mul(row, rowBytes());
  Fragments result;
  for (int64_t pair = 0; pair < group / 2; ++pair) {
    Value place = kb.bitXor(flipped, kb.i32(2 * pair));
    result.offsets.push_back(kb.add(start, kb.shl(place, 4)));
  }
  return result;
}

SwizzledTile::Fragments SwizzledTile::rowsThenChunks() {
  Value lane = kb.toI32(kb.lane());
  return fragments(kb.bitAnd(lane, kb.i32(15)), kb.shrU(lane, 4));
}

SwizzledTile::Fragments SwizzledTile::chunksThenRows() {
  Value lane = kb.toI32(kb.lane());
  Value row = kb.bitOr(kb.bitAnd(lane, kb.i32(7)), kb.shl(kb.shrU(lane, 4), 3));
  return fragments(row, kb.bitAnd(kb.shrU(lane, 3), kb.i32(1)));
}

SmallVector<Value> SwizzledTile::load(const Fragments &lanes, Value tile,
                                      int64_t row, int64_t pair,
                                      bool transpose) {
  int64_t perGroup = group / 2;
  Value start = kb.advance(tile, lanes.offsets[pair % perGroup]);
  int64_t immediate = row * rowBytes() + pair / perGroup * group * 16;
  return kb.ldmatrix(kb.advance(start, immediate), 4, transpose);
}
