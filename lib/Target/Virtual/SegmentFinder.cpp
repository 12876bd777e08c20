//===- SegmentFinder.cpp - What goes into a segment -----------------------===//
//
// One forward scan from the first collective. Each op is
//   - part of the segment (a collective, or arithmetic that one needs),
//   - pending: arithmetic on the segment's results that a later collective may
//     need (then it joins) or not (then it runs after the segment),
//   - later: has to run after the segment, because it depends on it and cannot
//     be done for a whole warp at once, or because it touches memory,
//   - independent: stays where it is, before the segment.
// The scan ends at the first op that can go neither way.
//
// Memory: shuffles and mma do not touch it. ldmatrix reads shared memory, so it
// must not move over a store. Asynchronous copies write only at their wait,
// which ends the segment. bar.warp.sync orders memory, so no access moves over
// it.
//
//===----------------------------------------------------------------------===//

#include "Segments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tessera::vgpu;

bool tessera::vgpu::isCollective(Operation *op) {
  return isa<NVVM::MmaOp, NVVM::LdMatrixOp, NVVM::ShflOp, NVVM::VoteSyncOp,
             NVVM::SyncWarpOp>(op);
}

bool tessera::vgpu::isPackedCast(Operation *op) {
  auto cast = dyn_cast<LLVM::BitcastOp>(op);
  if (!cast)
    return false;
  auto packed = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getNumElements() == 2 &&
           vector.getElementTypeBitWidth() == 16;
  };
  Type from = cast.getArg().getType(), to = cast.getType();
  return (packed(from) || packed(to)) && (packed(from) || from.isInteger(32)) &&
         (packed(to) || to.isInteger(32));
}

bool tessera::vgpu::isVectorizable(Operation *op) {
  if (isPackedCast(op))
    return true;
  // A result of a collective that comes as a struct: only a name for a slot.
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
    return extract.getPosition().size() == 1 &&
           extract.getContainer().getDefiningOp() &&
           isCollective(extract.getContainer().getDefiningOp());
  if (!isa<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FDivOp, LLVM::FNegOp,
           LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::AndOp, LLVM::OrOp,
           LLVM::XOrOp, LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp, LLVM::ICmpOp,
           LLVM::FCmpOp, LLVM::SelectOp, LLVM::BitcastOp, LLVM::TruncOp,
           LLVM::ZExtOp, LLVM::SExtOp, LLVM::SIToFPOp, LLVM::UIToFPOp,
           LLVM::MaxNumOp, LLVM::MinNumOp, LLVM::MaximumOp, LLVM::MinimumOp,
           LLVM::FMAOp, LLVM::FMulAddOp, LLVM::FAbsOp, LLVM::SMaxOp,
           LLVM::SMinOp, LLVM::UMaxOp, LLVM::UMinOp>(op))
    return false;
  auto scalar = [](Type type) {
    return type.isF32() || type.isInteger(1) || type.isInteger(32) ||
           type.isInteger(64);
  };
  return llvm::all_of(op->getOperandTypes(), scalar) &&
         llvm::all_of(op->getResultTypes(), scalar);
}

namespace {

enum class Place { Segment, Pending, Later };

class Finder {
public:
  Segment run(Operation *first) {
    Operation *op = first;
    for (; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
      if (!take(op))
        break;
    Segment segment;
    segment.end = op;
    for (Operation *seen : order) {
      auto it = places.find(seen);
      if (it == places.end())
        continue;
      (it->second == Place::Segment ? segment.ops : segment.later)
          .push_back(seen);
    }
    return segment;
  }

private:
  void put(Operation *op, Place place) { places[op] = place; }

  /// Whether any operand has the given place.
  bool uses(Operation *op, Place place) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      auto it = places.find(operand.getDefiningOp());
      return it != places.end() && it->second == place;
    });
  }

  /// Moves pending arithmetic that `op` needs into the segment. It depends on
  /// segment, pending and independent ops only.
  void promote(Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      auto it = places.find(def);
      if (it == places.end() || it->second != Place::Pending)
        continue;
      it->second = Place::Segment;
      promote(def);
    }
  }

  /// Places `op`; false if the segment has to end before it.
  bool take(Operation *op) {
    if (op->getNumRegions())
      return false;
    order.push_back(op);
    if (isCollective(op))
      return takeCollective(op);
    bool later = uses(op, Place::Later);
    bool inside = uses(op, Place::Segment) || uses(op, Place::Pending);
    if (isMemoryEffectFree(op)) {
      if (later)
        put(op, Place::Later);
      else if (inside && isa<LLVM::ExtractValueOp>(op) && isVectorizable(op))
        put(op, Place::Segment);
      else if (inside)
        put(op, isVectorizable(op) ? Place::Pending : Place::Later);
      return true;
    }
    if (auto load = dyn_cast<LLVM::LoadOp>(op);
        load && !load.getVolatile_() &&
        load.getOrdering() == LLVM::AtomicOrdering::not_atomic) {
      if (later || inside || laterStore || hasSync) {
        put(op, Place::Later);
        laterLoad = true;
      }
      return true;
    }
    if (auto store = dyn_cast<LLVM::StoreOp>(op);
        store && !store.getVolatile_() &&
        store.getOrdering() == LLVM::AtomicOrdering::not_atomic) {
      put(op, Place::Later);
      laterStore = true;
      return true;
    }
    if (isa<NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp>(op)) {
      put(op, Place::Later);
      return true;
    }
    return false;
  }

  bool takeCollective(Operation *op) {
    if (uses(op, Place::Later))
      return false;
    if (isa<NVVM::LdMatrixOp>(op) && laterStore)
      return false;
    if (isa<NVVM::SyncWarpOp>(op)) {
      if (laterStore || laterLoad)
        return false;
      hasSync = true;
    }
    promote(op);
    put(op, Place::Segment);
    return true;
  }

  SmallVector<Operation *> order;
  DenseMap<Operation *, Place> places;
  bool laterStore = false, laterLoad = false, hasSync = false;
};

} // namespace

Segment tessera::vgpu::findSegment(Operation *first) {
  return Finder().run(first);
}

LogicalResult tessera::vgpu::formSegments(LoweringState &state) {
  SmallVector<Block *> blocks;
  state.module.walk([&](LLVM::LLVMFuncOp func) {
    for (Block &block : func.getBody())
      blocks.push_back(&block);
  });
  for (Block *block : blocks) {
    for (Operation *op = &block->front(); op;) {
      if (!isCollective(op)) {
        op = op->getNextNode();
        continue;
      }
      Segment segment = findSegment(op);
      emitSegment(state, segment);
      op = segment.end;
    }
  }
  return success();
}
