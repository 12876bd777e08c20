//===- Resharding.h - from one sharding to another --------------*- C++ -*-===//
//
// Finds the cheapest legal sequence of slice, all_gather, all_to_all,
// reduce_scatter and all_reduce that turns one sharding of a tensor into
// another. A pure function on values: no IR.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_SHARDING_RESHARDING_H
#define TESSERA_ANALYSIS_SHARDING_RESHARDING_H

#include "tessera/Interfaces/Sharding.h"

namespace tessera {

enum class ReshardKind : uint8_t {
  Slice,     ///< dims[dim] gains `axes` (minor); no communication
  AllGather, ///< dims[dim] loses its minor `axes`
  AllToAll,  ///< dims[concatDim] loses its minor `axes`, dims[dim] gains them
  ReduceScatter, ///< partial loses `axes`, dims[dim] gains them (minor)
  AllReduce,     ///< partial loses `axes`
};

llvm::StringRef stringify(ReshardKind kind);

struct ReshardStep {
  ReshardKind kind = ReshardKind::Slice;
  /// The group of ranks, ordered by their coordinates, first axis slowest.
  AxisList axes;
  unsigned dim = 0;
  unsigned concatDim = 0;
  /// AllReduce only.
  ReductionKind reduction = ReductionKind::Sum;
  /// Sharding and local shape after the step.
  TensorSharding sharding;
  llvm::SmallVector<int64_t, 4> shape;
  /// Bytes that each rank receives in a bandwidth-optimal algorithm (ring):
  /// all_gather (n - 1) * input, reduce_scatter and all_to_all
  /// (n - 1) / n * input, all_reduce twice that, slice 0. Source of the
  /// volumes: Thakur, Rabenseifner, Gropp 2005, "Optimization of collective
  /// communication operations in MPICH".
  int64_t bytesMoved = 0;
};

/// A tensor as the resharding planner sees it.
struct ReshardTensor {
  llvm::SmallVector<int64_t, 4> globalShape;
  int64_t elementBytes = 4;
  /// Bit i: dimension i is rounded up when it is split (see localShape). Where
  /// that changes its size, the splitting of the dimension cannot change.
  uint32_t paddedDims = 0;
};

/// `sharding` without the axes of size 1, which split nothing.
TensorSharding dropTrivialAxes(const TensorSharding &sharding,
                               const Mesh &mesh);

/// The steps from `from` to `to` that move the fewest bytes, among these the
/// fewest steps. Every intermediate local shape is whole. Fails with `why`
/// where there is none: a dimension that cannot be divided, or a reduction
/// that `to` has pending and `from` has not.
std::optional<llvm::SmallVector<ReshardStep, 2>>
planReshard(const Mesh &mesh, const ReshardTensor &tensor,
            const TensorSharding &from, const TensorSharding &to,
            std::string &why);

/// All steps that are legal from `from`; the search's neighbourhood.
llvm::SmallVector<ReshardStep, 8> legalReshardSteps(const Mesh &mesh,
                                                    const ReshardTensor &tensor,
                                                    const TensorSharding &from,
                                                    llvm::ArrayRef<Axis> axes);

} // namespace tessera

#endif // TESSERA_ANALYSIS_SHARDING_RESHARDING_H
