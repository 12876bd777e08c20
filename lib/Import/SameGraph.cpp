//===- SameGraph.cpp - two graphs compared from their results -------------===//
//
// Walks both graphs backwards from the results together; a pair of values that
// was found equal is not visited again. Ops that no result depends on do not
// count.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/GraphConfig.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tessera;

namespace {
class Comparison {
public:
  Comparison(ModuleOp given, ModuleOp expected, std::string &why)
      : given(given), expected(expected), why(why) {}

  bool sameFunction(func::FuncOp a, func::FuncOp b);

private:
  bool same(Value a, Value b);
  bool sameOp(Operation *a, Operation *b);
  bool differs(Operation *a, const llvm::Twine &what) {
    why = ("'" + a->getName().getStringRef() + "' in @" +
           a->getParentOfType<func::FuncOp>().getSymName() +
           " is not what a model of a known form has there: " + what)
              .str();
    return false;
  }

  ModuleOp given, expected;
  std::string &why;
  DenseMap<Value, Value> equal;
};
} // namespace

bool Comparison::sameOp(Operation *a, Operation *b) {
  if (a->getName() != b->getName())
    return differs(a, "expected '" + b->getName().getStringRef() + "'");
  if (a->getResultTypes() != b->getResultTypes()) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected " << b->getResultTypes()
                                   << ", got " << a->getResultTypes();
    return differs(a, text);
  }
  if (auto callA = dyn_cast<LayersOp>(a)) {
    auto callB = cast<LayersOp>(b);
    if (callA.getFirst() != callB.getFirst() ||
        callA.getCount() != callB.getCount())
      return differs(a, "expected first " + llvm::Twine(callB.getFirst()) +
                            " count " + llvm::Twine(callB.getCount()));
    auto blockA = given.lookupSymbol<func::FuncOp>(callA.getBlock());
    auto blockB = expected.lookupSymbol<func::FuncOp>(callB.getBlock());
    return sameFunction(blockA, blockB);
  }
  if (a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute()) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "expected attributes " << b->getPropertiesAsAttribute() << ", got "
        << a->getPropertiesAsAttribute();
    return differs(a, text);
  }
  return true;
}

bool Comparison::same(Value a, Value b) {
  auto known = equal.find(a);
  if (known != equal.end() && known->second == b)
    return true;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!opA || !opB) {
    auto argA = dyn_cast<BlockArgument>(a), argB = dyn_cast<BlockArgument>(b);
    if (argA && argB && argA.getArgNumber() == argB.getArgNumber())
      return true;
    if (why.empty())
      why = opA ? ("'" + opA->getName().getStringRef() +
                   "' stands where a model of a known form has the function's "
                   "argument")
                      .str()
                : ("an argument is used where a model of a known form has '" +
                   opB->getName().getStringRef() + "'")
                      .str();
    return false;
  }
  if (cast<OpResult>(a).getResultNumber() !=
      cast<OpResult>(b).getResultNumber())
    return differs(opA, "another of its results is used");
  if (!sameOp(opA, opB))
    return false;
  if (opA->getNumOperands() != opB->getNumOperands())
    return differs(opA, "expected " + llvm::Twine(opB->getNumOperands()) +
                            " operands, got " +
                            llvm::Twine(opA->getNumOperands()));
  auto operandsAre = [&](ValueRange order) {
    return llvm::all_of(
        llvm::zip_equal(order, opB->getOperands()),
        [&](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); });
  };
  if (!operandsAre(opA->getOperands())) {
    if (!isa<AddOp>(opA))
      return false;
    std::string first = std::move(why);
    why.clear();
    SmallVector<Value> swapped{opA->getOperand(1), opA->getOperand(0)};
    if (!operandsAre(swapped)) {
      why = std::move(first);
      return false;
    }
  }
  equal[a] = b;
  return true;
}

bool Comparison::sameFunction(func::FuncOp a, func::FuncOp b) {
  if (a.getFunctionType() != b.getFunctionType()) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "@" << a.getSymName() << " has type " << a.getFunctionType()
        << ", expected " << b.getFunctionType();
    why = text;
    return false;
  }
  ValueRange resultsA = a.getBody().front().getTerminator()->getOperands();
  ValueRange resultsB = b.getBody().front().getTerminator()->getOperands();
  return llvm::all_of(llvm::zip_equal(resultsA, resultsB), [&](auto pair) {
    return same(std::get<0>(pair), std::get<1>(pair));
  });
}

static func::FuncOp entryOf(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.getOps<LayersOp>().empty())
      entry = function;
  return entry;
}

bool tessera::isSameGraph(ModuleOp given, ModuleOp expected, std::string &why) {
  why.clear();
  return Comparison(given, expected, why)
      .sameFunction(entryOf(given), entryOf(expected));
}

llvm::Expected<ModelConfig> tessera::readGraphConfig(llvm::StringRef path) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TesseraDialect, func::FuncDialect>();
  std::string message;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
        !message.empty())
      return;
    if (auto where = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      message = ("line " + llvm::Twine(where.getLine()) + ": ").str();
    message += diagnostic.str();
  });
  llvm::Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  if (std::optional<size_t> byte = findTooDeep(*text))
    return makeError("'" + path + "': nested too deeply at byte " +
                     llvm::Twine(*byte));
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(*text, ParserConfig(&context), path);
  if (!module)
    return makeError("'" + path +
                     "': " + (message.empty() ? "holds no module" : message));
  llvm::Expected<ModelConfig> config = configOfGraph(*module);
  if (!config)
    return makeError("'" + path + "': " + llvm::toString(config.takeError()));
  return config;
}
