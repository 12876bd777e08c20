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

namespace tessera {

/// Implements the interfaces that #kernel.virtual_target and
/// #kernel.binary_table promise.
void registerVirtualTargetInterfaces(mlir::DialectRegistry &registry);

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
