//===- GroupToSpec.h - which kernel computes a group ------------*- C++ -*-===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_GROUPTOSPEC_H
#define TESSERA_CONVERSION_KERNELTOGPU_GROUPTOSPEC_H

#include "dialects/Kernel/KernelDialect.h"
#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include <optional>
#include <variant>

namespace tessera {

using AnyKernelSpec =
    std::variant<kernels::MatmulSpec, kernels::AttentionSpec, kernels::NormSpec,
                 kernels::RotarySpec, kernels::ElementwiseSpec,
                 kernels::EmbeddingSpec, kernels::PositionsSpec,
                 kernels::CrossEntropySpec, kernels::CrossEntropyCombineSpec,
                 kernels::TokenSumSpec, kernels::TokenMeanSpec>;

/// The kernel that computes a group, and how the group's operands and results
/// are its arguments.
struct GroupKernel {
  AnyKernelSpec spec;
  /// Group operands that are the kernel's tensor inputs, in the kernel's order.
  llvm::SmallVector<unsigned> inputs;
  /// Group results that are the kernel's outputs, in the kernel's order.
  llvm::SmallVector<unsigned> outputs;
  /// Group operand (an index) that is the kernel's scalar `offset`.
  std::optional<unsigned> offset;
};

/// Reads the spec off the ops in the group's body. Emits a diagnostic and fails
/// if they are not what a kernel of the group's family computes.
mlir::FailureOr<GroupKernel> groupToSpec(kernel::GroupOp group);

} // namespace tessera

#endif // TESSERA_CONVERSION_KERNELTOGPU_GROUPTOSPEC_H
