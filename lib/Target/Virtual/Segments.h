//===- Segments.h - Runs of warp collectives --------------------*- C++ -*-===//
//
// A segment is a run of collectives in one basic block, with the arithmetic
// between them, that the virtual GPU executes in one rendezvous of the warp.
// SegmentFinder decides what goes into one; SegmentEmitter writes it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_VIRTUAL_SEGMENTS_H
#define TESSERA_LIB_TARGET_VIRTUAL_SEGMENTS_H

#include "Lowering.h"

namespace tessera {
namespace vgpu {

struct Segment {
  /// Collectives and arithmetic of all lanes, in order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Ops between them that have to run after the segment, in order.
  llvm::SmallVector<mlir::Operation *> later;
  /// The first op that was not looked at; the segment is called before it.
  mlir::Operation *end = nullptr;
};

/// True for mma.sync, ldmatrix, shfl.sync, vote.sync and bar.warp.sync.
bool isCollective(mlir::Operation *op);

/// True if the warp-wide form of the op is the same op on vectors of 32.
bool isVectorizable(mlir::Operation *op);

/// A cast between 32-bit words and packed pairs (vector<2xf16>), which changes
/// no bit and so costs nothing in a segment.
bool isPackedCast(mlir::Operation *op);

/// The segment that starts at the collective `first`.
Segment findSegment(mlir::Operation *first);

/// Writes the segment's function and replaces the ops by a call of it.
void emitSegment(LoweringState &state, const Segment &segment);

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_TARGET_VIRTUAL_SEGMENTS_H
