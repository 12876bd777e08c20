//===- Expansion.h - what meshes share, and all layouts of one ------------===//
//
// Block times and the memory side of features depend on few choices of a
// layout (see FeatureProvider): they are made when first asked for and shared
// by all layouts that agree in those, across meshes.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_EXPANSION_H
#define TESSERA_LIB_PLANNING_SEARCH_EXPANSION_H

#include "Bounds.h"
#include "Space.h"
#include <map>
#include <memory>
#include <unordered_map>

namespace tessera {

class MeshCache {
public:
  MeshCache(const PlanProblem &problem, const FeatureProvider &provider)
      : problem(problem), provider(provider), model(problem.model) {
    model.matmuls = &matmuls;
  }
  MeshCache(const MeshCache &) = delete;

  /// What memoryUse and layoutBound read of the features (see condensed).
  const ModelFeatures &features(const Layout &layout) {
    return entry(layout).small;
  }
  /// Block times for the layout's recomputation, with what its sharding adds;
  /// valid until the next call.
  const BlockSecondsList &times(const Layout &layout);
  /// The balanced partition into `chunks` under the layout's recomputation.
  const llvm::SmallVector<int, 8> &balanced(const Layout &layout, int chunks);
  /// Least time of any layout with this mesh, dispatcher and sharding.
  double bound(const Layout &mesh);
  /// The same for any dispatcher and sharding.
  double floor(const Layout &mesh);

private:
  struct Entry {
    Layout key;
    ModelFeatures small;
    bool has[3] = {};
    BlockSecondsList times[3];
    std::map<int, llvm::SmallVector<int, 8>> balanced[3]; ///< by chunks
    MeshWork work, floor;
  };
  Entry &entry(const Layout &layout);
  const BlockSecondsList &relaxed(Entry &entry, const Layout &layout);
  int shardingClass(const Layout &layout) const;

  const PlanProblem &problem;
  const FeatureProvider &provider;
  StepModel model;
  MatmulTimes matmuls;
  std::unordered_map<size_t, llvm::SmallVector<std::unique_ptr<Entry>, 1>>
      table;
  /// The last sharded times that were asked for.
  Layout shardedFor;
  BlockSecondsList sharded;
};

/// Visits every layout of `mesh` with all of a chunk's layers recomputed or as
/// many as the user fixed, an even partition before a balanced one (which is
/// left out where it is the even one); stops on false.
bool forEachFamily(MeshCache &cache, const InnerChoices &choices,
                   const Layout &mesh,
                   llvm::function_ref<bool(const Layout &)> visit);

/// Visits every layout of `mesh`.
bool forEachLayout(MeshCache &cache, const InnerChoices &choices,
                   const Layout &mesh,
                   llvm::function_ref<bool(const Layout &)> visit);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_EXPANSION_H
