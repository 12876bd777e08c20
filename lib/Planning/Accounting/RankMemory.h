//===- RankMemory.h - memory by kind and by rank ----------------*- C++ -*-===//
#ifndef TESSERA_LIB_PLANNING_ACCOUNTING_RANKMEMORY_H
#define TESSERA_LIB_PLANNING_ACCOUNTING_RANKMEMORY_H

#include "tessera/CostModel/Memory.h"
#include "tessera/Planning/Plan.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <vector>

namespace tessera {

/// What one rank holds that serves requests instead of training.
struct ServingMemory {
  double weights = 0, cache = 0, context = 0;
  double total() const { return weights + cache + context; }
};

/// What is served, and in which formats.
struct ServingQuestion {
  int64_t cacheBatch = 1; ///< sequences that a replica serves at once
  double layerBytes = 2;  ///< of a parameter of the layers
  double cacheBytes = 2;  ///< of an element of the cache
};

/// Memory of a rank of each pipeline stage; the ranks of one stage hold the
/// same.
struct RankMemory {
  std::string layout;
  double limit = 0; ///< bytes of a GPU
  std::vector<MemoryUse> training;
  std::vector<ServingMemory> serving;
  int64_t cacheBatch = 1; ///< sequences that a replica serves at once
};

/// The memory of `input.model` on `input.cluster` under `layout`
/// ("tp=8,pp=4,sp"; dp may be left out). Serving splits weights and cache over
/// tp and pp as training does; grouped heads over at most as many ranks as
/// there are, and latent attention's rows not at all.
llvm::Expected<RankMemory> rankMemory(const PlanInput &input,
                                      llvm::StringRef layout,
                                      const ServingQuestion &question);

/// GPUs that serve one model together.
struct ServingGroup {
  int tp = 1, pp = 1;
  double bytes = 0; ///< on the fullest of its GPUs
  double room = 0;  ///< of that, a GPU has so much
  int gpus() const { return tp * pp; }
};

/// The smallest group whose GPUs hold the weights and the cache of `cacheBatch`
/// sequences: the least tp that the model can be split by, up to an NVLink
/// domain or a node, and beyond that pipeline stages; 5 % of a GPU stay free.
/// Nothing where none fits.
llvm::Expected<std::optional<ServingGroup>>
smallestServingGroup(const PlanInput &input, const ServingQuestion &question);

void printRankMemory(const RankMemory &memory, llvm::raw_ostream &out);
llvm::json::Value toJson(const RankMemory &memory);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_ACCOUNTING_RANKMEMORY_H
