//===- InterpretPass.cpp - an imported model against reference outputs ----===//
//
// Runs @forward on the tokens and labels of a reference file with the weights
// that `tessera.model` names, and compares nll and loss.
//
//===----------------------------------------------------------------------===//
#include "test/Support/Interpreter/Interpreter.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

struct TestInterpretPass
    : PassWrapper<TestInterpretPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestInterpretPass)
  TestInterpretPass() = default;
  TestInterpretPass(const TestInterpretPass &o) : PassWrapper(o) {}
  StringRef getArgument() const final { return "test-interpret"; }
  StringRef getDescription() const final {
    return "run @forward on the host and compare with reference outputs";
  }
  Option<std::string> reference{*this, "reference",
                                llvm::cl::desc("safetensors file")};
  Option<double> tolerance{*this, "tolerance", llvm::cl::init(1e-4),
                           llvm::cl::desc("largest absolute difference")};

  void runOnOperation() override {
    if (failed(compare(getOperation())))
      signalPassFailure();
  }

  LogicalResult compare(ModuleOp module);
};

/// A tensor of the reference file, whole.
FailureOr<HostTensor> load(const rt::Checkpoint &file, StringRef name,
                           Location loc) {
  const rt::TensorInfo *tensor = file.find(name.str());
  if (!tensor)
    return emitError(loc) << "the reference has no '" << name << "'";
  HostTensor out(tensor->shape);
  for (size_t i = 0; i < out.data.size(); ++i) {
    if (*tensor->dtype == rt::DType::I32) {
      int32_t value;
      std::memcpy(&value, tensor->data + 4 * i, 4);
      out.data[i] = value;
    } else {
      rt::convert(*tensor->dtype, tensor->data + rt::sizeOf(*tensor->dtype) * i,
                  rt::DType::F64, &out.data[i], 1);
    }
  }
  return out;
}

} // namespace

LogicalResult TestInterpretPass::compare(ModuleOp module) {
  Location loc = module.getLoc();
  auto model = module->getAttrOfType<DictionaryAttr>(kModelAttrName);
  auto weights = model ? model.getAs<StringAttr>("weights") : StringAttr();
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!weights || !forward)
    return emitError(loc) << "needs tessera.model with weights and @forward";
  auto checkpoint = rt::Checkpoint::open(weights.str());
  auto file = rt::Checkpoint::open(reference);
  if (!checkpoint || !file)
    return emitError(loc) << checkpoint.message() << file.message();

  Interpreter interpreter(module, *checkpoint);
  std::vector<Ranks> arguments, results;
  for (auto [i, name] :
       llvm::enumerate(ArrayRef<StringRef>{"tokens", "labels"})) {
    FailureOr<HostTensor> input = load(*file, name, loc);
    if (failed(input))
      return failure();
    arguments.push_back(interpreter.split(
        *input,
        interpreter.resolve(forward.getArgAttr(i, kShardingAttrName), 2)));
    auto type = cast<RankedTensorType>(forward.getArgument(i).getType());
    if (arguments.back()[0].shape != type.getShape())
      return emitError(loc)
             << "argument " << i << " has type " << type
             << ", which the reference's " << name << " do not fit";
  }
  if (failed(interpreter.run(forward, arguments, results)))
    return failure();
  for (auto [i, name] : llvm::enumerate(ArrayRef<StringRef>{"nll", "loss"})) {
    FailureOr<HostTensor> expected = load(*file, name, loc);
    if (failed(expected))
      return failure();
    FailureOr<HostTensor> got = interpreter.join(
        results[i], expected->shape,
        interpreter.resolve(forward.getResultAttr(i, kShardingAttrName),
                            expected->shape.size()),
        1e-9);
    if (failed(got))
      return emitError(loc) << "the ranks do not agree on " << name;
    double largest = 0;
    for (size_t j = 0; j < expected->data.size(); ++j) {
      double difference = std::abs(expected->data[j] - got->data[j]);
      if (!(difference <= tolerance))
        return emitError(loc) << name << " " << j << ": expected "
                              << expected->data[j] << ", got " << got->data[j];
      largest = std::max(largest, difference);
    }
    llvm::outs() << name << ": " << expected->data.size()
                 << " values agree within "
                 << llvm::format("%.1e", tolerance.getValue())
                 << " (largest difference " << llvm::format("%.1e", largest)
                 << ")\n";
  }
  return success();
}

namespace tessera::test {
void registerInterpreterTestPasses() { PassRegistration<TestInterpretPass>(); }
} // namespace tessera::test
