//===- ModelShape.h - sizes of a decoder and what follows from them -------===//
//
// The numbers of a published model, for counting parameters and FLOPs the way
// papers do, for rules of legality and for bounds. What a rank computes and
// moves comes from the graph (FeatureSource.h), never from here.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_MODELSHAPE_H
#define TESSERA_PLANNING_MODELSHAPE_H

#include <cstdint>

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

/// Floating-point operations of one step as sources count them.
struct FlopConvention {
  bool hardware = false;     ///< recomputed forward passes count
  bool causalHalved = false; ///< attention scores count half
};
double conventionalFlops(const ModelShape &shape, int64_t globalBatch,
                         const FlopConvention &convention);

} // namespace tessera

#endif // TESSERA_PLANNING_MODELSHAPE_H
