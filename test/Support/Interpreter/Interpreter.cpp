//===- Interpreter.cpp - ranks, groups, parameters and calls --------------===//
#include "test/Support/Interpreter/Interpreter.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

//===----------------------------------------------------------------------===//
// HostTensor
//===----------------------------------------------------------------------===//

/// Elements before and after one dimension.
static std::pair<int64_t, int64_t> around(ArrayRef<int64_t> shape,
                                          int64_t dim) {
  return {llvm::product_of(shape.take_front(dim), int64_t(1)),
          llvm::product_of(shape.drop_front(dim + 1), int64_t(1))};
}

HostTensor HostTensor::part(int64_t dim, int64_t first, int64_t size) const {
  SmallVector<int64_t, 4> small(shape);
  small[dim] = size;
  HostTensor out(small);
  auto [outer, inner] = around(shape, dim);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < size * inner; ++i)
      if (first + i / inner < shape[dim])
        out.data[o * size * inner + i] =
            data[(o * shape[dim] + first) * inner + i];
  return out;
}

void HostTensor::place(const HostTensor &piece, int64_t dim, int64_t first) {
  auto [outer, inner] = around(shape, dim);
  int64_t size = piece.shape[dim];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < size * inner; ++i)
      if (first + i / inner < shape[dim])
        data[(o * shape[dim] + first) * inner + i] =
            piece.data[o * size * inner + i];
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(ModuleOp module, const rt::Checkpoint &checkpoint)
    : module(module), checkpoint(checkpoint) {
  if (auto attr = module->getAttrOfType<MeshAttr>(kMeshAttrName))
    mesh = attr.getMesh();
}

AxisList Interpreter::axesOf(ArrayAttr names) const {
  AxisList axes;
  for (auto name : names.getAsRange<StringAttr>())
    axes.push_back(*mesh.lookup(name.getValue()));
  return axes;
}

TensorSharding Interpreter::resolve(Attribute sharding, int64_t rank) const {
  if (auto attr = dyn_cast_or_null<ShardingAttr>(sharding))
    return llvm::cantFail(attr.resolve(mesh));
  return TensorSharding::replicated(rank);
}

int64_t Interpreter::indexAlong(int64_t rank, const AxisList &axes) const {
  int64_t index = 0;
  for (Axis axis : axes)
    index = index * mesh.axes[axis].size + mesh.coordinate(rank, axis);
  return index;
}

std::vector<int64_t> Interpreter::groupOf(int64_t rank, const AxisList &axes,
                                          int64_t &index) const {
  index = indexAlong(rank, axes);
  std::vector<int64_t> group(mesh.sizeOf(axes), -1);
  for (int64_t other = 0; other < numRanks(); ++other) {
    bool same = true;
    for (Axis axis = 0; axis < mesh.axes.size(); ++axis)
      same &= llvm::is_contained(axes, axis) ||
              mesh.coordinate(rank, axis) == mesh.coordinate(other, axis);
    if (same)
      group[indexAlong(other, axes)] = other;
  }
  return group;
}

Ranks Interpreter::split(const HostTensor &global,
                         const TensorSharding &sharding) const {
  Ranks parts;
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    HostTensor part = global;
    for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
      int64_t size = global.shape[dim] / mesh.sizeOf(axes);
      part = part.part(dim, indexAlong(rank, axes) * size, size);
    }
    parts.push_back(part);
  }
  return parts;
}

FailureOr<HostTensor> Interpreter::join(const Ranks &parts,
                                        ArrayRef<int64_t> shape,
                                        const TensorSharding &sharding,
                                        double tolerance) const {
  HostTensor whole(shape);
  std::vector<bool> written(whole.data.size());
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    // Which elements of the whole this rank holds, by splitting their numbers.
    HostTensor numbers(shape);
    for (size_t i = 0; i < numbers.data.size(); ++i)
      numbers.data[i] = double(i);
    HostTensor mine = split(numbers, sharding)[rank];
    for (size_t i = 0; i < mine.data.size(); ++i) {
      auto at = size_t(mine.data[i]);
      double value = parts[rank].data[i];
      if (written[at] && !(std::abs(whole.data[at] - value) <= tolerance))
        return failure();
      written[at] = true;
      whole.data[at] = value;
    }
  }
  if (!llvm::all_of(written, [](bool w) { return w; }))
    return failure();
  return whole;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

FailureOr<Ranks> Interpreter::readParameter(GetParameterOp op) {
  auto parameter = module.lookupSymbol<ParameterOp>(op.getParameter());
  CheckpointAttr where = parameter.getCheckpoint();
  std::string name = where.getName().str();
  if (size_t at = name.find("{layer}"); at != std::string::npos)
    name.replace(at, 7, std::to_string(layer));
  const rt::TensorInfo *tensor = checkpoint.find(name);
  if (!tensor)
    return op.emitError() << "the checkpoint has no tensor '" << name << "'";
  ArrayRef<int64_t> global =
      cast<RankedTensorType>(parameter.getType()).getShape();
  ArrayRef<int64_t> local = op.getResult().getType().getShape();
  TensorSharding sharding =
      local == global
          ? TensorSharding::replicated(global.size())
          : resolve(parameter.getSharding().value_or(nullptr), global.size());
  Ranks parts;
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    rt::SliceRequest request;
    request.globalShape = global.vec();
    request.size = local.vec();
    for (auto [dim, axes] : llvm::enumerate(sharding.dims))
      request.offset.push_back(indexAlong(rank, axes) * local[dim]);
    if (!where.getReshape().empty())
      request.view = rt::TensorView{where.getReshape().vec(), where.getDim(),
                                    where.getIndex()};
    HostTensor part(local);
    if (rt::Status status =
            rt::readSlice(*tensor, request, rt::DType::F64, part.data.data()))
      return op.emitError() << status.message();
    parts.push_back(std::move(part));
  }
  return parts;
}

FailureOr<Ranks> Interpreter::communicate(Operation *op, const Ranks &x) {
  Ranks results;
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    AxisList axes = axesOf(op->getAttrOfType<ArrayAttr>("axes"));
    int64_t index;
    std::vector<int64_t> group = groupOf(rank, axes, index);
    HostTensor out(
        cast<RankedTensorType>(op->getResult(0).getType()).getShape());
    auto reduced = [&](bool maximum) {
      HostTensor total = x[group[0]];
      for (int64_t other : ArrayRef(group).drop_front())
        for (size_t i = 0; i < total.data.size(); ++i)
          total.data[i] = maximum ? std::max(total.data[i], x[other].data[i])
                                  : total.data[i] + x[other].data[i];
      return total;
    };
    TypeSwitch<Operation *>(op)
        .Case([&](AllReduceOp op) { out = reduced(op.getMaximum()); })
        .Case([&](AllGatherOp op) {
          int64_t size = x[rank].shape[op.getDim()];
          for (auto [i, other] : llvm::enumerate(group))
            out.place(x[other], op.getDim(), int64_t(i) * size);
        })
        .Case([&](ReduceScatterOp op) {
          int64_t size = out.shape[op.getDim()];
          out = reduced(false).part(op.getDim(), index * size, size);
        })
        .Case([&](SliceOp op) {
          int64_t size = out.shape[op.getDim()];
          out = x[rank].part(op.getDim(), index * size, size);
        })
        .Case([&](AllToAllOp op) {
          int64_t keep = out.shape[op.getSplitDim()];
          int64_t size = x[rank].shape[op.getConcatDim()];
          for (auto [i, other] : llvm::enumerate(group))
            out.place(x[other].part(op.getSplitDim(), index * keep, keep),
                      op.getConcatDim(), int64_t(i) * size);
        });
    results.push_back(std::move(out));
  }
  return results;
}

LogicalResult Interpreter::step(Operation &op) {
  if (auto layers = dyn_cast<LayersOp>(op)) {
    auto block = module.lookupSymbol<func::FuncOp>(layers.getBlock());
    std::vector<Ranks> state;
    for (Value operand : layers.getOperands_())
      state.push_back(values[operand]);
    for (uint64_t i = 0; i < layers.getCount(); ++i) {
      layer = int64_t(layers.getFirst() + i);
      std::vector<Ranks> next;
      if (failed(run(block, state, next)))
        return failure();
      state = std::move(next);
    }
    for (auto [result, value] : llvm::zip_equal(layers.getResults(), state))
      values[result] = value;
    return success();
  }
  FailureOr<Ranks> result = failure();
  if (auto get = dyn_cast<GetParameterOp>(op)) {
    result = readParameter(get);
  } else if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, SliceOp,
                 AllToAllOp>(op)) {
    result = communicate(&op, values[op.getOperand(0)]);
  } else if (isa<AxisIndexOp, ShardOffsetOp>(op)) {
    AxisList axes = axesOf(op.getAttrOfType<ArrayAttr>("axes"));
    auto offset = dyn_cast<ShardOffsetOp>(op);
    Ranks indices(numRanks(), HostTensor(ArrayRef<int64_t>()));
    for (int64_t rank = 0; rank < numRanks(); ++rank)
      indices[rank].data[0] = double(indexAlong(rank, axes) *
                                     (offset ? int64_t(offset.getSize()) : 1));
    result = indices;
  } else {
    Ranks parts;
    for (int64_t rank = 0; rank < numRanks(); ++rank) {
      SmallVector<const HostTensor *> operands;
      for (Value operand : op.getOperands())
        operands.push_back(&values.find(operand)->second[rank]);
      FailureOr<HostTensor> part = interpretOp(&op, operands);
      if (failed(part))
        return failure();
      parts.push_back(std::move(*part));
    }
    result = parts;
  }
  if (failed(result))
    return failure();
  values[op.getResult(0)] = std::move(*result);
  return success();
}

LogicalResult Interpreter::run(func::FuncOp function, ArrayRef<Ranks> arguments,
                               std::vector<Ranks> &results) {
  for (auto [argument, value] :
       llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(step(op)))
      return failure();
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    results.push_back(values[value]);
  return success();
}
