//===- HostFunction.cpp - one tensor function as host code ----------------===//
//
// Tensors become views of byte arenas at the offsets of the ArenaPlan. A block
// function gets the layer's number and the memory of its arguments and results;
// its caller loops over the layers.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Schedule/HostProgram.h"
#include "tessera/Transforms/Schedule/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

MemRefType HostProgram::deviceMemRef(ArrayRef<int64_t> shape, Type element) {
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface{},
                         gpu::AddressSpaceAttr::get(module.getContext(),
                                                    gpu::AddressSpace::Global));
}

MemRefType HostProgram::byteMemRef(int64_t bytes) {
  return deviceMemRef({bytes}, IntegerType::get(module.getContext(), 8));
}

SmallVector<Type> HostProgram::commonArguments(int64_t scratchBytes) {
  MLIRContext *context = module.getContext();
  return {LLVM::LLVMPointerType::get(context), byteMemRef(parameters.bytes),
          byteMemRef(scratchBytes),
          MemRefType::get({int64_t(communicators.size())},
                          nccl::CommType::get(context)),
          MemRefType::get({int64_t(mesh.axes.size())},
                          IntegerType::get(context, 64))};
}

FunctionScheduler::FunctionScheduler(HostProgram &program, func::FuncOp source)
    : program(program), source(source), arena(program.plan.get(source)),
      isEntry(source == program.plan.getEntry()), builder(source.getContext()),
      loc(source.getLoc()) {}

FailureOr<func::FuncOp> FunctionScheduler::run() {
  SmallVector<Type> types = program.commonArguments(arena.bytes);
  if (!isEntry) {
    types.push_back(builder.getIndexType());
    for (Type type : source.getArgumentTypes())
      types.push_back(program.byteMemRef(tensorBytes(type)));
    for (auto [i, type] : llvm::enumerate(source.getResultTypes()))
      if (!arena.inPlace[i])
        types.push_back(program.byteMemRef(tensorBytes(type)));
  }
  function = func::FuncOp::create(
      loc, isEntry ? StringRef(kForwardName) : source.getName(),
      FunctionType::get(source.getContext(), types, {}));
  if (!isEntry)
    function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  if (!isEntry) {
    unsigned next = kLayer + 1;
    for (unsigned i = 0; i < source.getNumArguments(); ++i)
      argumentMemory.push_back(function.getArgument(next++));
    for (bool inPlace : arena.inPlace)
      resultMemory.push_back(inPlace ? Value() : function.getArgument(next++));
  }
  for (Operation &op : source.getBody().front()) {
    loc = op.getLoc();
    if (failed(schedule(&op))) {
      function.erase();
      return failure();
    }
  }
  program.calls[source] = std::move(calls);
  return function;
}

LogicalResult FunctionScheduler::schedule(Operation *op) {
  if (isa<GetParameterOp, RotaryTableOp>(op))
    return success();
  if (isa<func::ReturnOp>(op)) {
    func::ReturnOp::create(builder, loc);
    return success();
  }
  if (auto axis = dyn_cast<AxisIndexOp>(op)) {
    scalars[axis.getResult()] = axisIndex(axis.getAxes());
    return success();
  }
  if (auto offset = dyn_cast<ShardOffsetOp>(op)) {
    scalars[offset.getResult()] = arith::MulIOp::create(
        builder, loc, axisIndex(offset.getAxes()), index(offset.getSize()));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    scalars[constant.getResult()] = index(constant.value());
    return success();
  }
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    return scheduleLaunch(launch);
  if (auto layers = dyn_cast<LayersOp>(op))
    return scheduleLayers(layers);
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
    return scheduleCollective(op);
  return op->emitOpError("has no kernel; the host program holds launches, "
                         "collectives and block calls only");
}

Value FunctionScheduler::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    constant = arith::ConstantIndexOp::create(builder, source.getLoc(), value);
  }
  return constant;
}

Value FunctionScheduler::axisIndex(ArrayAttr axes) {
  Value result;
  for (auto name : axes.getAsValueRange<StringAttr>()) {
    Axis axis = *program.mesh.lookup(name);
    Value coordinate = memref::LoadOp::create(builder, loc, common(kCoords),
                                              ValueRange{index(axis)});
    coordinate = arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), coordinate);
    if (result) {
      result = arith::MulIOp::create(builder, loc, result,
                                     index(program.mesh.axes[axis].size));
      result = arith::AddIOp::create(builder, loc, result, coordinate);
    } else {
      result = coordinate;
    }
  }
  return result;
}

Value FunctionScheduler::bytesAt(const Storage &storage) {
  if (storage.base == Storage::Base::Argument)
    return argumentMemory[storage.index];
  if (storage.base == Storage::Base::Result)
    return resultMemory[storage.index];
  return memref::ViewOp::create(builder, loc, program.byteMemRef(storage.bytes),
                                common(kScratch), index(storage.offset),
                                ValueRange{});
}

Value FunctionScheduler::view(Value tensor, MemRefType type, int64_t skip) {
  Value &cached = views[{tensor, type, skip}];
  if (cached)
    return cached;
  Value base, offset;
  if (auto read = tensor.getDefiningOp<GetParameterOp>()) {
    const ParameterPlace &place =
        program.parameters.parameters.find(read.getParameterAttr().getAttr())
            ->second;
    base = common(kParameters);
    int64_t first = place.offset - place.firstLayer * place.layerStride;
    if (place.layerStride) {
      offset = arith::MulIOp::create(builder, loc, common(kLayer),
                                     index(place.layerStride));
      offset = arith::AddIOp::create(builder, loc, offset, index(first + skip));
    } else {
      offset = index(place.offset + skip);
    }
  } else if (auto table = tensor.getDefiningOp<RotaryTableOp>()) {
    base = common(kParameters);
    offset = index(program.parameters.find(table)->offset + skip);
  } else {
    const Storage &storage = arena.values.find(tensor)->second;
    switch (storage.base) {
    case Storage::Base::Scratch:
      base = common(kScratch);
      break;
    case Storage::Base::Argument:
      base = argumentMemory[storage.index];
      break;
    case Storage::Base::Result:
      base = resultMemory[storage.index];
      break;
    }
    offset = index(storage.offset + skip);
  }
  cached =
      memref::ViewOp::create(builder, loc, type, base, offset, ValueRange{});
  return cached;
}

Value FunctionScheduler::flatView(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return view(tensor, program.deviceMemRef({type.getNumElements()},
                                           type.getElementType()));
}

LogicalResult FunctionScheduler::scheduleLaunch(kernel::LaunchOp op) {
  auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(
      SymbolTable::lookupNearestSymbolFrom(op, op.getKernel()));
  if (!kernel)
    return op.emitOpError()
           << "launches " << op.getKernel() << ", which is no gpu.func";
  SmallVector<Value> tensors, operands, indices;
  for (Value input : op.getInputs())
    (isa<RankedTensorType>(input.getType()) ? tensors : indices)
        .push_back(input);
  llvm::append_range(tensors, op.getResults());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    auto type = dyn_cast<MemRefType>(kernel.getArgument(i).getType());
    if (!type || !type.hasStaticShape() ||
        type.getElementType() !=
            cast<RankedTensorType>(tensor.getType()).getElementType() ||
        type.getNumElements() !=
            cast<RankedTensorType>(tensor.getType()).getNumElements())
      return op.emitOpError()
             << "passes " << tensor.getType() << " as argument #" << i
             << " of the kernel, which takes "
             << kernel.getArgument(i).getType();
    operands.push_back(view(tensor, type));
  }
  for (Value scalar : indices) {
    auto it = scalars.find(scalar);
    if (it == scalars.end())
      return op.emitOpError("has a scalar operand that no axis index or "
                            "constant defines");
    operands.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), it->second));
  }
  auto dims = [&](ArrayRef<int64_t> sizes) {
    return gpu::KernelDim3{index(sizes[0]), index(sizes[1]), index(sizes[2])};
  };
  Value shared;
  if (op.getShared())
    shared = arith::ConstantIntOp::create(builder, loc, op.getShared(), 32);
  gpu::LaunchFuncOp::create(builder, loc, op.getKernel(), dims(op.getGrid()),
                            dims(op.getBlock()), shared, operands,
                            common(kStream));
  return success();
}

LogicalResult FunctionScheduler::scheduleLayers(LayersOp op) {
  auto callee =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getBlockAttr());
  func::FuncOp host = program.hostFunctions.lookup(callee);
  const FunctionArena &block = program.plan.get(callee);
  const LayersStorage &storage = arena.layers.find(op)->second;
  int64_t first = op.getFirst(), count = op.getCount();
  for (auto &entry : program.parameters.parameters) {
    const ParameterPlace &place = entry.second;
    bool used = false;
    callee.walk([&](GetParameterOp read) {
      used |= read.getParameterAttr().getAttr() == entry.first;
    });
    if (used && place.layerStride &&
        (first < place.firstLayer ||
         first + count > place.firstLayer + place.layerCount))
      return op.emitOpError()
             << "runs layers " << first << " to " << first + count - 1
             << ", but @" << entry.first.getValue() << " has layers "
             << place.firstLayer << " to "
             << place.firstLayer + place.layerCount - 1;
  }

  Value scratch = bytesAt(storage.scratch);
  // Where layers alternate between two buffers, both are carried and swapped.
  SmallVector<Value> own, carried;
  for (auto [i, operand] : llvm::enumerate(op.getOperands_())) {
    own.push_back(bytesAt(arena.values.find(operand)->second));
    if (!block.inPlace[i]) {
      carried.push_back(own.back());
      carried.push_back(bytesAt(storage.other[i]));
    }
  }
  auto loop = scf::ForOp::create(
      builder, loc, index(first), index(first + count), index(1), carried,
      [&](OpBuilder &inner, Location loc, Value layer, ValueRange state) {
        SmallVector<Value> operands = {common(kStream), common(kParameters),
                                       scratch,         common(kComms),
                                       common(kCoords), layer};
        SmallVector<Value> outputs, swapped;
        unsigned pair = 0;
        for (auto [i, memory] : llvm::enumerate(own)) {
          if (block.inPlace[i]) {
            operands.push_back(memory);
            continue;
          }
          operands.push_back(state[pair]);
          outputs.push_back(state[pair + 1]);
          swapped.push_back(state[pair + 1]);
          swapped.push_back(state[pair]);
          pair += 2;
        }
        llvm::append_range(operands, outputs);
        func::CallOp::create(inner, loc, host, operands);
        scf::YieldOp::create(inner, loc, swapped);
      });
  (void)loop;
  for (auto &[key, times] : program.calls[callee])
    calls[key] += times * count;
  return success();
}
