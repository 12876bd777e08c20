//===- Problem.cpp - model shapes and default workloads -------------------===//
#include "Problem.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

void PlanProblem::setStack(StringRef name) {
  stack = name.str();
  framework = frameworkOfStack(name);
}

ModelShape tessera::shapeOf(const ModelConfig &c, int64_t sequence) {
  ModelShape s;
  s.layers = c.layers;
  s.hidden = c.hidden;
  s.heads = c.heads;
  s.kvHeads = c.kvHeads ? c.kvHeads : c.heads;
  s.headDim = c.headDim;
  s.ffn = c.intermediate;
  s.vocab = c.vocab;
  s.sequence = sequence;
  s.gated = c.gate.has_value() || (c.experts && c.up.weight.shape.empty());
  s.tied = !c.head.has_value();
  s.learnedPositions = c.positions.has_value();
  s.bidirectional = !c.causal;
  s.relative = c.relative.has_value();
  s.headTransform = c.headTransform.has_value();
  if (c.experts) {
    s.experts = c.experts->experts;
    s.topk = c.experts->topK;
    s.expertFfn = c.experts->intermediate;
    s.sharedFfn = c.experts->sharedIntermediate;
    for (int64_t i = 0; i < c.layers; ++i)
      s.denseLayers += !c.hasExperts(i);
  }
  if (c.latent) {
    const LatentConfig &l = *c.latent;
    s.keyRank = l.kvRank;
    s.nopeDim = l.nopeDim;
    s.ropeDim = l.ropeDim;
    s.valueDim = l.valueDim;
    if (l.qNorm)
      s.queryRank = l.qNorm->weight.shape.front();
  }
  return s;
}

double tessera::plannedMemory(const Chip &chip) {
  return 0.95 * chip.memoryBytes;
}

Layout tessera::withStackSwitches(Layout l, const StackTraits &t) {
  bool data = t.overlapGradients || t.fsdp;
  l.overlapGradients &= data;
  l.overlapParameters &= data;
  // Without tensor parallelism it means nothing and stays as usual.
  l.overlapTensorParallel &= t.overlapTensorParallel || l.tp == 1;
  return l;
}

Layout PlanProblem::withSwitches(const Layout &layout) const {
  Layout l = withStackSwitches(layout, model.traits);
  return framework ? nearestRunning(*framework, l, frameworkModel(),
                                    LayoutPart::Overlap)
                   : l;
}

int64_t tessera::defaultGlobalBatch(int64_t gpus, int64_t sequence,
                                    double tokens) {
  int64_t wanted = std::max<int64_t>(
      1, static_cast<int64_t>(tokens / double(sequence) + 0.5));
  if (gpus <= wanted)
    return gpus * ((wanted + gpus / 2) / gpus);
  for (int64_t b = wanted; b > 1; --b)
    if (gpus % b == 0)
      return b;
  return 1;
}

Workload tessera::defaultWorkload(int64_t sequence, int64_t globalBatch,
                                  const StackTraits &traits) {
  Workload w = workloadOf(traits);
  w.sequence = sequence;
  w.globalBatch = globalBatch;
  return w;
}

Cluster tessera::withNodes(const Cluster &cluster, int nodes) {
  Cluster c = cluster;
  c.nodes = nodes;
  return c;
}
