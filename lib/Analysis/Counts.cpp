//===- Counts.cpp - what one rank's program does --------------------------===//
//
// Functions are counted bottom up, each once; a call adds its callee's counts
// times the number of layers.
//
//===----------------------------------------------------------------------===//
#include "tessera/Analysis/Counts.h"

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Analysis/ArenaPlan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

namespace {
class Counter {
public:
  explicit Counter(ModuleOp module) : module(module) {}

  /// Counts of one call of `function`; null on failure.
  const ProgramCounts *count(func::FuncOp function);

private:
  LogicalResult visit(Operation &op, ProgramCounts &counts);
  LogicalResult addCost(Operation &op, PassCost &sum);
  LogicalResult addGroup(kernel::GroupOp group, PassCost &sum);
  void addCollective(Operation &op, ProgramCounts &counts);

  ModuleOp module;
  DenseMap<Operation *, ProgramCounts> done;
  DenseSet<Operation *> open;
};
} // namespace

static void add(ProgramCounts &sum, const ProgramCounts &part, int64_t times) {
  PassCost cost = part.forward;
  cost.matmulFlops *= times;
  cost.vectorFlops *= times;
  cost.bytesRead *= times;
  cost.bytesWritten *= times;
  sum.forward += cost;
  for (const auto &[key, count] : part.collectives) {
    CollectiveCount &total = sum.collectives[key];
    total.calls += times * count.calls;
    total.bytes += times * count.bytes;
    total.bytesMoved += times * count.bytesMoved;
  }
  for (const auto &[name, n] : part.ops)
    sum.ops[name] += times * n;
}

static SmallVector<RankedTensorType> tensorTypes(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return dyn_cast<RankedTensorType>(type); });
}

LogicalResult Counter::addCost(Operation &op, PassCost &sum) {
  if (isa<GetParameterOp, RotaryTableOp, ShardOffsetOp, AxisIndexOp,
          func::ReturnOp>(op))
    return success();
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return op.emitError("cannot be counted: its cost is unknown; count before "
                        "kernels are made");
  sum += cost.getCost(tensorTypes(op.getOperandTypes()),
                      tensorTypes(op.getResultTypes()))
             .forward;
  return success();
}

LogicalResult Counter::addGroup(kernel::GroupOp group, PassCost &sum) {
  for (Operation &op : group.getOps()) {
    if (failed(addCost(op, sum)))
      return failure();
    // Inside a group values travel in registers.
    for (Value operand : op.getOperands())
      if (operand.getDefiningOp() && isa<RankedTensorType>(operand.getType()))
        sum.bytesRead -= tensorBytes(operand.getType());
    for (Value result : op.getResults())
      if (!llvm::is_contained(group.getYielded(), result))
        sum.bytesWritten -= tensorBytes(result.getType());
  }
  return success();
}

void Counter::addCollective(Operation &op, ProgramCounts &counts) {
  auto type = cast<RankedTensorType>(op.getOperand(0).getType());
  int64_t elements = type.getNumElements();
  int64_t size = tensorBytes(type) / std::max<int64_t>(elements, 1);
  CollectiveKey key;
  key.op = op.getName().stripDialect();
  for (auto axis : op.getAttrOfType<ArrayAttr>("axes").getAsRange<StringAttr>())
    key.axes.push_back(axis.str());
  llvm::raw_string_ostream(key.dtype) << type.getElementType();
  int64_t moved =
      llvm::TypeSwitch<Operation *, int64_t>(&op)
          .Case<AllGatherOp>([&](AllGatherOp gather) {
            key.count = elements;
            return (int64_t(gather.getGroupSize()) - 1) * elements;
          })
          .Case<ReduceScatterOp>([&](ReduceScatterOp scatter) {
            key.count = elements / int64_t(scatter.getGroupSize());
            return elements - key.count;
          })
          .Case<AllToAllOp>([&](AllToAllOp exchange) {
            key.count = elements / int64_t(exchange.getGroupSize());
            return elements - key.count;
          })
          .Default([&](Operation *) {
            key.count = elements;
            int64_t ranks = 1;
            if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName))
              for (const std::string &axis : key.axes)
                if (auto found = mesh.getMesh().lookup(axis))
                  ranks *= mesh.getMesh().axes[*found].size;
            return 2 * (ranks - 1) * elements / ranks;
          });
  CollectiveCount &count = counts.collectives[key];
  ++count.calls;
  count.bytes +=
      std::max(tensorBytes(type), tensorBytes(op.getResult(0).getType()));
  count.bytesMoved += moved * size;
}

LogicalResult Counter::visit(Operation &op, ProgramCounts &counts) {
  if (auto call = dyn_cast<LayersOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getBlock());
    const ProgramCounts *block = callee ? count(callee) : nullptr;
    if (!block)
      return op.emitError("cannot count the calls of @") << call.getBlock();
    add(counts, *block, call.getCount());
    return success();
  }
  if (!isa<func::ReturnOp>(op))
    ++counts.ops[op.getName().getStringRef().str()];
  if (auto group = dyn_cast<kernel::GroupOp>(op))
    return addGroup(group, counts.forward);
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
    addCollective(op, counts);
  return addCost(op, counts.forward);
}

const ProgramCounts *Counter::count(func::FuncOp function) {
  auto known = done.find(function);
  if (known != done.end())
    return &known->second;
  if (function.isExternal() || !open.insert(function).second)
    return nullptr;
  ProgramCounts counts;
  for (Operation &op : function.getOps())
    if (failed(visit(op, counts)))
      return nullptr;
  return &(done[function] = std::move(counts));
}

FailureOr<ProgramCounts> tessera::countProgram(ModuleOp module) {
  FailureOr<ArenaPlan> memory = ArenaPlan::compute(module);
  if (failed(memory))
    return failure();
  func::FuncOp entry = memory->getEntry();
  Counter counter(module);
  const ProgramCounts *counts = counter.count(entry);
  if (!counts)
    return failure();
  ProgramCounts result = *counts;
  const FunctionArena &arena = memory->get(entry);
  result.arenaBytes = arena.bytes;
  result.peakLiveBytes = arena.peakLive;

  Mesh mesh;
  if (auto attribute = module->getAttrOfType<MeshAttr>(kMeshAttrName))
    mesh = attribute.getMesh();
  for (auto parameter : module.getOps<ParameterOp>()) {
    std::string why;
    RankedTensorType type = getLocalParameterType(parameter, mesh, &why);
    if (!type)
      return parameter.emitError(why);
    result.parameterBytes +=
        tensorBytes(type) * int64_t(parameter.getLayerCount().value_or(1));
  }
  return result;
}

llvm::json::Value ProgramCounts::toJSON() const {
  llvm::json::Array list;
  for (const auto &[key, count] : collectives)
    list.push_back(llvm::json::Object{{"op", key.op},
                                      {"communicator", key.axes},
                                      {"dtype", key.dtype},
                                      {"count", key.count},
                                      {"calls", count.calls},
                                      {"bytes", count.bytes},
                                      {"bytes_moved", count.bytesMoved}});
  llvm::json::Object opsByName;
  for (const auto &[name, n] : ops)
    opsByName[name] = n;
  return llvm::json::Object{{"matmul_flops", forward.matmulFlops},
                            {"vector_flops", forward.vectorFlops},
                            {"bytes_read", forward.bytesRead},
                            {"bytes_written", forward.bytesWritten},
                            {"parameter_bytes", parameterBytes},
                            {"peak_live_bytes", peakLiveBytes},
                            {"arena_bytes", arenaBytes},
                            {"ops", std::move(opsByName)},
                            {"collectives", std::move(list)}};
}
