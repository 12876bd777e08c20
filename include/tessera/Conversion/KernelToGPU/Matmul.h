//===- Matmul.h - matrix products with a fused epilogue ---------*- C++ -*-===//
//
// bf16: tensor cores (mma.sync m16n8k16, f32 accumulation) fed by ldmatrix from
// a ring of cp.async stages in swizzled shared memory. f32: register tiles of
// fused multiply-adds fed from double-buffered shared memory; results are
// exact f32 sums of products, k ascending. Any m, n, k >= 1; what makes a
// fast path possible (alignment, whole tiles) is read off the spec while
// building. See docs/kernels.md.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_MATMUL_H
#define TESSERA_CONVERSION_KERNELTOGPU_MATMUL_H

#include "tessera/Conversion/KernelToGPU/ChipLimits.h"
#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

#include <string>

namespace tessera::kernels {

/// a, weight, bias?, gate?, residual?, out as memrefs in global memory.
llvm::SmallVector<mlir::Type> matmulArgumentTypes(const MatmulSpec &spec,
                                                  mlir::MLIRContext *context);

/// Grid, threads and dynamic shared memory; `config` must be legal for `spec`.
LaunchShape matmulLaunchShape(const MatmulSpec &spec,
                              const MatmulConfig &config);

/// Is `spec` a product at all, and may `config` be used for it on a chip with
/// `limits`? On failure `error` says what was expected and what was given.
mlir::LogicalResult checkMatmul(const MatmulSpec &spec,
                                const MatmulConfig &config,
                                const ChipLimits &limits, std::string &error);

/// Registers of one thread, an upper estimate held against ptxas by a test.
int64_t matmulRegisters(const MatmulSpec &spec, const MatmulConfig &config);

/// Blocks of this kernel that one multiprocessor holds at a time.
int64_t matmulBlocksPerSM(const MatmulSpec &spec, const MatmulConfig &config,
                          const ChipLimits &limits);

/// Estimated cycles on a chip, for ranking the configurations of one problem;
/// `config` must be legal on it.
double matmulCycles(const MatmulSpec &spec, const MatmulConfig &config,
                    const ChipLimits &limits);

/// Every sensible legal configuration, the default one first. Empty only if
/// `spec` itself is illegal.
llvm::SmallVector<MatmulConfig> matmulCandidates(const MatmulSpec &spec,
                                                 const ChipLimits &limits);

/// The candidate with the fewest estimated cycles. If `spec` is illegal, some
/// configuration, for which checkMatmul will say so.
MatmulConfig defaultMatmulConfig(const MatmulSpec &spec,
                                 const ChipLimits &limits);

/// Adds the kernel `name` to `module`. Emits an error at the module's location
/// and fails if spec or config is illegal on every known chip.
mlir::FailureOr<mlir::gpu::GPUFuncOp> buildMatmul(mlir::OpBuilder &builder,
                                                  mlir::gpu::GPUModuleOp module,
                                                  llvm::StringRef name,
                                                  const MatmulSpec &spec,
                                                  const MatmulConfig &config);

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_MATMUL_H
