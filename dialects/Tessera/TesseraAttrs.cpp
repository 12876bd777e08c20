//===- TesseraAttrs.cpp - parsing, printing and checking attributes -------===//
#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

#include "dialects/Tessera/TesseraEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tessera/TesseraAttrs.cpp.inc"

void TesseraDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tessera/TesseraAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshAttr: <"dp" = 2, "tp" = 4>
//===----------------------------------------------------------------------===//

Mesh MeshAttr::getMesh() const {
  Mesh mesh;
  for (auto [name, size] : llvm::zip_equal(getNames(), getSizes()))
    mesh.axes.push_back({name.str(), size});
  return mesh;
}

MeshAttr MeshAttr::get(MLIRContext *context, const Mesh &mesh) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : mesh.axes) {
    names.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return get(context, names, sizes);
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  if (names.size() != sizes.size())
    return emitError() << "mesh has " << names.size() << " axis names but "
                       << sizes.size() << " sizes";
  for (auto [i, name] : llvm::enumerate(names)) {
    if (name.getValue().empty())
      return emitError() << "mesh axis " << i << " has an empty name";
    if (llvm::is_contained(names.take_front(i), name))
      return emitError() << "mesh axis '" << name.getValue()
                         << "' occurs twice";
    if (sizes[i] < 1)
      return emitError() << "mesh axis '" << name.getValue()
                         << "' must have a positive size, got " << sizes[i];
  }
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto axis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    sizes.push_back(size);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, axis))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip_equal(getNames(), getSizes()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ShardingAttr: <[{"dp"}, {}, {"tp"}] partial sum {"ep"}>
//===----------------------------------------------------------------------===//

static ParseResult parseAxes(AsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto axis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, axis))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxes(AsmPrinter &printer, ArrayAttr axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer);
  printer << '}';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dims, ArrayAttr partial,
                                   ReductionKind) {
  SmallVector<Attribute> seen;
  auto check = [&](ArrayAttr list) -> LogicalResult {
    for (Attribute axis : list) {
      if (!isa<StringAttr>(axis))
        return emitError() << "sharding axis must be a string, got " << axis;
      if (llvm::is_contained(seen, axis))
        return emitError() << "mesh axis " << axis
                           << " occurs twice in one sharding";
      seen.push_back(axis);
    }
    return success();
  };
  for (ArrayAttr dim : dims)
    if (failed(check(dim)))
      return failure();
  return check(partial);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<ArrayAttr> dims;
  ArrayAttr partial = parser.getBuilder().getArrayAttr({});
  ReductionKind kind = ReductionKind::Sum;
  auto dim = [&]() -> ParseResult {
    dims.emplace_back();
    return parseAxes(parser, dims.back());
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, dim))
    return {};
  if (succeeded(parser.parseOptionalKeyword("partial"))) {
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    if (word != "sum" && word != "max") {
      parser.emitError(at) << "expected 'sum' or 'max', got '" << word << "'";
      return {};
    }
    kind = word == "sum" ? ReductionKind::Sum : ReductionKind::Max;
    if (parseAxes(parser, partial))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), dims,
                                         partial, kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer,
                        [&](ArrayAttr dim) { printAxes(printer, dim); });
  printer << ']';
  if (!getPartial().empty()) {
    printer << " partial "
            << (getKind() == ReductionKind::Sum ? "sum " : "max ");
    printAxes(printer, getPartial());
  }
  printer << '>';
}

llvm::Expected<TensorSharding> ShardingAttr::resolve(const Mesh &mesh) const {
  TensorSharding sharding;
  sharding.kind = getKind();
  std::string unknown;
  auto resolveList = [&](ArrayAttr names, AxisList &axes) {
    for (auto name : names.getAsRange<StringAttr>()) {
      if (std::optional<Axis> axis = mesh.lookup(name.getValue()))
        axes.push_back(*axis);
      else
        unknown = name.str();
    }
  };
  for (ArrayAttr dim : getDims())
    resolveList(dim, sharding.dims.emplace_back());
  resolveList(getPartial(), sharding.partial);
  if (!unknown.empty())
    return llvm::createStringError("the mesh has no axis '" + unknown + "'");
  return sharding;
}

ShardingAttr ShardingAttr::get(MLIRContext *context, const Mesh &mesh,
                               const TensorSharding &sharding) {
  auto list = [&](const AxisList &axes) {
    SmallVector<Attribute> names;
    for (Axis axis : axes)
      names.push_back(StringAttr::get(context, mesh.axes[axis].name));
    return ArrayAttr::get(context, names);
  };
  SmallVector<ArrayAttr> dims;
  for (const AxisList &dim : sharding.dims)
    dims.push_back(list(dim));
  return get(context, dims, list(sharding.partial), sharding.kind);
}

//===----------------------------------------------------------------------===//
// CheckpointAttr: <"name" view [768, 3, 768] dim 1 index 0>
//===----------------------------------------------------------------------===//

Attribute CheckpointAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SmallVector<int64_t> reshape;
  int64_t dim = 0, index = 0;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalKeyword("view"))) {
    auto size = [&]() -> ParseResult {
      return parser.parseInteger(reshape.emplace_back());
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, size) ||
        parser.parseKeyword("dim") || parser.parseInteger(dim) ||
        parser.parseKeyword("index") || parser.parseInteger(index))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getStringAttr(name),
             reshape, dim, index);
}

void CheckpointAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName();
  if (!getReshape().empty()) {
    printer << " view [";
    llvm::interleaveComma(getReshape(), printer);
    printer << "] dim " << getDim() << " index " << getIndex();
  }
  printer << '>';
}
