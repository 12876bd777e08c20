//===- DevicePipeline.h - The one device lowering ---------------*- C++ -*-===//
//
// gpu.func kernels (gpu, scf, vector, memref, arith, math, nvgpu, nvvm) to the
// NVVM-dialect module that both targets compile: NVPTX to PTX, the virtual
// target to host code. There is deliberately no second lowering: what the
// virtual GPU runs is what ships.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TARGET_DEVICEPIPELINE_H
#define TESSERA_TARGET_DEVICEPIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

struct DevicePipelineOptions {
  /// Bits of `index`; 32 is faster on a GPU but caps a tensor at 2^31
  /// elements, so 64 is the default.
  unsigned indexBits = 64;
};

/// Lowers every gpu.module inside the builtin.module that `pm` runs on.
/// Memref arguments of kernels become bare pointers (their shapes must be
/// static and their layouts the identity), and before that their extents in
/// bytes are kept in the attribute `kernel.param_bytes` for the virtual GPU's
/// checker.
void buildDevicePipeline(mlir::OpPassManager &pm,
                         const DevicePipelineOptions &options = {});

/// On a builtin.module: refuses values larger than the registers of a thread,
/// which upstream's patterns would take apart element by element. The pipeline
/// starts with it; whoever canonicalizes kernels earlier runs it earlier.
std::unique_ptr<mlir::Pass> createCheckValueSizesPass();

/// Makes the passes of this room known by name: tessera-check-value-sizes,
/// tessera-name-source-ops, tessera-keep-param-bytes and
/// tessera-device-math-to-native.
void registerDevicePasses();

/// Dialects, interfaces and translations that the device lowering and the NVPTX
/// target need. registerVirtualTargetInterfaces (VirtualTarget.h) adds the
/// virtual GPU.
void registerDeviceDialects(mlir::DialectRegistry &registry);

} // namespace tessera

#endif // TESSERA_TARGET_DEVICEPIPELINE_H
