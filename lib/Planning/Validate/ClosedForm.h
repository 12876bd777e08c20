//===- ClosedForm.h - features of published models in closed form ---------===//
//
// The CSV gives shapes, not graphs. Here the costs of transformer blocks are
// written out by hand from those shapes; this is the validation's own source,
// apart from the graph's cost interface, and serves as an independent
// reference for it. Sizes as in Features.h.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_CLOSEDFORM_H
#define TESSERA_LIB_PLANNING_VALIDATE_CLOSEDFORM_H

#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Features.h"

namespace tessera {

/// A transformer, possibly with experts, latent or relative attention.
struct ModelShape {
  int64_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, headDim = 0;
  int64_t ffn = 0, vocab = 0, sequence = 0;
  bool gated = false; ///< SwiGLU: two matrices up, one down
  bool tied = false;  ///< head and embedding share weights
  bool learnedPositions = false;
  bool bidirectional = false; ///< every token sees every other
  /// Scores by distance (Dai et al. 2019, arXiv 1901.02860): one more product
  /// of queries, and one more square projection in each layer.
  bool relative = false;
  bool headTransform = false; ///< a square linear and a norm before the head
  // Experts.
  int64_t experts = 0, topk = 0, expertFfn = 0, sharedFfn = 0, denseLayers = 0;
  // Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434); 0: none.
  int64_t queryRank = 0, keyRank = 0, nopeDim = 0, ropeDim = 0, valueDim = 0;

  bool latent() const { return keyRank > 0; }
  int64_t attentionParameters() const;
  int64_t denseFfnParameters() const;
  /// All experts, the shared one and the router of one layer.
  int64_t expertLayerParameters() const;
  int64_t totalParameters() const;
  int64_t activeParameters() const;
};

/// Number formats of a run.
struct Precision {
  DataType linear = DataType::BF16; ///< matrix products of the layers
  bool frozen = false;              ///< adapters: no weight gradients
};

ModelFeatures closedFormFeatures(const ModelShape &shape, const Layout &layout,
                                 const StackTraits &traits,
                                 const Precision &precision);

/// Floating-point operations of one step as sources count them.
struct FlopConvention {
  bool hardware = false;     ///< recomputed forward passes count
  bool causalHalved = false; ///< attention scores count half
};
double conventionalFlops(const ModelShape &shape, int64_t globalBatch,
                         const FlopConvention &convention);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_CLOSEDFORM_H
