//===- OpInterfaces.td - cost and partition interfaces ------*- tablegen -*-===//
//
// What every op of the graph must be able to say about itself. Costs are
// evaluated on the types handed in, never on the op's own: the planner asks
// with the local shapes it imagines.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_INTERFACES_OPINTERFACES
#define TESSERA_INTERFACES_OPINTERFACES

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::tessera";
  let description = [{
    States what the op costs, forward and backward, when its operands and
    results have the given (local) shapes.
  }];
  let methods = [
    InterfaceMethod<[{
        Cost on the given types, one per operand and result, in order. The
        types must be legal for the op (the caller checks divisibility). The
        type of an operand that is no tensor (an offset) is null.
      }],
      "::tessera::OpCost", "getCost",
      (ins "::llvm::ArrayRef<::mlir::RankedTensorType>":$operandTypes,
           "::llvm::ArrayRef<::mlir::RankedTensorType>":$resultTypes)>,
  ];
}

def PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::tessera";
  let description = [{
    The op's partition rule. Given the shardings that its operands have, the op
    answers with the shardings that it needs them to have and those that its
    results then have. Never changes IR; the partitioner inserts the
    resharding and builds the local op.

    Parameters lie where the plan put them: a rule asks activations to follow
    weights, not the other way round. An operand that is no tensor (an offset)
    has a sharding without dimensions. Where the plan fixed an
    op's result, the partitioner may propose that sharding for the operands
    instead of the one that they have: rules of element-wise ops follow it.
    Dimension sizes are checked only where the op gives them a meaning
    (heads, groups); that a split divides a dimension is the caller's check
    (`localShape`), with `paddedResults` for results that may be uneven.
  }];
  let methods = [
    InterfaceMethod<[{
        The rule for the proposed operand shardings. On failure nothing is
        returned and `why` says which dimension cannot be split and what could
        be done instead.
      }],
      "std::optional<::tessera::ShardingRule>", "getShardingRule",
      (ins "const ::tessera::Mesh &":$mesh,
           "::llvm::ArrayRef<::tessera::TensorSharding>":$operands,
           "std::string &":$why)>,
    InterfaceMethod<[{
        Builds the op on one rank's local operands. The default clones the op
        with the local result types; ops whose meaning depends on the rank (a
        slice of a vocabulary, say) override it.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildLocal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$localResultTypes,
           "const ::tessera::Mesh &":$mesh,
           "const ::tessera::ShardingRule &":$rule),
      [{}], [{
        ::mlir::Operation *op = $_op.getOperation();
        ::mlir::Operation *local = ::mlir::Operation::create(
            op->getLoc(), op->getName(), localResultTypes, operands,
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getSuccessors(), op->getNumRegions());
        builder.insert(local);
        return ::llvm::SmallVector<::mlir::Value>(local->getResults());
      }]>,
  ];
}

#endif // TESSERA_INTERFACES_OPINTERFACES
