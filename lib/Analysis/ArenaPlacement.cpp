//===- ArenaPlacement.cpp - greedy by size, best fit ----------------------===//
//
// Buffers are placed largest first, each into the smallest gap between those
// already placed that are alive with it. Source: Pisarchyk and Lee 2020,
// "Efficient Memory Management for Deep Neural Net Inference", arXiv
// 2001.03288, section 5.2 (greedy by size for offset calculation).
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/ArenaPlacement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace llvm;
using namespace tessera;

/// The best offset for `buffer` among `placed`, which is sorted by offset.
static int64_t bestFit(const ArenaBuffer &buffer,
                       ArrayRef<const ArenaBuffer *> placed) {
  int64_t size = alignToArena(buffer.bytes);
  int64_t best = -1, bestGap = std::numeric_limits<int64_t>::max();
  int64_t free = 0; // end of what lies below
  for (const ArenaBuffer *other : placed) {
    if (!buffer.aliveWith(*other))
      continue;
    int64_t gap = other->offset - free;
    if (gap >= size && gap < bestGap) {
      best = free;
      bestGap = gap;
    }
    free = std::max(free, other->offset + alignToArena(other->bytes));
  }
  return best >= 0 ? best : free;
}

int64_t tessera::placeBuffers(MutableArrayRef<ArenaBuffer> buffers) {
  SmallVector<ArenaBuffer *> order;
  for (ArenaBuffer &buffer : buffers)
    order.push_back(&buffer);
  // Those of one size in their order (std::stable_sort of libstdc++ 12 uses
  // what C++17 deprecates).
  llvm::sort(order, [](const ArenaBuffer *a, const ArenaBuffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  int64_t total = 0;
  SmallVector<const ArenaBuffer *> placed;
  for (ArenaBuffer *buffer : order) {
    buffer->offset = bestFit(*buffer, placed);
    total = std::max(total, buffer->offset + alignToArena(buffer->bytes));
    auto at = llvm::upper_bound(placed, buffer,
                                [](const ArenaBuffer *a, const ArenaBuffer *b) {
                                  return a->offset < b->offset;
                                });
    placed.insert(at, buffer);
  }
  return total;
}

int64_t tessera::peakLiveBytes(ArrayRef<ArenaBuffer> buffers) {
  int64_t peak = 0;
  for (const ArenaBuffer &at : buffers) {
    int64_t live = 0;
    for (const ArenaBuffer &buffer : buffers)
      if (buffer.begin <= at.begin && at.begin <= buffer.end)
        live += alignToArena(buffer.bytes);
    peak = std::max(peak, live);
  }
  return peak;
}

std::string tessera::verifyPlacement(ArrayRef<ArenaBuffer> buffers,
                                     int64_t bytes) {
  for (auto [i, a] : llvm::enumerate(buffers)) {
    if (a.offset < 0 || a.offset % kArenaAlignment ||
        a.offset + a.bytes > bytes)
      return formatv("buffer {0} at offset {1} with {2} bytes does not fit an "
                     "arena of {3} bytes, or is not aligned",
                     i, a.offset, a.bytes, bytes);
    for (auto [j, b] : llvm::enumerate(buffers.take_front(i)))
      if (a.aliveWith(b) && a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes)
        return formatv("buffers {0} and {1} overlap while both are alive", j,
                       i);
  }
  return "";
}
