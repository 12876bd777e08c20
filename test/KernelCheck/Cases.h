//===- Cases.h - the kernels that gpu-check tries ---------------*- C++ -*-===//
//
// One list, read by two programs: emit-check-kernels compiles these kernels,
// gpu-check runs them against plain loops. Plain C++, so that gpu-check needs
// neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_KERNELCHECK_CASES_H
#define TEST_KERNELCHECK_CASES_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::check {

/// kernels::CopySpec without an MLIR type.
struct CopyCase {
  bool slice = false; ///< else transpose
  int64_t rows = 1, cols = 1, inner = 1;
  kernels::Element type = kernels::Element::F32;
};

using AnySpec =
    std::variant<kernels::MatmulSpec, kernels::AttentionSpec, kernels::NormSpec,
                 kernels::RotarySpec, kernels::ElementwiseSpec,
                 kernels::EmbeddingSpec, kernels::PositionsSpec,
                 kernels::CrossEntropySpec, kernels::CrossEntropyCombineSpec,
                 kernels::TokenSumSpec, kernels::TokenMeanSpec, CopyCase>;

struct Case {
  /// Also the kernel's name in the device images.
  std::string name;
  AnySpec spec;
  /// Of a size that real models have: for real devices, timed, and compared
  /// in a sample of its rows.
  bool large = false;
  /// Otherwise the default configuration for the shape.
  std::optional<kernels::MatmulConfig> matmulConfig;
};

/// All cases; names are unique.
std::vector<Case> allCases();

} // namespace tessera::check

#endif // TEST_KERNELCHECK_CASES_H
