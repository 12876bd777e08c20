//===- ArenaPlan.cpp - lifetimes of tensors, then placement ---------------===//
//
// One walk over the straight-line body joins values into buffers (an op that
// may work in place takes the storage of a dying operand) and finds their
// lifetimes; ArenaPlacement then gives the offsets.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/ArenaPlan.h"

#include "tessera/Analysis/ArenaPlacement.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;

std::string tessera::whyNotStorable(Type type) {
  auto shaped = dyn_cast<TensorType>(type);
  if (!shaped)
    return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "'" << type << "' ";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    out << "has no static shape";
    return text;
  }
  if (!tensor.getElementType().isIntOrFloat()) {
    out << "has elements that are no numbers";
    return text;
  }
  int64_t bytes = llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
  for (int64_t size : tensor.getShape()) {
    if (size > 0 && bytes > kMostTensorBytes / size) {
      out << "is larger than the memory of any device";
      return text;
    }
    bytes *= size;
  }
  return "";
}

int64_t tessera::tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

bool tessera::isArenaValue(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         !isa_and_present<GetParameterOp, RotaryTableOp>(value.getDefiningOp());
}

namespace {
struct Buffer {
  ArenaBuffer place;
  Storage::Base base = Storage::Base::Scratch;
  unsigned index = 0;
};

class Planner {
public:
  Planner(func::FuncOp function, bool isEntry,
          const DenseMap<Operation *, FunctionArena> &callees)
      : function(function), isEntry(isEntry), callees(callees) {}

  FailureOr<FunctionArena> run();

private:
  /// False if a block's result fell into the wrong argument's storage, which
  /// then goes to `pinned`; the walk must be repeated.
  FailureOr<bool> walk();
  void define(Operation *op, int64_t step);
  LogicalResult defineLayers(LayersOp op, int64_t step);
  FailureOr<bool> assignResults();
  unsigned add(int64_t bytes, int64_t begin, int64_t end);
  bool diesAt(Value value, int64_t step);
  Storage storage(unsigned buffer);

  func::FuncOp function;
  bool isEntry;
  const DenseMap<Operation *, FunctionArena> &callees;
  DenseMap<Value, int64_t> lastUse;
  int64_t numSteps = 0;
  /// Arguments that may not be overwritten.
  llvm::SmallSetVector<unsigned, 4> pinned;

  SmallVector<Buffer> buffers;
  DenseMap<Value, unsigned> bufferOf;
  struct LayersBuffers {
    unsigned scratch;
    SmallVector<std::optional<unsigned>> other;
  };
  DenseMap<Operation *, LayersBuffers> layers;
  SmallVector<bool> inPlace;
};
} // namespace

unsigned Planner::add(int64_t bytes, int64_t begin, int64_t end) {
  Buffer buffer;
  buffer.place = {bytes, begin, end, 0};
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

/// Whether nothing reads the value after `step`, and its storage may be taken.
bool Planner::diesAt(Value value, int64_t step) {
  if (!bufferOf.count(value) || lastUse.lookup(value) != step)
    return false;
  const Buffer &buffer = buffers[bufferOf[value]];
  if (auto argument = dyn_cast<BlockArgument>(value))
    return !isEntry && !pinned.contains(argument.getArgNumber());
  // Values that were joined into this buffer earlier are dead by now.
  return buffer.place.end == step;
}

void Planner::define(Operation *op, int64_t step) {
  for (OpResult result : op->getResults()) {
    if (!isArenaValue(result))
      continue;
    int64_t end = lastUse.lookup(result);
    std::optional<unsigned> taken;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isArenaValue(value) || !diesAt(value, step) ||
          !mayShareStorage(op, operand.getOperandNumber(),
                           result.getResultNumber()))
        continue;
      // Two operands in one buffer, or a buffer that another result took.
      unsigned buffer = bufferOf[value];
      auto inBuffer = [&](Value other) {
        auto it = bufferOf.find(other);
        return it != bufferOf.end() && it->second == buffer;
      };
      if (llvm::count_if(op->getOperands(), inBuffer) != 1 ||
          llvm::any_of(op->getResults(), inBuffer))
        continue;
      taken = buffer;
      break;
    }
    if (taken)
      buffers[*taken].place.end = std::max(buffers[*taken].place.end, end);
    else
      taken = add(tensorBytes(result.getType()), step, end);
    bufferOf[result] = *taken;
  }
}

LogicalResult Planner::defineLayers(LayersOp op, int64_t step) {
  auto callee =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getBlockAttr());
  const FunctionArena &block = callees.find(callee)->second;
  LayersBuffers &storage = layers[op];
  storage.scratch = add(block.bytes, step, step);
  storage.other.assign(op.getNumResults(), std::nullopt);
  for (auto [i, operand] : llvm::enumerate(op.getOperands_())) {
    if (llvm::count(op.getOperands_(), operand) != 1 ||
        !isArenaValue(operand) || !diesAt(operand, step))
      return op.emitOpError() << "operand #" << i
                              << " is used elsewhere, but the layers overwrite "
                                 "it; copy it first "
                                 "(tessera-expand-copies)";
    Value result = op.getResult(i);
    int64_t end = lastUse.lookup(result);
    unsigned own = bufferOf[operand];
    unsigned holder = own;
    if (!block.inPlace[i]) {
      // Layers alternate between the operand's storage and another one.
      bool odd = op.getCount() % 2;
      storage.other[i] =
          add(tensorBytes(result.getType()), step, odd ? end : step);
      if (odd)
        holder = *storage.other[i];
    }
    buffers[holder].place.end = std::max(buffers[holder].place.end, end);
    bufferOf[result] = holder;
  }
  return success();
}

FailureOr<bool> Planner::assignResults() {
  Operation *terminator = function.getBody().front().getTerminator();
  DenseSet<unsigned> seen;
  inPlace.clear();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto it = bufferOf.find(value);
    bool legal = it != bufferOf.end() && seen.insert(it->second).second;
    if (isEntry && legal)
      legal = !isa<BlockArgument>(value);
    if (!legal)
      return terminator->emitOpError()
             << "returns a parameter, an argument or one tensor twice as "
                "result #"
             << i << "; copy it first (tessera-expand-copies)";
    if (isEntry)
      continue;
    Buffer &buffer = buffers[it->second];
    if (buffer.base == Storage::Base::Scratch) {
      buffer.base = Storage::Base::Result;
      buffer.index = i;
    } else if (buffer.index != i) {
      if (isa<BlockArgument>(value))
        return terminator->emitOpError()
               << "returns argument #" << buffer.index << " as result #" << i
               << "; copy it first (tessera-expand-copies)";
      pinned.insert(buffer.index);
      return false;
    }
    inPlace.push_back(buffer.base == Storage::Base::Argument);
  }
  return true;
}

FailureOr<bool> Planner::walk() {
  buffers.clear();
  bufferOf.clear();
  layers.clear();
  for (BlockArgument argument : function.getArguments()) {
    if (!isArenaValue(argument))
      return function.emitOpError()
             << "argument #" << argument.getArgNumber() << " is no tensor";
    unsigned index = add(tensorBytes(argument.getType()), 0,
                         isEntry ? numSteps : lastUse.lookup(argument));
    bufferOf[argument] = index;
    if (!isEntry) {
      buffers[index].base = Storage::Base::Argument;
      buffers[index].index = argument.getArgNumber();
    }
  }
  int64_t step = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto call = dyn_cast<LayersOp>(op)) {
      if (failed(defineLayers(call, step)))
        return failure();
    } else {
      define(&op, step);
    }
    ++step;
  }
  return assignResults();
}

Storage Planner::storage(unsigned index) {
  const Buffer &buffer = buffers[index];
  return {buffer.base, buffer.index, buffer.place.offset, buffer.place.bytes};
}

FailureOr<FunctionArena> Planner::run() {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("must be a single block");
  Block &body = function.getBody().front();
  auto check = [](Operation *op, TypeRange types) -> LogicalResult {
    for (Type type : types)
      if (std::string why = whyNotStorable(type); !why.empty())
        return op->emitOpError() << "cannot be placed in memory: " << why;
    return success();
  };
  if (failed(check(function, body.getArgumentTypes())))
    return failure();
  for (Operation &op : body)
    if (failed(check(&op, op.getResultTypes())))
      return failure();
  numSteps = llvm::range_size(body) - 1;
  int64_t step = 0;
  for (Operation &op : body) {
    for (Value result : op.getResults())
      lastUse[result] = step;
    for (Value operand : op.getOperands())
      lastUse[operand] = step;
    ++step;
  }
  while (true) {
    FailureOr<bool> done = walk();
    if (failed(done))
      return failure();
    if (*done)
      break;
  }

  SmallVector<ArenaBuffer> scratch;
  SmallVector<unsigned> origin;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    if (buffer.base != Storage::Base::Scratch)
      continue;
    scratch.push_back(buffer.place);
    origin.push_back(i);
  }
  FunctionArena arena;
  arena.bytes = placeBuffers(scratch);
  arena.peakLive = peakLiveBytes(scratch);
  std::string wrong = verifyPlacement(scratch, arena.bytes);
  if (!wrong.empty())
    return function.emitOpError("arena placement is wrong: ") << wrong;
  for (auto [i, buffer] : llvm::zip_equal(origin, scratch))
    buffers[i].place.offset = buffer.offset;

  for (auto [value, index] : bufferOf)
    arena.values[value] = storage(index);
  for (auto &[op, used] : layers) {
    LayersStorage &out = arena.layers[op];
    out.scratch = storage(used.scratch);
    for (std::optional<unsigned> other : used.other)
      out.other.push_back(other ? storage(*other) : Storage());
  }
  arena.inPlace = inPlace;
  return arena;
}

/// Appends `function` after the blocks that it calls; fails on recursion.
static LogicalResult visit(func::FuncOp function,
                           llvm::SetVector<Operation *> &order,
                           llvm::SmallSetVector<Operation *, 8> &active) {
  if (order.contains(function))
    return success();
  if (!active.insert(function))
    return function.emitOpError("calls itself through tessera.layers");
  if (function.isExternal())
    return function.emitOpError("has no body");
  WalkResult result = function.walk([&](LayersOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getBlockAttr());
    if (!callee) {
      call.emitOpError() << "calls @" << call.getBlock()
                         << ", which is no function";
      return WalkResult::interrupt();
    }
    auto type = FunctionType::get(call.getContext(), call.getOperandTypes(),
                                  call.getResultTypes());
    if (callee.getFunctionType() != type ||
        type.getInputs() != type.getResults()) {
      call.emitOpError() << "types differ from those of @" << call.getBlock();
      return WalkResult::interrupt();
    }
    return failed(visit(callee, order, active)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
  });
  active.remove(function);
  if (result.wasInterrupted())
    return failure();
  order.insert(function);
  return success();
}

FailureOr<ArenaPlan> ArenaPlan::compute(ModuleOp module) {
  ArenaPlan plan;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (plan.entry) {
      InFlightDiagnostic diagnostic = function.emitOpError(
          "is a second public function; a program has one entry");
      diagnostic.attachNote(plan.entry.getLoc()) << "the first is here";
      return diagnostic;
    }
    plan.entry = function;
  }
  if (!plan.entry)
    return module.emitOpError("has no public function to run");
  llvm::SetVector<Operation *> order;
  llvm::SmallSetVector<Operation *, 8> active;
  if (failed(visit(plan.entry, order, active)))
    return failure();
  for (Operation *op : order) {
    auto function = cast<func::FuncOp>(op);
    FailureOr<FunctionArena> arena =
        Planner(function, function == plan.entry, plan.functions).run();
    if (failed(arena))
      return failure();
    plan.functions[op] = std::move(*arena);
  }
  return plan;
}
