//===- KernelsPass.cpp - groups and copies become launches ----------------===//
#include "dialects/Tessera/TesseraDialect.h"
#include "lib/Conversion/KernelToGPU/KernelLibrary.h"
#include "tessera/Analysis/ArenaPlan.h"
#include "tessera/Conversion/KernelToGPU/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_KERNELS
#include "lib/Conversion/KernelToGPU/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// A launch of `entry` in place of `op`.
static kernel::LaunchOp
replaceByLaunch(Operation *op, KernelLibrary::Entry entry, ValueRange inputs,
                ArrayRef<unsigned> outputs, ArrayRef<int64_t> inPlace,
                StringAttr label) {
  OpBuilder builder(op);
  auto kernel = SymbolRefAttr::get(
      builder.getStringAttr(kKernelModuleName),
      FlatSymbolRefAttr::get(op->getContext(), entry.function.getName()));
  SmallVector<Type> types;
  for (unsigned output : outputs)
    types.push_back(op->getResult(output).getType());
  auto launch = kernel::LaunchOp::create(
      builder, op->getLoc(), types, kernel, entry.shape.grid, entry.shape.block,
      entry.shape.dynamicSharedBytes, inputs, label,
      inPlace.empty() ? DenseI64ArrayAttr()
                      : builder.getDenseI64ArrayAttr(inPlace));
  for (auto [i, output] : llvm::enumerate(outputs))
    op->getResult(output).replaceAllUsesWith(launch.getResult(i));
  op->erase();
  return launch;
}

static LogicalResult convert(kernel::GroupOp group, KernelLibrary &library) {
  FailureOr<GroupKernel> kernel = groupToSpec(group);
  if (failed(kernel))
    return failure();
  FailureOr<KernelLibrary::Entry> entry =
      library.get(group, kernel->spec, group.getConfigAttr(), group.getLabel());
  if (failed(entry))
    return failure();
  SmallVector<Value> inputs;
  SmallVector<int64_t> inPlace;
  for (auto [i, input] : llvm::enumerate(kernel->inputs)) {
    inputs.push_back(group.getInputs()[input]);
    for (auto [j, output] : llvm::enumerate(kernel->outputs))
      if (mayShareStorage(group, input, output))
        inPlace.append({int64_t(i), int64_t(j)});
  }
  if (kernel->offset)
    inputs.push_back(group.getInputs()[*kernel->offset]);
  replaceByLaunch(group, *entry, inputs, kernel->outputs, inPlace,
                  group.getLabelAttr());
  return success();
}

static LogicalResult convert(kernel::TransposeOp op, KernelLibrary &library) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  kernels::CopySpec spec;
  spec.rows = op.getRows();
  spec.cols = op.getCols();
  spec.inner = type.getNumElements() / (spec.rows * spec.cols);
  spec.element = type.getElementType();
  FailureOr<KernelLibrary::Entry> entry = library.get(op, spec);
  if (failed(entry))
    return failure();
  replaceByLaunch(op, *entry, op.getX(), {0}, {},
                  StringAttr::get(op.getContext(), "transpose"));
  return success();
}

static LogicalResult convert(SliceOp op, KernelLibrary &library) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  kernels::CopySpec spec;
  spec.kind = kernels::CopySpec::Kind::Slice;
  for (int64_t size : type.getShape().take_front(op.getDim()))
    spec.rows *= size;
  spec.cols = op.getGroupSize();
  spec.inner = type.getNumElements() / (spec.rows * spec.cols);
  spec.element = type.getElementType();
  FailureOr<KernelLibrary::Entry> entry = library.get(op, spec);
  if (failed(entry))
    return failure();
  OpBuilder builder(op);
  Value index = AxisIndexOp::create(builder, op.getLoc(),
                                    builder.getIndexType(), op.getAxes());
  replaceByLaunch(op, *entry, {op.getX(), index}, {0}, {},
                  StringAttr::get(op.getContext(), "slice"));
  return success();
}

namespace {
struct Kernels : tessera::impl::KernelsBase<Kernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (Operation *taken = module.lookupSymbol(kKernelModuleName)) {
      taken->emitError() << "'" << kKernelModuleName
                         << "' is the name of the module of generated kernels";
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto device =
        gpu::GPUModuleOp::create(builder, module.getLoc(), kKernelModuleName);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
    KernelLibrary library(device);
    SmallVector<Operation *> work;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (isa<kernel::GroupOp, kernel::TransposeOp, SliceOp>(op))
          work.push_back(op);
      });
    for (Operation *op : work) {
      LogicalResult done =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<kernel::GroupOp, kernel::TransposeOp, SliceOp>(
                  [&](auto typed) { return convert(typed, library); });
      if (failed(done))
        return signalPassFailure();
    }
    numKernels += library.size();
    numLaunches += work.size();
  }
};
} // namespace
