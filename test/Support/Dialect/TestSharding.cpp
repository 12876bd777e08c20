//===- TestSharding.cpp - prints and applies the ops' partition rules -----===//
//
// `test.operands` on an op lists the shardings that its operands are said to
// have. One pass remarks the rule's answer, the other also builds the local op
// on operands that casts bring to their local shapes.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace {

std::string print(ArrayRef<TensorSharding> list, const Mesh &mesh) {
  std::string text;
  for (const TensorSharding &sharding : list)
    text += (text.empty() ? "" : "; ") + sharding.str(mesh);
  return text;
}

struct TestShardingPass
    : PassWrapper<TestShardingPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestShardingPass)
  TestShardingPass() = default;
  TestShardingPass(const TestShardingPass &o) : PassWrapper(o) {}
  StringRef getArgument() const final { return "test-sharding-rules"; }
  StringRef getDescription() const final {
    return "remark each op's partition rule for the shardings in test.operands";
  }
  Option<bool> build{*this, "build", llvm::cl::init(false),
                     llvm::cl::desc("build the local ops")};

  void runOnOperation() override {
    auto attr = getOperation()->getAttrOfType<MeshAttr>(kMeshAttrName);
    if (!attr) {
      getOperation().emitError() << "needs " << kMeshAttrName;
      return signalPassFailure();
    }
    Mesh mesh = attr.getMesh();
    SmallVector<PartitionOpInterface> ops;
    getOperation().walk([&](PartitionOpInterface op) {
      if (op->hasAttr("test.operands"))
        ops.push_back(op);
    });
    for (PartitionOpInterface op : ops)
      if (failed(runOn(op, mesh)))
        return signalPassFailure();
  }

  LogicalResult runOn(PartitionOpInterface op, const Mesh &mesh) {
    SmallVector<TensorSharding> operands;
    for (Attribute attr : op->getAttrOfType<ArrayAttr>("test.operands")) {
      auto sharding = cast<ShardingAttr>(attr).resolve(mesh);
      if (!sharding)
        return op->emitError(llvm::toString(sharding.takeError()));
      operands.push_back(*sharding);
    }
    std::string why;
    std::optional<ShardingRule> rule = op.getShardingRule(mesh, operands, why);
    if (!rule) {
      op->emitRemark() << "no rule: " << why;
      return success();
    }
    if (!build) {
      op->emitRemark() << "needs " << print(rule->operands, mesh) << " -> "
                       << print(rule->results, mesh);
      return success();
    }
    return buildLocal(op, mesh, *rule);
  }

  LogicalResult buildLocal(PartitionOpInterface op, const Mesh &mesh,
                           const ShardingRule &rule) {
    OpBuilder builder(op);
    auto localType = [&](Type type, const TensorSharding &sharding,
                         uint32_t padded) -> Type {
      auto tensor = cast<RankedTensorType>(type);
      std::string why;
      auto shape = localShape(tensor.getShape(), sharding, mesh, padded, &why);
      if (!shape) {
        op->emitError(why);
        return {};
      }
      return tensor.clone(*shape);
    };
    auto convert = [&](Value value, Type type) {
      return UnrealizedConversionCastOp::create(builder, op->getLoc(), type,
                                                value)
          .getResult(0);
    };
    SmallVector<Value> operands;
    for (auto [value, sharding] :
         llvm::zip_equal(op->getOperands(), rule.operands)) {
      Type type = localType(value.getType(), sharding, ~0u);
      if (!type)
        return failure();
      operands.push_back(convert(value, type));
    }
    SmallVector<Type> types;
    for (auto [i, value] : llvm::enumerate(op->getResults())) {
      uint32_t padded = rule.paddedResults.empty() ? 0 : rule.paddedResults[i];
      types.push_back(localType(value.getType(), rule.results[i], padded));
      if (!types.back())
        return failure();
    }
    op->removeAttr("test.operands");
    SmallVector<Value> local =
        op.buildLocal(builder, operands, types, mesh, rule);
    for (auto [global, value] : llvm::zip_equal(op->getResults(), local))
      global.replaceAllUsesWith(convert(value, global.getType()));
    op->erase();
    return success();
  }
};

} // namespace

namespace tessera::test {
void registerTestSharding() { PassRegistration<TestShardingPass>(); }
} // namespace tessera::test
