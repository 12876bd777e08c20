//===- Attention.h - fused attention kernels --------------------*- C++ -*-===//
//
// softmax(scale * q k^T + mask) v without a sequence-by-sequence tensor in any
// memory: keys and values are walked in tiles, and a running row maximum and
// row sum rescale what was accumulated (online softmax; Milakov and Gimelshein
// 2018, arXiv 1805.02867; Dao 2023, arXiv 2307.08691).
//
// bf16 products run on the tensor cores with f32 accumulation; f32 products are
// f32 fused multiply-adds. Softmax is f32 in both. A query that sees no key
// (possible with a window when there are more queries than keys) gives zeros.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_ATTENTION_H
#define TESSERA_CONVERSION_KERNELTOGPU_ATTENTION_H

#include "tessera/Conversion/KernelToGPU/ChipLimits.h"
#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

#include <string>

namespace tessera::kernels {

/// q, k, v, out as memrefs in global memory.
llvm::SmallVector<mlir::Type>
attentionArgumentTypes(const AttentionSpec &spec, mlir::MLIRContext *context);

/// Grid (query tiles, heads, batch), threads and dynamic shared memory.
/// `config` must be legal for `spec`.
LaunchShape attentionLaunchShape(const AttentionSpec &spec,
                                 const AttentionConfig &config);

/// Can `spec` be computed at all? On failure `error` says what was expected
/// and what was given.
mlir::LogicalResult checkAttention(const AttentionSpec &spec,
                                   std::string &error);
/// May `config` be used for `spec` on a chip with `limits`?
mlir::LogicalResult checkAttention(const AttentionSpec &spec,
                                   const AttentionConfig &config,
                                   const ChipLimits &limits,
                                   std::string &error);

/// Registers of one thread, an upper estimate held against ptxas by a test.
int64_t attentionRegisters(const AttentionSpec &spec,
                           const AttentionConfig &config);

/// Blocks of this kernel that one multiprocessor holds at a time.
int64_t attentionBlocksPerSM(const AttentionSpec &spec,
                             const AttentionConfig &config,
                             const ChipLimits &limits);

/// Every sensible legal configuration, the default one first. Empty only if
/// `spec` is illegal.
llvm::SmallVector<AttentionConfig>
attentionCandidates(const AttentionSpec &spec, const ChipLimits &limits);

/// A configuration that is legal on `limits` and good on average. `spec` must
/// be legal.
AttentionConfig defaultAttentionConfig(const AttentionSpec &spec,
                                       const ChipLimits &limits);

/// Adds the kernel `name` to `module`. Emits an error at the module's location
/// and fails if the spec is illegal or no chip could run the configuration.
mlir::FailureOr<mlir::gpu::GPUFuncOp>
buildAttention(mlir::OpBuilder &builder, mlir::gpu::GPUModuleOp module,
               llvm::StringRef name, const AttentionSpec &spec,
               const AttentionConfig &config);

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_ATTENTION_H
