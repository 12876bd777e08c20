//===- Fuse.cpp - which ops become one kernel -----------------------------===//
//
// Greedy, in the order of what it saves. First the products take what follows
// them: each op taken saves a write and a read of a whole activation. Then
// what is left of element-wise chains, then a residual add with the norm
// behind it (which saves one read), then every op by itself.
//
//===----------------------------------------------------------------------===//
#include "tessera/Transforms/Fuse/Passes.h"

#include "Chain.h"
#include "dialects/Kernel/KernelDialect.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using kernel::Family;

namespace tessera {
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Fuse/Passes.h.inc"
} // namespace tessera

/// Whether an op stays outside of groups.
static bool isOutside(Operation *op) {
  return isa<GetParameterOp, RotaryTableOp, AxisIndexOp, ShardOffsetOp,
             LayersOp, func::ReturnOp, AllReduceOp, AllGatherOp,
             ReduceScatterOp, AllToAllOp, SliceOp, kernel::GroupOp,
             kernel::TransposeOp>(op);
}

/// The family whose kernels compute `op`; nothing where none does.
static std::optional<Family> familyOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Family>>(op)
      .Case<LinearOp>([](auto) { return Family::Matmul; })
      .Case<AttentionOp>([](auto) { return Family::Attention; })
      .Case<RMSNormOp, LayerNormOp>([](auto) { return Family::Row; })
      .Case<RotaryOp, AddBiasOp, ActivationOp, SwigluOp, AddOp>(
          [](auto) { return Family::Elementwise; })
      .Case<EmbeddingOp, AddPositionsOp>([](auto) { return Family::Embedding; })
      .Case<CrossEntropyOp, CrossEntropyStatsOp, CrossEntropyCombineOp,
            TokenSumOp, TokenMeanOp>([](auto) { return Family::CrossEntropy; })
      .Default([](Operation *) { return std::nullopt; });
}

static remark::RemarkOpts remarkOpts() {
  return remark::RemarkOpts::name("fusion").category("fuse");
}

namespace {
/// Forms the groups of one function.
class GroupBuilder {
public:
  GroupBuilder(func::FuncOp function, const FuseOptions &options)
      : function(function), options(options) {}

  LogicalResult run();
  int64_t groups = 0, fused = 0;

private:
  void fuseEpilogues();
  void fuseChains();
  void fuseNorms();
  void claim(Family family, ArrayRef<Operation *> ops, bool keepAll = false);
  void emit(Family family, ArrayRef<Operation *> ops, bool keepAll);

  struct Group {
    Family family;
    SmallVector<Operation *> ops; ///< in order
    /// All results go to memory, also those that no one reads.
    bool keepAll;
  };
  func::FuncOp function;
  const FuseOptions &options;
  SmallVector<Group> planned;
  OpSet taken;
};
} // namespace

void GroupBuilder::claim(Family family, ArrayRef<Operation *> ops,
                         bool keepAll) {
  planned.push_back({family, SmallVector<Operation *>(ops), keepAll});
  taken.insert(ops.begin(), ops.end());
}

void GroupBuilder::fuseEpilogues() {
  for (auto linear : function.getOps<LinearOp>()) {
    SmallVector<Operation *> ops{linear};
    // The epilogue's operands have the element type of the product's.
    if (linear.getX().getType().getElementType() ==
        linear.getType().getElementType())
      llvm::append_range(
          ops, chainBehind(linear.getResult(), EpilogueStage::Start, taken));
    claim(Family::Matmul, ops);
  }
}

void GroupBuilder::fuseChains() {
  for (Operation &op : function.getOps()) {
    EpilogueStage stage = stageOf(&op);
    if (stage == EpilogueStage::Start || taken.contains(&op))
      continue;
    SmallVector<Operation *> ops{&op};
    llvm::append_range(ops, chainBehind(op.getResult(0), stage, taken));
    if (ops.size() > 1)
      claim(Family::Elementwise, ops);
  }
}

void GroupBuilder::fuseNorms() {
  for (Operation &op : function.getOps()) {
    if (!isa<RMSNormOp, LayerNormOp>(op) || taken.contains(&op))
      continue;
    auto add = op.getOperand(0).getDefiningOp<AddOp>();
    if (!add || taken.contains(add) || add.getLhs() == add.getRhs() ||
        add->getBlock() != op.getBlock())
      continue;
    // One row is normalised as a whole: norms of heads stay apart.
    auto rows = cast<RankedTensorType>(op.getOperand(0).getType());
    auto weight = cast<RankedTensorType>(op.getOperand(1).getType());
    if (weight.getDimSize(0) != rows.getShape().back())
      continue;
    // The group stands where the norm is; who reads the sum must come later.
    if (llvm::any_of(add->getUsers(), [&](Operation *user) {
          return user != &op && user->isBeforeInBlock(&op);
        })) {
      remark::missed(add.getLoc(), remarkOpts())
          << remark::reason("the sum is read before its norm, which therefore "
                            "cannot take the add");
      continue;
    }
    claim(Family::Row, {add, &op}, /*keepAll=*/true);
  }
}

void GroupBuilder::emit(Family family, ArrayRef<Operation *> ops,
                        bool keepAll) {
  OpSet inside(ops.begin(), ops.end());
  llvm::SmallSetVector<Value, 6> inputs;
  SmallVector<Value> results;
  std::string label;
  for (Operation *op : ops) {
    label += (label.empty() ? "" : "_") + op->getName().stripDialect().str();
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (keepAll || op == ops.back() ||
          llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }
  OpBuilder builder(ops.back());
  auto group = kernel::GroupOp::create(
      builder,
      builder.getFusedLoc(
          llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); })),
      family, label, inputs.getArrayRef(), TypeRange(ValueRange(results)));
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), group.getBlock()->getArguments());
  builder.setInsertionPointToStart(group.getBlock());
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  kernel::YieldOp::create(builder, group.getLoc(),
                          llvm::map_to_vector(results, [&](Value value) {
                            return mapping.lookup(value);
                          }));
  for (auto [result, value] : llvm::zip_equal(group.getResults(), results))
    value.replaceAllUsesExcept(result, group);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  ++groups;
  if (ops.size() == 1)
    return;
  fused += ops.size();
  remark::passed(group.getLoc(), remarkOpts())
      << remark::add("{0} ops become one {1} kernel: {2}", ops.size(),
                     stringifyFamily(family), label);
}

LogicalResult GroupBuilder::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has control flow, which cannot be fused");
  // What computes says more than the table that it reads: named first.
  for (bool tables : {false, true})
    for (Operation &op : function.getOps())
      if (!isOutside(&op) && !familyOf(&op) &&
          isa<SinusoidTableOp>(op) == tables)
        return op.emitError("no kernel computes '")
               << op.getName()
               << "': a model with it can be planned, not compiled";
  if (options.fuseEpilogues)
    fuseEpilogues();
  if (options.fuseChains)
    fuseChains();
  if (options.fuseNorms)
    fuseNorms();
  for (Operation &op : function.getOps())
    if (!isOutside(&op) && !taken.contains(&op))
      claim(*familyOf(&op), &op);
  for (const Group &group : planned)
    emit(group.family, group.ops, group.keepAll);
  return success();
}

namespace {
struct FusePass : tessera::impl::FuseBase<FusePass> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    FuseOptions options{fuseEpilogues, fuseNorms, fuseChains};
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      GroupBuilder builder(function, options);
      if (failed(builder.run()))
        return signalPassFailure();
      numGroups += builder.groups;
      numFused += builder.fused;
    }
  }
};
} // namespace
