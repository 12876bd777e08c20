//===- ModelShape.cpp - sizes of a decoder and what follows from them -----===//
#include "tessera/Planning/ModelShape.h"

using namespace tessera;

int64_t ModelShape::attentionParameters() const {
  if (latent())
    return (queryRank
                ? hidden * queryRank + queryRank * heads * (nopeDim + ropeDim)
                : hidden * heads * (nopeDim + ropeDim)) +
           hidden * (keyRank + ropeDim) +
           keyRank * heads * (nopeDim + valueDim) + heads * valueDim * hidden;
  return hidden * headDim * (2 * heads + 2 * kvHeads + (relative ? heads : 0));
}

int64_t ModelShape::denseFfnParameters() const {
  return (gated ? 3 : 2) * hidden * ffn;
}

int64_t ModelShape::expertLayerParameters() const {
  return 3 * hidden * (experts * expertFfn + sharedFfn) + hidden * experts;
}

int64_t ModelShape::totalParameters() const {
  int64_t sparse = experts ? layers - denseLayers : 0;
  return layers * (attentionParameters() + 2 * hidden) +
         (layers - sparse) * denseFfnParameters() +
         sparse * expertLayerParameters() + (tied ? 1 : 2) * vocab * hidden +
         (learnedPositions ? sequence * hidden : 0) + hidden +
         (headTransform ? hidden * hidden : 0);
}

int64_t ModelShape::activeParameters() const {
  if (!experts)
    return totalParameters();
  return totalParameters() -
         (layers - denseLayers) * 3 * hidden * expertFfn * (experts - topk);
}

double tessera::conventionalFlops(const ModelShape &s, int64_t globalBatch,
                                  const FlopConvention &convention) {
  double tokens = double(globalBatch) * s.sequence;
  int64_t sparse = s.experts ? s.layers - s.denseLayers : 0;
  double weights = double(s.layers) * s.attentionParameters() +
                   double(s.layers - sparse) * s.denseFfnParameters();
  if (sparse)
    weights += double(sparse) *
               (3.0 * s.hidden * (s.topk * s.expertFfn + s.sharedFfn) +
                s.hidden * s.experts);
  double width = s.latent()
                     ? double(s.heads) * (s.nopeDim + s.ropeDim + s.valueDim)
                     : (s.relative ? 3.0 : 2.0) * s.heads * s.headDim;
  bool halved = convention.causalHalved && !s.bidirectional;
  double scores = 2.0 * s.layers * s.sequence * width * (halved ? 0.5 : 1.0);
  double layer = 2 * weights + scores;
  double logits = 2.0 * s.vocab * s.hidden +
                  (s.headTransform ? 2.0 * s.hidden * s.hidden : 0.0);
  return tokens * ((convention.hardware ? 4 : 3) * layer + 3 * logits);
}
