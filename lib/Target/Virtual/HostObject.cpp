//===- HostObject.cpp - Kernel table and code generation ------------------===//
//
// Adds to the translated module, for each kernel, an entry that unpacks the
// launch arguments, and the table that tessera_virtual_object declares. Every
// other symbol becomes internal, so objects of several modules can be linked
// into one executable.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "tessera/Runtime/BinaryTable.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::vgpu;

namespace {

std::unique_ptr<llvm::TargetMachine>
createMachine(ModuleOp module, StringRef cpu, StringRef features, int level) {
  std::string why;
  std::optional<HostCpu> host = findHostCpu(cpu, features, why);
  if (!host) {
    module.emitError() << "virtual GPU: " << why;
    return nullptr;
  }
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  llvm::TargetOptions options;
  // As the NVPTX back end does: multiply and add fuse.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  options.UseInitArray = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, host->name, host->features, options,
                                  llvm::Reloc::PIC_, std::nullopt,
                                  level == 0 ? llvm::CodeGenOptLevel::None
                                             : llvm::CodeGenOptLevel::Default));
  if (!machine) {
    module.emitError() << "cannot create a target machine for CPU '" << cpu
                       << "'";
    return nullptr;
  }
  return machine;
}

class TableBuilder {
public:
  TableBuilder(llvm::Module &module, const LoweringState &state)
      : module(module), context(module.getContext()), b(context), state(state),
        pointer(b.getPtrTy()), i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  void build(StringRef symbol) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
    SmallVector<llvm::Constant *> texts;
    for (const std::string &text : state.locations.texts())
      texts.push_back(string(text));
    llvm::Constant *locations = array(pointer, texts);

    // Field for field as tessera_virtual_kernel.
    auto *blockType = llvm::ArrayType::get(i32, 3);
    auto *kernelType =
        llvm::StructType::get(context, {pointer, pointer, i64, i64, i32,
                                        pointer, blockType, i32, i32, pointer});
    SmallVector<llvm::Constant *> kernels;
    for (const KernelInfo &kernel : state.kernels) {
      SmallVector<llvm::Constant *> bytes, block;
      for (int64_t size : kernel.paramBytes)
        bytes.push_back(b.getInt64(static_cast<uint64_t>(size)));
      for (unsigned d = 0; d < 3; ++d)
        block.push_back(b.getInt32(kernel.block.empty() ? 0 : kernel.block[d]));
      kernels.push_back(llvm::ConstantStruct::get(
          kernelType,
          {string(kernel.name), entry(kernel), b.getInt64(kernel.sharedBytes),
           b.getInt64(state.frameBytes), b.getInt32(bytes.size()),
           array(i64, bytes), llvm::ConstantArray::get(blockType, block),
           b.getInt32(state.instrument), b.getInt32(texts.size()), locations}));
    }
    auto *objectType = llvm::StructType::get(context, {i32, i32, pointer});
    auto *object = llvm::ConstantStruct::get(
        objectType, {b.getInt32(TESSERA_VIRTUAL_OBJECT_VERSION),
                     b.getInt32(kernels.size()), array(kernelType, kernels)});
    new llvm::GlobalVariable(module, objectType, /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, object,
                             symbol);
  }

private:
  llvm::Constant *string(StringRef text) {
    return b.CreateGlobalString(text, "", 0, &module);
  }

  llvm::Constant *array(llvm::Type *element,
                        ArrayRef<llvm::Constant *> values) {
    if (values.empty())
      return llvm::ConstantPointerNull::get(b.getPtrTy());
    auto *type = llvm::ArrayType::get(element, values.size());
    return new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, values));
  }

  /// void entry(self, params): load the arguments and run the thread.
  llvm::Function *entry(const KernelInfo &kernel) {
    llvm::Function *body = module.getFunction(kernel.name);
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer},
                                         /*isVarArg=*/false);
    auto *function =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                               kernel.name + ".entry", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    SmallVector<llvm::Value *> arguments;
    for (unsigned i = 0; i + 1 < body->arg_size(); ++i) {
      llvm::Value *slot =
          b.CreateConstInBoundsGEP1_64(pointer, function->getArg(1), i);
      llvm::Value *address = b.CreateLoad(pointer, slot);
      arguments.push_back(b.CreateLoad(body->getArg(i)->getType(), address));
    }
    arguments.push_back(function->getArg(0));
    b.CreateCall(body, arguments);
    b.CreateRetVoid();
    return function;
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  const LoweringState &state;
  llvm::Type *pointer, *i32, *i64;
};

/// LLVM's own -O3 spends most of its time on dead stores, on alias questions
/// about the many slots of a frame and on vectorising, with nothing to win:
/// kernels come unrolled, vectorised and inlined. (Measured: two thirds of the
/// time, equal kernels.)
constexpr StringLiteral kPipeline =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>),"
    "cgscc(inline),"
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,reassociate,loop-mssa(loop-rotate,licm),early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg),"
    "globaldce";

bool optimize(ModuleOp source, llvm::Module &module,
              llvm::TargetMachine &machine, int level) {
  if (level == 0)
    return true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPipeline)) {
    source.emitError() << "optimisation pipeline: "
                       << llvm::toString(std::move(error));
    return false;
  }
  passes.run(module, modules);
  return true;
}

} // namespace

std::string tessera::virtualObjectSymbol(StringRef module) {
  return "tessera_virtual_object_" + module.str();
}

std::optional<SmallVector<char, 0>>
tessera::vgpu::emitHostObject(LoweringState &state, StringRef moduleName,
                              StringRef cpu, StringRef features, int optLevel) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(state.module, cpu, features, optLevel);
  if (!machine)
    return std::nullopt;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(state.module, context, moduleName);
  if (!module) {
    state.module.emitError("cannot translate device code to LLVM IR");
    return std::nullopt;
  }
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  TableBuilder(*module, state).build(virtualObjectSymbol(moduleName));
  for (llvm::Function &function : *module)
    function.addFnAttr(llvm::Attribute::NoUnwind);
  if (!optimize(state.module, *module, *machine, optLevel))
    return std::nullopt;
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile)) {
    state.module.emitError("the host target cannot emit objects");
    return std::nullopt;
  }
  codegen.run(*module);
  return object;
}
