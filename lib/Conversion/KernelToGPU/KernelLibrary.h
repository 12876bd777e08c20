//===- KernelLibrary.h - one kernel per spec and config ---------*- C++ -*-===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_KERNELLIBRARY_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_KERNELLIBRARY_H

#include "tessera/Conversion/KernelToGPU/Copy.h"
#include "tessera/Conversion/KernelToGPU/GroupToSpec.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tessera {

/// Builds kernels into one gpu.module and hands out the one that exists.
class KernelLibrary {
public:
  struct Entry {
    mlir::gpu::GPUFuncOp function;
    kernels::LaunchShape shape;
  };

  explicit KernelLibrary(mlir::gpu::GPUModuleOp module)
      : module(module), builder(module.getContext()) {}

  /// The kernel for a group's spec; `config` is the group's attribute. Errors
  /// are reported at `op`. `label` is for people.
  mlir::FailureOr<Entry> get(mlir::Operation *op, const AnyKernelSpec &spec,
                             mlir::Attribute config, llvm::StringRef label);
  mlir::FailureOr<Entry> get(mlir::Operation *op,
                             const kernels::CopySpec &spec);

  unsigned size() const { return entries.size(); }

private:
  std::string uniqueName(llvm::StringRef label);

  mlir::gpu::GPUModuleOp module;
  mlir::OpBuilder builder;
  llvm::StringMap<Entry> entries; ///< by spec and config as text
  llvm::StringMap<unsigned> names;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_KERNELLIBRARY_H
