//===- NCCLOps.cpp - checks of buffers, counts and groups -----------------===//
#include "dialects/NCCL/NCCLDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera::nccl;

#define GET_OP_CLASSES
#include "dialects/NCCL/NCCLOps.cpp.inc"

/// A buffer must be memory that a pointer and a count describe.
static LogicalResult checkBuffer(Operation *op, StringRef name, Value value) {
  auto type = cast<MemRefType>(value.getType());
  if (!type.hasStaticShape())
    return op->emitOpError()
           << name << " must have a static shape, got " << type;
  if (!type.getLayout().isIdentity())
    return op->emitOpError() << name << " must be contiguous, got " << type;
  if (!getDataType(type.getElementType()))
    return op->emitOpError()
           << name << " has element type " << type.getElementType()
           << ", which NCCL cannot move; expected f16, bf16, f32, f64 or an "
              "integer of 8, 32 or 64 bits";
  return success();
}

/// `large` must hold `ranks` times the elements of `small`.
static LogicalResult checkCounts(Operation *op, StringRef largeName,
                                 Value large, StringRef smallName, Value small,
                                 int64_t ranks) {
  auto largeType = cast<MemRefType>(large.getType());
  auto smallType = cast<MemRefType>(small.getType());
  if (largeType.getElementType() != smallType.getElementType())
    return op->emitOpError()
           << "send and recv must have the same element type, got "
           << op->getOperand(0).getType() << " and "
           << op->getOperand(1).getType();
  int64_t expected = smallType.getNumElements() * ranks;
  if (largeType.getNumElements() != expected)
    return op->emitOpError()
           << largeName << " must have " << expected << " elements (" << ranks
           << " times those of " << smallName << "), got "
           << largeType.getNumElements();
  return success();
}

template <typename OpT>
static LogicalResult checkBuffers(OpT op) {
  return success(succeeded(checkBuffer(op, "send", op.getSend())) &&
                 succeeded(checkBuffer(op, "recv", op.getRecv())));
}

static LogicalResult checkRanks(Operation *op, int64_t ranks) {
  if (ranks < 1)
    return op->emitOpError() << "needs at least 1 rank, got " << ranks;
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(checkBuffers(*this)))
    return failure();
  return checkCounts(*this, "recv", getRecv(), "send", getSend(), 1);
}

LogicalResult AllGatherOp::verify() {
  if (failed(checkBuffers(*this)) || failed(checkRanks(*this, getRanks())))
    return failure();
  return checkCounts(*this, "recv", getRecv(), "send", getSend(), getRanks());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(checkBuffers(*this)) || failed(checkRanks(*this, getRanks())))
    return failure();
  return checkCounts(*this, "send", getSend(), "recv", getRecv(), getRanks());
}

LogicalResult BroadcastOp::verify() {
  if (failed(checkBuffers(*this)))
    return failure();
  if (static_cast<int32_t>(getRoot()) < 0)
    return emitOpError() << "root must be a rank, got "
                         << static_cast<int32_t>(getRoot());
  return checkCounts(*this, "recv", getRecv(), "send", getSend(), 1);
}

LogicalResult SendOp::verify() {
  return checkBuffer(*this, "buffer", getBuffer());
}
LogicalResult RecvOp::verify() {
  return checkBuffer(*this, "buffer", getBuffer());
}

LogicalResult GroupStartOp::verify() {
  for (Operation *next = (*this)->getNextNode(); next;
       next = next->getNextNode()) {
    if (isa<GroupEndOp>(next))
      return success();
    if (isa<GroupStartOp>(next))
      return emitOpError("groups do not nest, close this one first");
  }
  return emitOpError("has no nccl.group_end in its block");
}

LogicalResult GroupEndOp::verify() {
  for (Operation *prev = (*this)->getPrevNode(); prev;
       prev = prev->getPrevNode()) {
    if (isa<GroupStartOp>(prev))
      return success();
    if (isa<GroupEndOp>(prev))
      break;
  }
  return emitOpError("closes no nccl.group_start");
}
