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
      : problem(problem), provider(provider) {}

  /// What memoryUse and layoutBound read of the features (see condensed).
  const ModelFeatures &features(const Layout &layout) {
    return entry(layout).small;
  }
  /// Relaxed block times for the layout's recomputation.
  const BlockSecondsList &times(const Layout &layout);
  /// The balanced partition into `chunks` under the layout's recomputation.
  const llvm::SmallVector<int, 8> &balanced(const Layout &layout, int chunks);
  /// Least time of any layout of `mesh` among `choices`.
  double bound(const Layout &mesh, const InnerChoices &choices);

private:
  struct Entry {
    Layout key;
    ModelFeatures small;
    bool has[3] = {};
    BlockSecondsList times[3];
    std::map<int, llvm::SmallVector<int, 8>> balanced[3]; ///< by chunks
    MeshWork work;
  };
  Entry &entry(const Layout &layout);

  const PlanProblem &problem;
  const FeatureProvider &provider;
  std::unordered_map<size_t, llvm::SmallVector<std::unique_ptr<Entry>, 1>>
      table;
};

/// Visits every layout of `mesh`, an even partition before a balanced one
/// (which is left out where it is the even one); stops on false.
bool forEachLayout(MeshCache &cache, const InnerChoices &choices,
                   const Layout &mesh,
                   llvm::function_ref<bool(const Layout &)> visit);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_EXPANSION_H
