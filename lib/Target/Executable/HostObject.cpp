//===- HostObject.cpp - the host module as an object file -----------------===//
#include "tessera/Target/Executable.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace tessera;

std::unique_ptr<llvm::Module>
tessera::translateHostModule(ModuleOp module, llvm::LLVMContext &context) {
  return translateModuleToLLVMIR(module, context, "tessera");
}

/// The machine that the compiler runs on, baseline instructions.
static std::unique_ptr<llvm::TargetMachine> hostMachine(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, /*CPU=*/"", /*Features=*/"", {}, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

std::optional<SmallVector<char, 0>>
tessera::emitHostObjectFile(llvm::Module &module, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine(error);
  if (!machine)
    return std::nullopt;
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());

  llvm::PassBuilder builder(machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1)
      .run(module, modules);

  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile)) {
    error = "LLVM cannot write object files for this machine";
    return std::nullopt;
  }
  emission.run(module);
  return bytes;
}
