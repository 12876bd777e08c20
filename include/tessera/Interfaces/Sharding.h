//===- Sharding.h - meshes and how a tensor lies on them ------------------===//
//
// Plain value types for the partitioner and the planner. A tensor's sharding
// says, for each dimension, over which mesh axes it is split (major to minor),
// and over which axes a reduction of it is still pending ("partial"): the
// full value is the sum (or maximum) of what the ranks along those axes hold.
// Row-parallel matmul followed by sequence parallelism is then a single
// reduce-scatter, and ZeRO's gradient reduction is the same mechanism.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_INTERFACES_SHARDING_H
#define TESSERA_INTERFACES_SHARDING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

/// Index of an axis in its mesh.
using Axis = unsigned;
using AxisList = llvm::SmallVector<Axis, 2>;

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// A named grid of ranks, first axis slowest: rank = ((i0 * n1) + i1) * n2 + ...
struct Mesh {
  llvm::SmallVector<MeshAxis, 4> axes;

  int64_t numRanks() const;
  std::optional<Axis> lookup(llvm::StringRef name) const;
  /// Product of the sizes of `list`.
  int64_t sizeOf(llvm::ArrayRef<Axis> list) const;
  /// Coordinate of `rank` along `axis`.
  int64_t coordinate(int64_t rank, Axis axis) const;
};

enum class ReductionKind : uint8_t { Sum, Max };

struct TensorSharding {
  /// One list per dimension: the axes that split it, major first.
  llvm::SmallVector<AxisList, 4> dims;
  /// Axes over which a reduction is pending.
  AxisList partial;
  ReductionKind kind = ReductionKind::Sum;

  static TensorSharding replicated(unsigned rank);
  bool isReplicated() const;
  bool isPartial() const { return !partial.empty(); }
  bool operator==(const TensorSharding &o) const;
  bool operator!=(const TensorSharding &o) const { return !(*this == o); }
  std::string str(const Mesh &mesh) const;
};

/// Local shape of a tensor under a sharding. Fails (nullopt, and a reason in
/// `why`) where a dimension is not divisible; a dimension listed in
/// `paddedDims` (bit mask) is rounded up instead, the last rank holding less.
std::optional<llvm::SmallVector<int64_t, 4>>
localShape(llvm::ArrayRef<int64_t> global, const TensorSharding &sharding,
           const Mesh &mesh, uint32_t paddedDims, std::string *why);

/// One op's answer to the shardings that its operands happen to have: which
/// ones it needs instead (the partitioner reshards), and which its results
/// then have.
struct ShardingRule {
  llvm::SmallVector<TensorSharding, 4> operands;
  llvm::SmallVector<TensorSharding, 2> results;
  /// Per result, a bit mask of the dimensions that may be split unevenly, the
  /// surplus being padding that later ops ignore (logits of a padded
  /// vocabulary). To be handed to `localShape`. Empty: none.
  llvm::SmallVector<uint32_t, 2> paddedResults;
};

} // namespace tessera

#endif // TESSERA_INTERFACES_SHARDING_H
