//===- VirtualTarget.h - Device code for the virtual GPU --------*- C++ -*-===//
//
// The compiler half of the virtual GPU: NVVM-dialect device code to a host
// object. See docs/virtual-gpu.md for the idea.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TARGET_VIRTUALTARGET_H
#define TESSERA_TARGET_VIRTUALTARGET_H

#include "dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectRegistry.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Implements the interfaces that #kernel.virtual_target and
/// #kernel.binary_table promise.
void registerVirtualTargetInterfaces(mlir::DialectRegistry &registry);

/// A CPU that virtual-GPU code is compiled for.
struct HostCpu {
  std::string name;     ///< as LLVM knows it ("native" resolved)
  std::string features; ///< list for LLVM: "+avx2,-xop"
  /// Names of CpuFeatures.def that the code may use: the program looks for
  /// them when it starts.
  std::vector<std::string> needed;
};

/// The CPU of that name ("x86-64-v3", "znver4", ...; "native": the machine at
/// hand) with further features. Nothing and `why`, with the nearest name, if
/// LLVM's back end for this machine's architecture knows none.
std::optional<HostCpu> findHostCpu(llvm::StringRef name,
                                   llvm::StringRef features, std::string &why);

/// All names of CpuFeatures.def.
llvm::ArrayRef<llvm::StringRef> checkedCpuFeatures();

/// Compiles a lowered gpu.module (after buildDevicePipeline) to a relocatable
/// host object. Emits a diagnostic and returns nothing on failure: an
/// operation that the virtual GPU does not have is an error that names it.
std::optional<llvm::SmallVector<char, 0>>
compileVirtualObject(mlir::gpu::GPUModuleOp module,
                     kernel::VirtualTargetAttr target);

/// Symbol that an object defines: tessera_virtual_object_<module>.
std::string virtualObjectSymbol(llvm::StringRef module);

/// Bytes of the virtual-GPU object of `binary`, which the link step puts on
/// the linker's command line; empty if the binary holds none.
llvm::StringRef extractVirtualObject(mlir::gpu::BinaryOp binary);

} // namespace tessera

#endif // TESSERA_TARGET_VIRTUALTARGET_H
