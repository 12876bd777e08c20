//===- KernelLibrary.cpp - one kernel per spec and config -----------------===//
//
// Kernels are told apart by the text of their spec and config, which therefore
// lists every field.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/KernelToGPU/KernelLibrary.h"

#include "tessera/Conversion/KernelToGPU/Attention.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"
#include "tessera/Conversion/KernelToGPU/RowKernels.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;

namespace {
/// Joins values to a key; doubles keep all their bits.
struct Key {
  std::string text;
  llvm::raw_string_ostream out{text};

  explicit Key(StringRef family) { out << family; }
  Key &operator<<(double value) {
    out << ' ' << llvm::format_hex(llvm::bit_cast<uint64_t>(value), 18);
    return *this;
  }
  template <typename T>
  std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, Key &>
  operator<<(T value) {
    out << ' ' << static_cast<int64_t>(value);
    return *this;
  }
};
} // namespace

static Key &operator<<(Key &key, const EpilogueSpec &s) {
  return key << s.hasBias << s.activation << s.hasGate << s.gateActivation
             << s.hasResidual;
}

static std::string keyOf(const MatmulSpec &s) {
  const EpilogueSpec &epilogue = s;
  return (Key("matmul") << s.m << s.n << s.k << s.type << s.outType
                        << s.weightOutIn << epilogue)
      .text;
}
static std::string keyOf(const AttentionSpec &s) {
  return (Key("attention") << s.batch << s.seqQ << s.seqKV << s.heads
                           << s.kvHeads << s.headDim << s.type << s.scale
                           << s.causal << s.window)
      .text;
}
static std::string keyOf(const NormSpec &s) {
  return (Key("norm") << s.kind << s.rows << s.cols << s.type << s.eps
                      << s.hasBias << s.hasResidual)
      .text;
}
static std::string keyOf(const RotarySpec &s) {
  return (Key("rotary") << s.batch << s.seq << s.heads << s.headDim
                        << s.rotaryDim << s.positions << s.type)
      .text;
}
static std::string keyOf(const ElementwiseSpec &s) {
  const EpilogueSpec &epilogue = s;
  return (Key("elementwise") << s.rows << s.cols << s.type << epilogue).text;
}
static std::string keyOf(const EmbeddingSpec &s) {
  return (Key("embedding") << s.count << s.rows << s.cols << s.type
                           << s.hasOffset)
      .text;
}
static std::string keyOf(const PositionsSpec &s) {
  return (Key("positions") << s.batch << s.seq << s.cols << s.positions
                           << s.first << s.type << s.hasOffset)
      .text;
}
static std::string keyOf(const CrossEntropySpec &s) {
  return (Key("cross_entropy")
          << s.rows << s.cols << s.vocab << s.type << s.statsOnly)
      .text;
}
static std::string keyOf(const CrossEntropyCombineSpec &s) {
  return (Key("cross_entropy_combine") << s.rows << s.ranks).text;
}
static std::string keyOf(const TokenSumSpec &s) {
  return (Key("token_sum") << s.rows).text;
}
static std::string keyOf(const TokenMeanSpec &) { return "token_mean"; }
static std::string keyOf(const CopySpec &s) {
  Key key("copy");
  key << s.kind << s.rows << s.cols << s.inner;
  key.out << ' ' << s.element;
  return key.text;
}

std::string KernelLibrary::uniqueName(StringRef label) {
  std::string name;
  for (char c : label)
    name.push_back(llvm::isAlnum(c) ? c : '_');
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "k");
  return name + "_" + llvm::utostr(names[name]++);
}

namespace {
/// Builds one kernel; an overload for each family.
struct Build {
  Operation *op;
  Attribute config;
  OpBuilder &builder;
  gpu::GPUModuleOp module;
  std::string name;
  kernels::LaunchShape shape;

  InFlightDiagnostic noConfig(StringRef family) {
    return op->emitError() << "this " << family
                           << " has no configuration yet; the tile phase "
                              "(tessera-select-tiles) chooses one";
  }

  FailureOr<gpu::GPUFuncOp> operator()(const MatmulSpec &spec) {
    auto chosen = dyn_cast_or_null<kernel::MatmulConfigAttr>(config);
    if (!chosen)
      return noConfig("matrix product");
    MatmulConfig how{chosen.getBlockM(), chosen.getBlockN(), chosen.getBlockK(),
                     chosen.getWarpsM(), chosen.getWarpsN(), chosen.getStages(),
                     chosen.getGroupM()};
    FailureOr<gpu::GPUFuncOp> built =
        buildMatmul(builder, module, name, spec, how);
    if (succeeded(built))
      shape = matmulLaunchShape(spec, how);
    return built;
  }

  FailureOr<gpu::GPUFuncOp> operator()(const AttentionSpec &spec) {
    auto chosen = dyn_cast_or_null<kernel::AttentionConfigAttr>(config);
    if (!chosen)
      return noConfig("attention");
    AttentionConfig how{chosen.getBlockQ(), chosen.getBlockKv(),
                        chosen.getWarps(), chosen.getStages()};
    FailureOr<gpu::GPUFuncOp> built =
        buildAttention(builder, module, name, spec, how);
    if (succeeded(built))
      shape = attentionLaunchShape(spec, how);
    return built;
  }

  /// Families without a choice.
  template <typename Spec>
  FailureOr<gpu::GPUFuncOp> operator()(const Spec &spec) {
    std::string why;
    if (!check(spec, why))
      return op->emitError() << "no kernel computes this: " << why;
    shape = launchShape(spec);
    return build(builder, module, name, spec);
  }
};

std::string configText(Attribute config) {
  std::string text;
  if (config)
    llvm::raw_string_ostream(text) << ' ' << config;
  return text;
}
} // namespace

FailureOr<KernelLibrary::Entry> KernelLibrary::get(Operation *op,
                                                   const AnyKernelSpec &spec,
                                                   Attribute config,
                                                   StringRef label) {
  std::string key = std::visit([](const auto &s) { return keyOf(s); }, spec) +
                    configText(config);
  auto found = entries.find(key);
  if (found != entries.end())
    return found->second;
  builder.setInsertionPointToEnd(module.getBody());
  Build build{op, config, builder, module, uniqueName(label), {}};
  FailureOr<gpu::GPUFuncOp> function = std::visit(build, spec);
  if (failed(function) || !*function)
    return failure();
  return entries[key] = Entry{*function, build.shape};
}

FailureOr<KernelLibrary::Entry> KernelLibrary::get(Operation *op,
                                                   const CopySpec &spec) {
  std::string key = keyOf(spec);
  auto found = entries.find(key);
  if (found != entries.end())
    return found->second;
  unsigned bits = spec.element.getIntOrFloatBitWidth();
  if (bits % 8)
    return op->emitError() << "cannot copy elements of type " << spec.element;
  builder.setInsertionPointToEnd(module.getBody());
  FailureOr<gpu::GPUFuncOp> function = buildCopy(
      builder, module,
      uniqueName(spec.kind == CopySpec::Kind::Slice ? "slice" : "transpose"),
      spec);
  if (failed(function))
    return failure();
  return entries[key] = Entry{*function, launchShape(spec)};
}
