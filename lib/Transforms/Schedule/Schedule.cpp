//===- Schedule.cpp - the pass: tensor program to host program ------------===//
#include "lib/Transforms/Schedule/HostProgram.h"
#include "tessera/Transforms/Schedule/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_SCHEDULE
#include "lib/Transforms/Schedule/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// Functions in an order in which callees come first.
static void calleesFirst(func::FuncOp function,
                         llvm::SetVector<Operation *> &order) {
  // Seen once is enough: walking every path takes exponential time.
  if (order.contains(function))
    return;
  function.walk([&](LayersOp call) {
    calleesFirst(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                     call, call.getBlockAttr()),
                 order);
  });
  order.insert(function);
}

/// Checks that the axes named by `op` are on the mesh, and collects those of
/// collectives.
static LogicalResult collectAxes(Operation *op, HostProgram &program) {
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  if (!axes || !isa<AxisIndexOp, ShardOffsetOp, AllReduceOp, AllGatherOp,
                    ReduceScatterOp, AllToAllOp, SliceOp>(op))
    return success();
  for (auto name : axes.getAsValueRange<StringAttr>())
    if (!program.mesh.lookup(name))
      return op->emitOpError()
             << "names axis '" << name << "', which the mesh does not have";
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
    program.communicators.insert(axes);
  return success();
}

/// Embeds the manifest as a zero-terminated constant.
static void embedManifest(ModuleOp module, StringRef manifest) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string text = manifest.str();
  text.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, kManifestName,
                         builder.getStringAttr(text));
}

namespace {
struct Schedule : tessera::impl::ScheduleBase<Schedule> {
  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    FailureOr<ArenaPlan> plan = ArenaPlan::compute(module);
    if (failed(plan))
      return failure();
    HostProgram program(module, std::move(*plan));
    if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName))
      program.mesh = mesh.getMesh();
    FailureOr<ParameterLayout> parameters =
        ParameterLayout::compute(module, program.mesh);
    if (failed(parameters))
      return failure();
    program.parameters = std::move(*parameters);

    llvm::SetVector<Operation *> order;
    calleesFirst(program.plan.getEntry(), order);
    for (Operation *function : order)
      if (function
              ->walk([&](Operation *op) {
                return failed(collectAxes(op, program))
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted())
        return failure();

    SmallVector<func::FuncOp> hosts;
    for (Operation *function : order) {
      auto source = cast<func::FuncOp>(function);
      FailureOr<func::FuncOp> host = FunctionScheduler(program, source).run();
      if (failed(host)) {
        for (func::FuncOp done : hosts)
          done.erase();
        return failure();
      }
      hosts.push_back(program.hostFunctions[source] = *host);
    }
    FailureOr<std::string> manifest = buildManifest(program);
    if (failed(manifest)) {
      for (func::FuncOp host : hosts)
        host.erase();
      return failure();
    }

    // The tensor program has been translated; what remains is host code.
    for (Operation &op : llvm::make_early_inc_range(module.getOps()))
      if (isa<func::FuncOp, ParameterOp>(op))
        op.erase();
    for (func::FuncOp host : hosts)
      module.push_back(host);
    embedManifest(module, *manifest);
    return success();
  }
};
} // namespace
