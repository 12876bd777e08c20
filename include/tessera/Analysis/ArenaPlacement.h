//===- ArenaPlacement.h - buffers of known lifetime in one arena ----------===//
//
// The storage allocation problem for straight-line code: every buffer has a
// size and an interval of steps during which it is alive; buffers alive at the
// same step must not overlap in memory; the arena shall be small.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_ARENAPLACEMENT_H
#define TESSERA_ANALYSIS_ARENAPLACEMENT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace tessera {

/// Every offset is a multiple of this: the alignment of cudaMalloc, enough for
/// any vector load and for NCCL.
inline constexpr int64_t kArenaAlignment = 256;

struct ArenaBuffer {
  int64_t bytes = 0;
  /// First and last step at which the buffer is alive, both inclusive.
  int64_t begin = 0, end = 0;
  /// Answer of `placeBuffers`.
  int64_t offset = 0;

  bool aliveWith(const ArenaBuffer &o) const {
    return begin <= o.end && o.begin <= end;
  }
};

/// Rounds up to `kArenaAlignment`.
inline int64_t alignToArena(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// Chooses the offsets and returns the arena's size.
int64_t placeBuffers(llvm::MutableArrayRef<ArenaBuffer> buffers);

/// The most bytes alive at one step: no placement needs less.
int64_t peakLiveBytes(llvm::ArrayRef<ArenaBuffer> buffers);

/// "" if the offsets are legal for an arena of `bytes`, else what is wrong.
std::string verifyPlacement(llvm::ArrayRef<ArenaBuffer> buffers, int64_t bytes);

} // namespace tessera

#endif // TESSERA_ANALYSIS_ARENAPLACEMENT_H
