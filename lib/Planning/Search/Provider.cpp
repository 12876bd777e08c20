//===- Provider.cpp - a problem's features, expert load -------------------===//
#include "Provider.h"
#include <algorithm>

using namespace tessera;

ModelFeatures ModelProvider::features(const Layout &layout) const {
  ModelFeatures f = source->features(layout, query);
  applyExpertSkew(f, shape, layout, skew);
  return f;
}

static void scale(PassCost &cost, double by) {
  cost.matmulFlops = int64_t(cost.matmulFlops * by);
  cost.vectorFlops = int64_t(cost.vectorFlops * by);
  cost.bytesRead = int64_t(cost.bytesRead * by);
  cost.bytesWritten = int64_t(cost.bytesWritten * by);
}

void tessera::applyExpertSkew(ModelFeatures &features, const ModelShape &shape,
                              const Layout &layout, double skew) {
  skew = std::min(skew, worstExpertSkew(shape, layout));
  if (skew <= 1.0 || layout.ep <= 1)
    return;
  for (BlockFeatures &block : features.blocks) {
    if (block.expertParameters == 0)
      continue;
    for (OpFeature &op : block.ops) {
      if (op.kernel != KernelClass::GroupedMatmul)
        continue;
      op.shape.m = std::max<int64_t>(1, int64_t(op.shape.m * skew));
      scale(op.forward, skew);
      scale(op.backward, skew);
      op.savedBytes = int64_t(op.savedBytes * skew);
    }
    // A rank that gathers all tokens gathers no more of them.
    if (layout.dispatcher == DispatcherKind::AllGather)
      continue;
    for (CollectiveFeature &c : block.collectives)
      if (c.axis == ParallelAxis::EP || c.axis == ParallelAxis::ETP)
        c.bytes = int64_t(c.bytes * skew);
  }
}

double tessera::worstExpertSkew(const ModelShape &shape, const Layout &layout) {
  if (!shape.experts || layout.ep <= 1 || shape.topk < 1)
    return 1.0;
  int64_t local = std::max<int64_t>(1, shape.experts / layout.ep);
  return double(layout.ep) * double(std::min(shape.topk, local)) /
         double(shape.topk);
}
