//===- DeviceBinary.h - All objects of a gpu.module -------------*- C++ -*-===//

#ifndef TESSERA_TARGET_DEVICEBINARY_H
#define TESSERA_TARGET_DEVICEBINARY_H

#include "tessera/Target/VirtualTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace tessera {

struct DeviceBinaryOptions {
  /// Chips to compile for, "sm_80" or "sm_90a"; may be empty.
  std::vector<std::string> chips;
  /// Assemble to cubins. Without, the driver compiles the PTX at run time.
  bool cubin = true;
  /// Compile for the virtual GPU, with this attribute.
  kernel::VirtualTargetAttr virtualTarget;
};

/// Replaces a lowered gpu.module (after buildDevicePipeline) by a gpu.binary of
/// the same name, with handler #kernel.binary_table and one object per chip and
/// one for the virtual GPU. Emits a diagnostic and fails if any cannot be made.
mlir::FailureOr<mlir::gpu::BinaryOp>
createDeviceBinary(mlir::gpu::GPUModuleOp module,
                   const DeviceBinaryOptions &options);

/// Kernel names of a binary in launch-index order, as createDeviceBinary left
/// them on its objects.
llvm::SmallVector<llvm::StringRef> kernelNames(mlir::gpu::BinaryOp binary);

} // namespace tessera

#endif // TESSERA_TARGET_DEVICEBINARY_H
