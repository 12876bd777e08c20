//===- Backward.h - what a forward program implies for its backward -------===//
//
// Until the backward pass is a graph of its own, two rules stand in for it:
// each resharding has an adjoint, and each op says which of its operands and
// results its backward pass needs.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_FORECAST_BACKWARD_H
#define TESSERA_LIB_FORECAST_BACKWARD_H

#include "lib/Forecast/RankModel.h"

namespace tessera::forecast {

/// A tensor kept from forward to backward.
struct KeptTensor {
  int tensor = 0;
  int keeper = 0; ///< the first op that needs it
  /// Nothing but matrix products of the layers needs it.
  bool onlyProducts = true;
};

struct BackwardNeeds {
  std::vector<KeptTensor> kept;
  /// By op: a gathered operand that is gathered again for the weight's
  /// gradient instead of being kept.
  std::vector<bool> gathersAgain;
  /// By op: the gradient of the first operand is a partial sum that no
  /// resharding completes; counted once per tensor.
  std::vector<bool> reducesInput;
};

BackwardNeeds backwardNeeds(const RankBlock &block);

/// A product's place among those of one input whose results meet again, which
/// a stack may make one of.
struct JointProduct {
  int leader = 0; ///< the first of them; the op itself where it has no others
  /// They meet in an attention (queries, keys, values); else in a gate.
  bool heads = false;
};

/// What follows from a block's ops and not from their sizes.
struct BlockFacts {
  BackwardNeeds needs;
  /// By op. See Products.cpp.
  std::vector<JointProduct> joint;
  bool hasExperts = false, hasLatent = false;
  bool isOuter = false; ///< embeds tokens or makes logits
  /// Some block of the model has experts or latent attention.
  bool lightModules = false;
};
BlockFacts factsOf(const RankBlock &block);

/// The collectives of both directions. An all-gather's adjoint is a
/// reduce-scatter and the other way round, an all-to-all's the same turned
/// round; a sum over ranks passes its gradient on unchanged (Shoeybi et al.
/// 2019, arXiv 1909.08053, section 3). Without those that complete a loss, in
/// which stacks differ.
std::vector<CollectiveFeature> bothDirections(const RankBlock &block,
                                              const BackwardNeeds &needs);

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_BACKWARD_H
