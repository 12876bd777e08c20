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
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace tessera {

class MeshCache {
public:
  MeshCache(const PlanProblem &problem, const FeatureProvider &provider)
      : problem(problem), provider(provider), model(problem.model) {
    model.matmuls = &matmuls;
  }
  MeshCache(const MeshCache &) = delete;

  /// The layout with the overlap that the software has.
  Layout withSwitches(const Layout &layout) const {
    return problem.withSwitches(layout);
  }
  /// What memoryUse reads of the features (see condensed).
  const ModelFeatures &features(const Layout &layout);
  /// What layoutBound reads of them.
  const ModelOutline &outline(const Layout &layout) {
    return entry(layout).outline;
  }
  /// Block times for the layout's recomputation, with what its sharding adds;
  /// valid until the next call.
  const BlockSecondsList &times(const Layout &layout);
  /// The balanced partition into `chunks` under the layout's recomputation.
  const llvm::SmallVector<int, 8> &balanced(const Layout &layout, int chunks);
  /// Least time of any layout with this mesh, dispatcher and sharding, without
  /// what follows the last backward pass and with it. Any bound from `limit` on
  /// will do where it is that high.
  double bound(const Layout &mesh, double limit = 1e300);
  double boundToTheEnd(const Layout &mesh);
  /// The same for any dispatcher and sharding.
  double floor(const Layout &mesh);

private:
  /// What expanded meshes need besides; empty where it was not asked for yet.
  struct Details {
    ModelFeatures small;
    BlockSecondsList again[2]; ///< times with selective, full recomputation
    std::map<int, llvm::SmallVector<int, 8>> balanced[3]; ///< by chunks
  };
  struct Entry {
    Layout key;
    ModelOutline outline;
    BlockSecondsList times; ///< without recomputation
    MeshWork work, floor;
    std::unique_ptr<Details> details;
  };
  /// A block's times without recomputation, and their floor.
  struct BlockPair {
    BlockSeconds work, floor;
  };
  /// Those of the blocks without experts.
  struct DenseEntry {
    Layout key;
    llvm::SmallVector<std::optional<BlockPair>, 4> blocks;
  };

  Entry &entry(const Layout &layout);
  Details &details(Entry &entry);
  const BlockSecondsList &relaxed(Entry &entry, const Layout &layout);
  BlockPair timesOf(const ModelFeatures &features, size_t block, bool pinned,
                    const Layout &layout, int sharding);
  int shardingClass(const Layout &layout) const;

  const PlanProblem &problem;
  const FeatureProvider &provider;
  StepModel model;
  MatmulTimes matmuls;
  /// By hash; an entry whose place is taken lies at the next one that is free.
  llvm::DenseMap<uint64_t, Entry *> table;
  llvm::DenseMap<uint64_t, DenseEntry *> denseTable;
  std::deque<Entry> entries;
  std::deque<DenseEntry> denseEntries;
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
