//===- SerializeKernels.cpp - gpu.module to gpu.binary --------------------===//
//
// Each target works on a clone of the module, since translation may change what
// it reads, so targets can run on several threads.
//
//===----------------------------------------------------------------------===//
#include "ManifestFacts.h"

#include "tessera/Target/Executable.h"
#include "tessera/Target/Ptx.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "lib/Target/Executable/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
/// One module for one target.
struct Task {
  Attribute target;
  OwningOpRef<ModuleOp> holder;
  gpu::ObjectAttr object;
};

struct SerializeKernels
    : tessera::impl::SerializeKernelsBase<SerializeKernels> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void runOnOperation() override {
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    bool assemble = !ptxOnly && !findPtxas().empty();
    if (!assemble && !ptxOnly)
      remarkOnPtx(modules);
    for (gpu::GPUModuleOp module : modules)
      if (failed(serialize(module, assemble)))
        return signalPassFailure();
    if (failed(addManifestFacts(getOperation())))
      signalPassFailure();
  }

  void remarkOnPtx(ArrayRef<gpu::GPUModuleOp> modules);
  LogicalResult serialize(gpu::GPUModuleOp module, bool assemble);
  LogicalResult compile(Task &task, bool assemble, DictionaryAttr properties);
};
} // namespace

/// Says, once, that there is no ptxas.
void SerializeKernels::remarkOnPtx(ArrayRef<gpu::GPUModuleOp> modules) {
  llvm::SetVector<StringRef> chips;
  for (gpu::GPUModuleOp module : modules)
    if (ArrayAttr targets = module.getTargetsAttr())
      for (auto target : targets.getAsRange<Attribute>())
        if (auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target))
          chips.insert(nvvm.getChip());
  if (!chips.empty())
    getOperation().emitRemark()
        << "no ptxas found: the executable carries PTX for "
        << llvm::join(chips, ", ")
        << ", which the driver compiles when the program starts";
}

LogicalResult SerializeKernels::compile(Task &task, bool assemble,
                                        DictionaryAttr properties) {
  auto module = *task.holder->getOps<gpu::GPUModuleOp>().begin();
  Builder builder(module.getContext());
  auto finish = [&](gpu::CompilationTarget format, StringRef bytes) {
    task.object = gpu::ObjectAttr::get(
        task.target, format, builder.getStringAttr(bytes), properties);
    return success();
  };
  if (auto target = dyn_cast<kernel::VirtualTargetAttr>(task.target)) {
    std::optional<SmallVector<char, 0>> object =
        compileVirtualObject(module, target);
    if (!object)
      return failure();
    return finish(gpu::CompilationTarget::Offload,
                  StringRef(object->data(), object->size()));
  }
  auto target = dyn_cast<NVVM::NVVMTargetAttr>(task.target);
  if (!target)
    return module.emitError() << "cannot compile for target " << task.target;
  std::optional<std::string> ptx = emitPtx(module, target.getChip());
  if (!ptx)
    return failure();
  if (!assemble)
    return finish(gpu::CompilationTarget::Assembly, *ptx);
  std::string error;
  std::optional<std::string> cubin = assemblePtx(*ptx, target.getChip(), error);
  if (!cubin)
    return module.emitError()
           << "ptxas failed for " << target.getChip() << ": " << error;
  return finish(gpu::CompilationTarget::Binary, *cubin);
}

LogicalResult SerializeKernels::serialize(gpu::GPUModuleOp module,
                                          bool assemble) {
  if (!module.getTargets())
    return module.emitError("has no targets; run tessera-attach-targets first");
  SmallVector<Task> tasks;
  for (Attribute target : module.getTargetsAttr()) {
    Task task;
    task.target = target;
    task.holder = ModuleOp::create(module.getLoc());
    OpBuilder::atBlockEnd(task.holder->getBody()).clone(*module);
    tasks.push_back(std::move(task));
  }
  // Every object names the kernels in launch order.
  OpBuilder builder(module);
  SmallVector<Attribute> names;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      names.push_back(function.getSymNameAttr());
  auto properties = builder.getDictionaryAttr(
      builder.getNamedAttr("kernels", builder.getArrayAttr(names)));
  if (failed(failableParallelForEach(&getContext(), tasks, [&](Task &task) {
        return compile(task, assemble, properties);
      })))
    return failure();

  SmallVector<Attribute> objects;
  for (Task &task : tasks)
    objects.push_back(task.object);
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                        module.getOffloadingHandlerAttr(), objects);
  module.erase();
  return success();
}
