//===- EmitKernels.cpp - device images of the checked kernels -------------===//
//
// Compiles the kernels of Cases.h the way the compiler does (the same builders,
// device pipeline and images) and writes two objects for gpu-check to link:
// kernels.o with the tables of images and the launches, virtual.o with the code
// for the virtual GPU. Large cases are compiled for real devices only.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "tessera/Conversion/KernelToGPU/Attention.h"
#include "tessera/Conversion/KernelToGPU/Copy.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"
#include "tessera/Conversion/KernelToGPU/RowKernels.h"
#include "tessera/Pipelines/Registration.h"
#include "tessera/Support/File.h"
#include "tessera/Target/DeviceBinary.h"
#include "tessera/Target/DevicePipeline.h"
#include "tessera/Target/Executable.h"
#include "tessera/Target/Ptx.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::check;
using tessera::kernels::ChipLimits;
using tessera::kernels::LaunchShape;

namespace {
llvm::cl::opt<std::string> folder("o", llvm::cl::desc("output folder"),
                                  llvm::cl::Required);
llvm::cl::list<std::string> chips("chip", llvm::cl::CommaSeparated,
                                  llvm::cl::desc("sm_80,sm_90"));
llvm::cl::opt<bool> ptxOnly("ptx-only", llvm::cl::desc("no cubins"));
llvm::cl::opt<bool> noLarge("no-large",
                            llvm::cl::desc("leave the large cases out"));

/// A kernel that was built.
struct Built {
  std::string name;
  LaunchShape shape;
};

/// Adds the kernel of one case to `module`.
struct CaseBuilder {
  OpBuilder &builder;
  gpu::GPUModuleOp module;
  const Case &item;
  /// A configuration that runs on all chips.
  ChipLimits limits = *kernels::chipLimits(80);
  std::string error = {};

  FailureOr<LaunchShape> operator()(const kernels::MatmulSpec &spec) {
    kernels::MatmulConfig config =
        item.matmulConfig ? *item.matmulConfig
                          : kernels::defaultMatmulConfig(spec, limits);
    if (failed(kernels::checkMatmul(spec, config, limits, error)) ||
        failed(kernels::buildMatmul(builder, module, item.name, spec, config)))
      return failure();
    return kernels::matmulLaunchShape(spec, config);
  }
  FailureOr<LaunchShape> operator()(const kernels::AttentionSpec &spec) {
    if (failed(kernels::checkAttention(spec, error)))
      return failure();
    kernels::AttentionConfig config =
        kernels::defaultAttentionConfig(spec, limits);
    if (failed(
            kernels::buildAttention(builder, module, item.name, spec, config)))
      return failure();
    return kernels::attentionLaunchShape(spec, config);
  }
  FailureOr<LaunchShape> operator()(const CopyCase &copy) {
    kernels::CopySpec spec;
    spec.kind = copy.slice ? kernels::CopySpec::Kind::Slice
                           : kernels::CopySpec::Kind::Transpose;
    spec.rows = copy.rows, spec.cols = copy.cols, spec.inner = copy.inner;
    spec.element = copy.type == kernels::Element::F32
                       ? Type(builder.getF32Type())
                       : Type(builder.getBF16Type());
    if (failed(kernels::buildCopy(builder, module, item.name, spec)))
      return failure();
    return kernels::launchShape(spec);
  }
  template <typename Spec>
  FailureOr<LaunchShape> operator()(const Spec &spec) {
    if (!kernels::check(spec, error))
      return failure();
    kernels::build(builder, module, item.name, spec);
    return kernels::launchShape(spec);
  }
};

gpu::GPUModuleOp makeModule(OpBuilder &builder, StringRef name,
                            bool virtualGpu) {
  MLIRContext *context = builder.getContext();
  auto module =
      gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(), name);
  SmallVector<Attribute> targets;
  for (const std::string &chip : chips)
    targets.push_back(NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3,
                                                "nvptx64-nvidia-cuda", chip,
                                                ptxFeaturesForChip(chip)));
  if (virtualGpu)
    targets.push_back(kernel::VirtualTargetAttr::get(context, /*O=*/3, "native",
                                                     "", /*instrument=*/false));
  module.setTargetsAttr(builder.getArrayAttr(targets));
  module.setOffloadingHandlerAttr(kernel::BinaryTableAttr::get(context));
  return module;
}

/// Field for field as tessera_check_launch.
void addLaunches(llvm::Module &host, ModuleOp module, ArrayRef<Built> built) {
  llvm::IRBuilder<> b(host.getContext());
  llvm::Type *i64 = b.getInt64Ty(), *i32 = b.getInt32Ty();
  auto *three = llvm::ArrayType::get(i64, 3);
  auto *type = llvm::StructType::get(host.getContext(),
                                     {b.getPtrTy(), i32, i32, three, three});
  auto dims = [&](const std::array<int64_t, 3> &d) {
    return llvm::ConstantArray::get(
        three, {b.getInt64(d[0]), b.getInt64(d[1]), b.getInt64(d[2])});
  };
  SmallVector<llvm::Constant *> launches;
  for (const Built &one : built)
    for (auto binary : module.getOps<gpu::BinaryOp>()) {
      SmallVector<StringRef> names = kernelNames(binary);
      auto *place = llvm::find(names, one.name);
      if (place == names.end())
        continue;
      llvm::GlobalVariable *table = host.getGlobalVariable(
          ("tessera_binary_table_" + binary.getName()).str(),
          /*AllowInternal=*/true);
      launches.push_back(llvm::ConstantStruct::get(
          type, {table, b.getInt32(place - names.begin()),
                 b.getInt32(one.shape.dynamicSharedBytes), dims(one.shape.grid),
                 dims(one.shape.block)}));
    }
  auto *list = llvm::ArrayType::get(type, launches.size());
  new llvm::GlobalVariable(host, list, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantArray::get(list, launches),
                           "tessera_check_launches");
  new llvm::GlobalVariable(host, i64, true, llvm::GlobalValue::ExternalLinkage,
                           b.getInt64(launches.size()),
                           "tessera_check_num_launches");
}

int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

int writeObject(StringRef name, StringRef bytes) {
  std::string path = folder + "/" + name.str();
  if (llvm::Error error = writeFileAtomically(
          path, [&](llvm::raw_ostream &out) { out << bytes; }))
    return fail(llvm::toString(std::move(error)));
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "compiles the kernels of gpu-check\n");
  for (const std::string &chip : chips)
    if (ptxFeaturesForChip(chip).empty())
      return fail("unknown chip '" + chip + "'");
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  gpu::GPUModuleOp small = makeModule(builder, "check", true);
  gpu::GPUModuleOp large;
  if (!noLarge && !chips.empty())
    large = makeModule(builder, "large", false);
  SmallVector<Built> built;
  for (const Case &item : allCases()) {
    if (item.large && !large)
      continue;
    CaseBuilder build{builder, item.large ? large : small, item};
    builder.setInsertionPointToEnd(build.module.getBody());
    FailureOr<LaunchShape> shape = std::visit(build, item.spec);
    if (failed(shape))
      return fail(item.name + ": " + build.error);
    built.push_back({item.name, *shape});
  }

  PassManager pm(&context);
  buildDevicePipeline(pm);
  SerializeKernelsOptions options;
  options.ptxOnly = ptxOnly;
  pm.addPass(createSerializeKernels(options));
  if (failed(pm.run(*module)))
    return 1;

  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> host =
      translateHostModule(*module, llvmContext);
  if (!host)
    return 1;
  addLaunches(*host, *module, built);
  std::string error;
  auto object = emitHostObjectFile(*host, error);
  if (!object)
    return fail(error);
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return fail("cannot create '" + folder + "': " + code.message());
  if (int failed = writeObject("kernels.o", {object->data(), object->size()}))
    return failed;
  for (auto binary : module->getOps<gpu::BinaryOp>())
    if (StringRef bytes = extractVirtualObject(binary); !bytes.empty())
      if (int failed = writeObject("virtual.o", bytes))
        return failed;
  return 0;
}
