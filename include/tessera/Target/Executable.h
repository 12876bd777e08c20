//===- Executable.h - from lowered modules to a native program --*- C++ -*-===//
//
// The last steps: device modules to a gpu.binary with an image per target, the
// host module to an object, everything linked with the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_EXECUTABLE_H
#define TESSERA_TARGET_EXECUTABLE_H

#include "dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Host module (LLVM dialect and gpu.binary) to LLVM IR. Null after a
/// diagnostic.
std::unique_ptr<llvm::Module> translateHostModule(mlir::ModuleOp module,
                                                  llvm::LLVMContext &context);

/// Object file for the compiling machine's kind of CPU (baseline features).
/// Sets `error` and returns nothing on failure. Changes `module` (optimises).
std::optional<llvm::SmallVector<char, 0>>
emitHostObjectFile(llvm::Module &module, std::string &error);

struct LinkOptions {
  std::string output;
  /// libtessera_rt.a; empty: findRuntimeArchive().
  std::string runtimeArchive;
};

/// The runtime's archive: $TESSERA_RUNTIME_LIB, else lib/libtessera_rt.a beside
/// the folder of the running program (build and install tree). Empty if there
/// is none.
std::string findRuntimeArchive();

/// Path of a C++ compiler driver to link with: $TESSERA_CXX, else clang++-22,
/// clang++, g++, c++ on PATH. Empty if there is none.
std::string findLinker();

/// Links objects and runtime to `options.output`, which appears whole or not at
/// all. Returns "" or what went wrong.
std::string linkExecutable(llvm::ArrayRef<llvm::StringRef> objects,
                           const LinkOptions &options);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Target/Executable/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_TARGET_EXECUTABLE_H
