//===- KernelOps.cpp - verifiers and syntax of groups and launches --------===//
#include "dialects/Kernel/KernelDialect.h"

#include "tessera/Interfaces/OpInterfaces.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tessera::kernel;

#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.cpp.inc"

//===----------------------------------------------------------------------===//
// kernel.group
//===----------------------------------------------------------------------===//

void GroupOp::build(OpBuilder &builder, OperationState &state, Family family,
                    StringRef label, ValueRange inputs, TypeRange results) {
  state.addOperands(inputs);
  state.addTypes(results);
  state.getOrAddProperties<Properties>().family =
      FamilyAttr::get(builder.getContext(), family);
  state.getOrAddProperties<Properties>().label = builder.getStringAttr(label);
  Region *body = state.addRegion();
  Block *block = new Block();
  body->push_back(block);
  for (Value input : inputs)
    block->addArgument(input.getType(), input.getLoc());
}

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef keyword;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Family> family = symbolizeFamily(keyword);
  if (!family)
    return parser.emitError(at)
           << "unknown kernel family '" << keyword
           << "', expected one of matmul, attention, row, elementwise, "
              "embedding, cross_entropy";
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.family = FamilyAttr::get(parser.getContext(), *family);
  StringAttr label;
  if (parser.parseAttribute(label))
    return failure();
  properties.label = label;

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto binding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(arguments.back().type));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, binding))
    return failure();
  for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
    if (parser.resolveOperand(operand, argument.type, state.operands))
      return failure();
  if (succeeded(parser.parseOptionalKeyword("config")) &&
      parser.parseAttribute(properties.config))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseArrowTypeList(state.types))
    return failure();
  return parser.parseRegion(*state.addRegion(), arguments);
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyFamily(getFamily()) << ' ' << getLabelAttr()
          << " (";
  llvm::interleaveComma(
      llvm::zip_equal(getBlock()->getArguments(), getInputs()), printer,
      [&](auto binding) {
        auto [argument, operand] = binding;
        printer << argument << " = " << operand << " : " << operand.getType();
      });
  printer << ')';
  if (getConfigAttr())
    printer << " config " << getConfigAttr();
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector((*this)->getDiscardableAttrs()));
  printer.printArrowTypeList(getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult GroupOp::verify() {
  Attribute config = getConfigAttr();
  if (config && getFamily() == Family::Matmul && !isa<MatmulConfigAttr>(config))
    return emitOpError("a matmul group needs a #kernel.matmul_config, got ")
           << config;
  if (config && getFamily() == Family::Attention &&
      !isa<AttentionConfigAttr>(config))
    return emitOpError(
               "an attention group needs a #kernel.attention_config, got ")
           << config;
  return success();
}

/// `types` as the cost interface wants them: null where one is no tensor.
static SmallVector<RankedTensorType> tensorTypes(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return dyn_cast<RankedTensorType>(type); });
}

LogicalResult GroupOp::verifyRegions() {
  Block *block = getBlock();
  if (block->getNumArguments() != getInputs().size())
    return emitOpError("has ")
           << getInputs().size() << " operands but its body takes "
           << block->getNumArguments() << " arguments";
  for (auto [i, argument] : llvm::enumerate(block->getArguments()))
    if (argument.getType() != getInputs()[i].getType())
      return emitOpError("operand #")
             << i << " has type " << getInputs()[i].getType()
             << " but body argument #" << i << " has type "
             << argument.getType();
  if (getOps().empty())
    return emitOpError("has no op in its body");
  for (Operation &op : getOps()) {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (!cost || !isPure(&op)) {
      InFlightDiagnostic diagnostic =
          emitOpError("body may hold pure graph ops only, got '")
          << op.getName() << "'";
      diagnostic.attachNote(op.getLoc()) << "the op is here";
      return diagnostic;
    }
    if (cost.getCost(tensorTypes(op.getOperandTypes()),
                     tensorTypes(op.getResultTypes()))
            .kernel == KernelClass::Collective) {
      InFlightDiagnostic diagnostic =
          emitOpError("cannot hold the collective '") << op.getName() << "'";
      diagnostic.attachNote(op.getLoc()) << "the op is here";
      return diagnostic;
    }
  }
  if (getYielded().getTypes() != getResultTypes())
    return emitOpError("body yields (")
           << getYielded().getTypes() << ") but the group returns ("
           << getResultTypes() << ")";
  for (Value value : getYielded())
    if (isa<BlockArgument>(value))
      return emitOpError("yields one of its operands unchanged");
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.launch
//===----------------------------------------------------------------------===//

bool LaunchOp::mayShare(unsigned operand, unsigned result) {
  ArrayRef<int64_t> pairs = getInPlace().value_or(ArrayRef<int64_t>());
  for (; pairs.size() >= 2; pairs = pairs.drop_front(2))
    if (pairs[0] == operand && pairs[1] == result)
      return true;
  return false;
}

/// `in_place` must name pairs of equally large operands and results.
static LogicalResult verifyInPlace(LaunchOp op) {
  ArrayRef<int64_t> pairs = op.getInPlace().value_or(ArrayRef<int64_t>());
  if (pairs.size() % 2)
    return op.emitOpError("in_place must list pairs of operand and result");
  for (; !pairs.empty(); pairs = pairs.drop_front(2)) {
    if (pairs[0] < 0 || pairs[0] >= int64_t(op.getInputs().size()))
      return op.emitOpError("in_place names operand ")
             << pairs[0] << ", there are " << op.getInputs().size();
    if (pairs[1] < 0 || pairs[1] >= int64_t(op.getNumResults()))
      return op.emitOpError("in_place names result ")
             << pairs[1] << ", there are " << op.getNumResults();
    auto from = dyn_cast<RankedTensorType>(op.getInputs()[pairs[0]].getType());
    auto to = cast<RankedTensorType>(op.getResult(pairs[1]).getType());
    if (!from || from.getElementType() != to.getElementType() ||
        from.getNumElements() != to.getNumElements())
      return op.emitOpError("in_place pairs ")
             << op.getInputs()[pairs[0]].getType() << " with " << to
             << ", which differ in size";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  if (failed(verifyInPlace(*this)))
    return failure();
  auto checkDims = [&](StringRef what, ArrayRef<int64_t> dims,
                       std::array<int64_t, 3> most) -> LogicalResult {
    if (dims.size() != 3)
      return emitOpError() << what << " must have 3 sizes, got " << dims.size();
    for (auto [size, limit] : llvm::zip_equal(dims, most)) {
      if (size < 1)
        return emitOpError() << what << " sizes must be positive, got " << size;
      if (size > limit)
        return emitOpError()
               << what << " sizes must be at most " << most[0] << ", "
               << most[1] << ", " << most[2] << ", got " << size;
    }
    return success();
  };
  // CUDA C++ Programming Guide, technical specifications per compute
  // capability: maximum dimensions of a grid and of a block.
  if (failed(checkDims("grid", getGrid(), {INT32_MAX, 65535, 65535})) ||
      failed(checkDims("block", getBlock(), {1024, 1024, 64})))
    return failure();
  int64_t threads = getBlock()[0] * getBlock()[1] * getBlock()[2];
  if (threads > 1024)
    return emitOpError("a block holds at most 1024 threads, got ") << threads;
  if (static_cast<int64_t>(getShared()) < 0)
    return emitOpError("shared memory must not be negative, got ")
           << static_cast<int64_t>(getShared());
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernel());
  if (!function)
    return emitOpError("kernel ") << getKernel() << " is not a function";
  size_t arguments = getInputs().size() + getResults().size();
  if (function.getNumArguments() != arguments)
    return emitOpError("kernel ")
           << getKernel() << " takes " << function.getNumArguments()
           << " arguments, the launch has " << arguments
           << " operands and results";
  return success();
}
