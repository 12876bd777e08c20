//===- KernelHarness.cpp - Try one kernel without a program ---------------===//
//
// The virtual-GPU object is loaded by LLVM's JIT linker, straight from memory:
// no linker process, no file, no exported symbols of the test program.
//
//===----------------------------------------------------------------------===//

#include "tessera/Target/KernelHarness.h"

#include "tessera/Target/VirtualTarget.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Diagnostics of a scope as text.
class Capture {
public:
  explicit Capture(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          llvm::raw_string_ostream stream(text);
          stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
          for (Diagnostic &note : diagnostic.getNotes())
            stream << "  note: " << note << "\n";
          return success();
        }) {}
  std::string take() { return std::move(text); }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

std::string load(llvm::orc::LLJIT &jit, ArrayRef<char> object, StringRef symbol,
                 const tessera_virtual_object *&result) {
  auto text = [](llvm::Error error) {
    return llvm::toString(std::move(error));
  };
  size_t count = 0;
  const tessera_virtual_symbol *symbols = tessera_virtual_symbols(&count);
  llvm::orc::SymbolMap map;
  for (size_t i = 0; i < count; ++i)
    map[jit.mangleAndIntern(symbols[i].name)] = {
        llvm::orc::ExecutorAddr::fromPtr(symbols[i].address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  llvm::orc::JITDylib &library = jit.getMainJITDylib();
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(map)))
    return text(std::move(error));
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return text(process.takeError());
  library.addGenerator(std::move(*process));
  if (llvm::Error error =
          jit.addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
              StringRef(object.data(), object.size()), symbol)))
    return text(std::move(error));
  auto address = jit.lookup(symbol);
  if (!address)
    return text(address.takeError());
  result = address->toPtr<const tessera_virtual_object *>();
  return "";
}
} // namespace

struct KernelHarness::Impl {
  OwningOpRef<ModuleOp> module;
  gpu::GPUModuleOp device;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const tessera_virtual_object *object = nullptr;
};

KernelHarness::KernelHarness() : impl(std::make_unique<Impl>()) {}
KernelHarness::~KernelHarness() = default;

const DialectRegistry &KernelHarness::registry() {
  static const DialectRegistry *instance = [] {
    auto *registry = new DialectRegistry;
    registerDeviceDialects(*registry);
    registerVirtualTargetInterfaces(*registry);
    return registry;
  }();
  return *instance;
}

std::unique_ptr<KernelHarness>
KernelHarness::create(ModuleOp module, std::string &error,
                      const HarnessOptions &options) {
  std::unique_ptr<KernelHarness> harness(new KernelHarness);
  Impl &impl = *harness->impl;
  MLIRContext *context = module.getContext();
  context->getOrLoadDialect<kernel::KernelDialect>();
  impl.module = module.clone();
  auto devices = impl.module->getOps<gpu::GPUModuleOp>();
  if (std::distance(devices.begin(), devices.end()) != 1) {
    error = "expected exactly one gpu.module";
    return nullptr;
  }
  impl.device = *devices.begin();
  Capture capture(context);
  context->printOpOnDiagnostic(false);
  PassManager passes(context);
  buildDevicePipeline(passes, options.pipeline);
  if (failed(passes.run(*impl.module))) {
    error = capture.take();
    if (error.empty())
      error = "the device pipeline failed";
    return nullptr;
  }
  auto target = kernel::VirtualTargetAttr::get(
      context, static_cast<int>(options.optLevel), "native", "",
      options.instrument);
  auto object = compileVirtualObject(impl.device, target);
  if (!object) {
    error = capture.take();
    return nullptr;
  }
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return nullptr;
  }
  impl.jit = std::move(*jit);
  error = load(*impl.jit, *object, virtualObjectSymbol(impl.device.getName()),
               impl.object);
  return error.empty() ? std::move(harness) : nullptr;
}

std::string KernelHarness::launch(StringRef kernel, const LaunchShape &shape,
                                  std::vector<KernelArg> args,
                                  const LaunchOptions &options) {
  const tessera_virtual_object &object = *impl->object;
  uint32_t index = 0;
  while (index < object.num_kernels && kernel != object.kernels[index].name)
    ++index;
  if (index == object.num_kernels)
    return "no kernel named '" + kernel.str() + "'";
  if (object.kernels[index].num_params != args.size())
    return "kernel '" + kernel.str() + "' takes " +
           std::to_string(object.kernels[index].num_params) +
           " arguments, got " + std::to_string(args.size());
  tessera_virtual_options before, now = {};
  tessera_virtual_get_options(&before);
  now.seed = options.seed;
  now.threads = options.threads;
  now.check = options.check;
  now.count = options.count;
  now.simd = options.simd;
  tessera_virtual_set_options(&now);
  std::vector<void *> params;
  for (KernelArg &arg : args)
    params.push_back(arg.address());
  int code = tessera_virtual_launch(&object, index, shape.grid, shape.block,
                                    shape.dynamicSharedBytes, params.data());
  tessera_virtual_set_options(&before);
  return code ? tessera_virtual_last_error() : "";
}

std::string KernelHarness::ptx(StringRef chip, std::string &error) {
  Capture capture(impl->module->getContext());
  std::optional<std::string> text = emitPtx(impl->device, chip);
  error = text ? "" : capture.take();
  return text.value_or("");
}

std::string KernelHarness::cubin(StringRef chip, std::string &error,
                                 std::vector<KernelResources> *resources) {
  std::string text = ptx(chip, error);
  if (text.empty())
    return "";
  return assemblePtx(text, chip, error, resources).value_or("");
}

ModuleOp KernelHarness::lowered() { return *impl->module; }
