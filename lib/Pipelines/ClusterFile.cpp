//===- ClusterFile.cpp - clusters written as MLIR -------------------------===//
//
// The rooms that know clusters know no MLIR: here a dictionary attribute
// becomes the JSON that they read.
//
//===----------------------------------------------------------------------===//
#include "ClusterFile.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;

/// Nothing for a kind of attribute that no field has.
static std::optional<llvm::json::Value> toJson(Attribute attribute) {
  using Maybe = std::optional<llvm::json::Value>;
  return llvm::TypeSwitch<Attribute, Maybe>(attribute)
      .Case<BoolAttr>([](BoolAttr a) -> Maybe { return a.getValue(); })
      .Case<IntegerAttr>([](IntegerAttr a) -> Maybe {
        std::optional<int64_t> value = a.getType().isUnsignedInteger()
                                           ? std::nullopt
                                           : a.getValue().trySExtValue();
        return value ? Maybe(*value) : std::nullopt;
      })
      .Case<FloatAttr>([](FloatAttr a) -> Maybe {
        // JSON has no other numbers.
        if (!a.getValue().isFinite())
          return std::nullopt;
        return a.getValueAsDouble();
      })
      .Case<StringAttr>([](StringAttr a) -> Maybe {
        return llvm::json::fixUTF8(a.getValue());
      })
      .Case<DictionaryAttr>([](DictionaryAttr a) -> Maybe {
        llvm::json::Object object;
        for (NamedAttribute entry : a) {
          Maybe value = toJson(entry.getValue());
          if (!value)
            return std::nullopt;
          object[llvm::json::fixUTF8(entry.getName().getValue())] =
              std::move(*value);
        }
        return llvm::json::Value(std::move(object));
      })
      .Default([](Attribute) -> Maybe { return std::nullopt; });
}

llvm::Error tessera::readClusterFile(std::string &cluster) {
  if (llvm::sys::path::extension(cluster) != ".mlir")
    return llvm::Error::success();
  llvm::Expected<std::string> text = readFile(cluster);
  if (!text)
    return text.takeError();
  if (std::optional<size_t> byte = findTooDeep(*text))
    return makeError("'" + llvm::Twine(cluster) +
                     "': nested too deeply at byte " + llvm::Twine(*byte));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TesseraDialect, func::FuncDialect>();
  std::string message;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (message.empty() &&
        diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(*text, ParserConfig(&context), cluster);
  if (!module)
    return makeError("'" + llvm::Twine(cluster) +
                     "': " + (message.empty() ? "holds no module" : message));
  auto fields = module.get()->getAttrOfType<DictionaryAttr>(kClusterAttrName);
  if (!fields)
    return makeError("'" + llvm::Twine(cluster) + "': the module has no '" +
                     kClusterAttrName +
                     "', a dictionary with the fields of a "
                     "cluster");
  std::optional<llvm::json::Value> json = toJson(fields);
  if (!json)
    return makeError("'" + llvm::Twine(cluster) + "': '" + kClusterAttrName +
                     "' may hold numbers, texts, booleans and dictionaries");
  cluster = llvm::formatv("{0}", *json).str();
  return llvm::Error::success();
}
