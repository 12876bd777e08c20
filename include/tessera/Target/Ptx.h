//===- Ptx.h - PTX, cubin and what ptxas says of it -------------*- C++ -*-===//

#ifndef TESSERA_TARGET_PTX_H
#define TESSERA_TARGET_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Resources of one kernel as `ptxas -v` reports them.
struct KernelResources {
  std::string kernel;
  unsigned registers = 0;
  unsigned sharedBytes = 0; ///< static shared memory
  unsigned stackBytes = 0;
  unsigned spillStoreBytes = 0, spillLoadBytes = 0;
};

/// The PTX feature string that `chip` needs ("+ptx78" for sm_80 and sm_90):
/// without it LLVM aborts the process on chips newer than its default PTX
/// version. Empty if the chip is unknown.
std::string ptxFeaturesForChip(llvm::StringRef chip);

/// Path of ptxas: $TESSERA_PTXAS, PATH, $CUDA_PATH/bin, $CUDA_HOME/bin,
/// /usr/local/cuda/bin, then the directories of the pip wheel
/// nvidia-cuda-nvcc (nvidia/cu13/bin, nvidia/cuda_nvcc/bin) in the active
/// Python environment. Empty if there is none.
std::string findPtxas();

/// Compiles a lowered gpu.module (after buildDevicePipeline) to PTX text.
/// Emits a diagnostic and returns nothing on failure.
std::optional<std::string> emitPtx(mlir::gpu::GPUModuleOp module,
                                   llvm::StringRef chip);

/// Assembles PTX. `resources`, if given, receives one entry per kernel.
/// Returns nothing and sets `error` on failure.
std::optional<std::string>
assemblePtx(llvm::StringRef ptx, llvm::StringRef chip, std::string &error,
            std::vector<KernelResources> *resources = nullptr);

} // namespace tessera

#endif // TESSERA_TARGET_PTX_H
