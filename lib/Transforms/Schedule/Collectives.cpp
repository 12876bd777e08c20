//===- Collectives.cpp - collectives on tensors as NCCL calls -------------===//
#include "lib/Transforms/Schedule/HostProgram.h"

using namespace mlir;
using namespace tessera;

Value FunctionScheduler::communicator(ArrayAttr axes) {
  Value &comm = comms[axes];
  if (!comm) {
    auto at = llvm::find(program.communicators, axes);
    int64_t number = std::distance(program.communicators.begin(), at);
    Value position = index(number);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(position);
    comm = memref::LoadOp::create(builder, source.getLoc(), common(kComms),
                                  ValueRange{position});
  }
  return comm;
}

/// The manifest's name of an element type.
static std::string dtypeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

void FunctionScheduler::count(StringRef op, ArrayAttr axes, Value tensor,
                              int64_t elements) {
  auto at = llvm::find(program.communicators, axes);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  calls[{op.str(), std::distance(program.communicators.begin(), at),
         dtypeName(element), elements}] += 1;
}

/// Whether all dimensions before `dim` have size 1, so that the parts along
/// `dim` are contiguous.
static bool isLeading(Value tensor, int64_t dim) {
  return llvm::all_of(
      cast<RankedTensorType>(tensor.getType()).getShape().take_front(dim),
      [](int64_t n) { return n == 1; });
}

static int64_t numElements(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

void FunctionScheduler::scheduleAllToAll(AllToAllOp op) {
  Value comm = communicator(op.getAxes());
  auto type = cast<RankedTensorType>(op.getX().getType());
  int64_t ranks = op.getGroupSize();
  int64_t part = type.getNumElements() / ranks;
  int64_t partBytes = tensorBytes(type) / ranks;
  MemRefType partType = program.deviceMemRef({part}, type.getElementType());
  SmallVector<Value> sent, received, peers;
  for (int64_t peer = 0; peer < ranks; ++peer) {
    sent.push_back(view(op.getX(), partType, peer * partBytes));
    received.push_back(view(op.getResult(), partType, peer * partBytes));
    peers.push_back(arith::ConstantIntOp::create(builder, loc, peer, 32));
  }
  nccl::GroupStartOp::create(builder, loc);
  for (auto [from, to, peer] : llvm::zip_equal(sent, received, peers)) {
    nccl::SendOp::create(builder, loc, from, peer, comm, common(kStream));
    nccl::RecvOp::create(builder, loc, to, peer, comm, common(kStream));
    count("send", op.getAxes(), op.getX(), part);
    count("recv", op.getAxes(), op.getX(), part);
  }
  nccl::GroupEndOp::create(builder, loc);
}

LogicalResult FunctionScheduler::scheduleCollective(Operation *op) {
  auto notLeading = [&](int64_t dim) {
    return op->emitOpError() << "moves parts of dimension " << dim
                             << ", which are not contiguous; run "
                                "tessera-expand-copies first";
  };
  Value from = op->getOperand(0), to = op->getResult(0);
  if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    nccl::AllReduceOp::create(
        builder, loc, reduce.getMaximum() ? nccl::RedOp::Max : nccl::RedOp::Sum,
        flatView(from), flatView(to), communicator(reduce.getAxes()),
        common(kStream));
    count("all_reduce", reduce.getAxes(), from, numElements(from));
    return success();
  }
  if (auto gather = dyn_cast<AllGatherOp>(op)) {
    if (!isLeading(from, gather.getDim()))
      return notLeading(gather.getDim());
    nccl::AllGatherOp::create(builder, loc, gather.getGroupSize(),
                              flatView(from), flatView(to),
                              communicator(gather.getAxes()), common(kStream));
    count("all_gather", gather.getAxes(), from, numElements(from));
    return success();
  }
  if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
    if (!isLeading(from, scatter.getDim()))
      return notLeading(scatter.getDim());
    nccl::ReduceScatterOp::create(
        builder, loc, nccl::RedOp::Sum, scatter.getGroupSize(), flatView(from),
        flatView(to), communicator(scatter.getAxes()), common(kStream));
    count("reduce_scatter", scatter.getAxes(), from, numElements(to));
    return success();
  }
  auto exchange = cast<AllToAllOp>(op);
  if (!isLeading(from, exchange.getSplitDim()))
    return notLeading(exchange.getSplitDim());
  // The parts that arrive are those of the operand, the split dimension being
  // one part wide.
  SmallVector<int64_t> part(cast<RankedTensorType>(from.getType()).getShape());
  part[exchange.getSplitDim()] /= exchange.getGroupSize();
  for (int64_t n : ArrayRef(part).take_front(exchange.getConcatDim()))
    if (n != 1)
      return notLeading(exchange.getConcatDim());
  scheduleAllToAll(exchange);
  return success();
}
