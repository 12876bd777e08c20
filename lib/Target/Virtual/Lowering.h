//===- Lowering.h - Steps from device code to host code ---------*- C++ -*-===//
//
// The steps, in order; each works on a builtin.module that holds a clone of
// the gpu.module's functions and globals.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_VIRTUAL_LOWERING_H
#define TESSERA_LIB_TARGET_VIRTUAL_LOWERING_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tessera {
namespace vgpu {

/// Source operations by identifier, see tessera_virtual_kernel::locations.
class LocationTable {
public:
  /// Identifier of `op`; equal texts share one.
  uint32_t idFor(mlir::Operation *op);
  const std::vector<std::string> &texts() const { return list; }

private:
  std::vector<std::string> list;
  llvm::StringMap<uint32_t> ids;
};

/// What later steps know of one kernel.
struct KernelInfo {
  std::string name;
  llvm::SmallVector<int64_t> paramBytes;
  llvm::SmallVector<uint32_t, 3> block; ///< required shape, or empty
  uint64_t sharedBytes = 0;
};

struct LoweringState {
  mlir::ModuleOp module;
  bool instrument = false;
  LocationTable locations;
  std::vector<KernelInfo> kernels;
  uint64_t frameBytes = 0; ///< of the largest segment
  unsigned segments = 0;
};

/// Fails, with an error that names it, on the first operation that is not on
/// the virtual GPU's list.
mlir::LogicalResult verifySupported(mlir::gpu::GPUModuleOp module);

/// Turns intrinsics that are called by name into operations.
void nameIntrinsics(LoweringState &state);

/// Writes conversions between bf16 and f32 as integer arithmetic.
void expandBFloatConversions(LoweringState &state);

/// Appends the thread context to every function and to every call.
mlir::LogicalResult addThreadArgument(LoweringState &state);

/// The last argument of a function, once addThreadArgument has run.
mlir::Value threadArgument(mlir::Operation *inside);

/// Calls the checker before loads, stores and atomics, and the counters.
void instrumentAccesses(LoweringState &state);

/// Turns runs of warp collectives into segments.
mlir::LogicalResult formSegments(LoweringState &state);

/// Places shared-memory globals per kernel and replaces their addresses.
mlir::LogicalResult layOutSharedMemory(LoweringState &state);

/// Replaces the NVVM ops that are no collectives: special registers, barriers,
/// asynchronous copies, fences.
mlir::LogicalResult lowerThreadOps(LoweringState &state);

/// Removes address spaces and device-only attributes.
void eraseAddressSpaces(LoweringState &state);

/// LLVM IR, the kernel table, optimisation and code generation.
std::optional<llvm::SmallVector<char, 0>>
emitHostObject(LoweringState &state, llvm::StringRef moduleName,
               llvm::StringRef cpu, llvm::StringRef features, int optLevel);

// Helpers shared by the steps.

/// Declares (once) and returns a runtime function of DeviceAbi.h.
mlir::LLVM::LLVMFuncOp runtimeFunction(mlir::ModuleOp module,
                                       llvm::StringRef name, mlir::Type result,
                                       llvm::ArrayRef<mlir::Type> arguments);

/// Loads a constant field of the thread (or, with `fromBlock`, block) context.
mlir::Value loadContext(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value self, size_t offset, mlir::Type type);
mlir::Value loadBlockContext(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value self, size_t offset, mlir::Type type);

mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc,
                        uint32_t value);
/// `base` plus `bytes`.
mlir::Value byteOffset(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value base, int64_t bytes);

/// Value of an integer expression of constants (the LLVM dialect folds few).
std::optional<uint64_t> evaluateConstant(mlir::Value value);

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_TARGET_VIRTUAL_LOWERING_H
