//===- Passes.h - Passes of the device lowering -----------------*- C++ -*-===//

#ifndef TESSERA_LIB_TARGET_DEVICE_PASSES_H
#define TESSERA_LIB_TARGET_DEVICE_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tessera {

/// On gpu.module: records `kernel.param_bytes` on every gpu.func, and refuses
/// kernels whose memref arguments cannot become bare pointers.
std::unique_ptr<mlir::Pass> createKeepParamBytesPass();

/// On gpu.module: wraps the name of each operation of a gpu.func around its
/// location, for the defect reports of the virtual GPU.
std::unique_ptr<mlir::Pass> createNameSourceOpsPass();

/// On gpu.module: turns math ops into instructions that the hardware has
/// (exp2, sqrt, fma, rounding), and refuses the others, which would become
/// calls of libdevice.
std::unique_ptr<mlir::Pass> createDeviceMathToNativePass();

} // namespace tessera

#endif // TESSERA_LIB_TARGET_DEVICE_PASSES_H
