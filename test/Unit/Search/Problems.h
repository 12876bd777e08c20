//===- Problems.h - small planning problems for the tests -----------------===//
#ifndef TESSERA_TEST_UNIT_SEARCH_PROBLEMS_H
#define TESSERA_TEST_UNIT_SEARCH_PROBLEMS_H

#include "lib/Planning/Search/Solver.h"
#include "test/Support/ClosedForm/ClosedForm.h"
#include <random>

namespace tessera::test {

/// A dense decoder that all small axes divide.
inline PlanProblem denseProblem(int nodes = 2, int gpusPerNode = 4) {
  PlanProblem p;
  p.name = "dense";
  ModelShape &s = p.shape;
  s.layers = 8;
  s.hidden = 1024;
  s.heads = 16;
  s.kvHeads = 4;
  s.headDim = 64;
  s.ffn = 4096;
  s.vocab = 32000;
  s.sequence = 1024;
  s.gated = true;
  p.stack = "nemo";
  p.model.traits = llvm::cantFail(stackTraits(p.stack));
  p.model.stack = defaultConstants().stack(p.stack);
  p.model.cluster =
      makeCluster(llvm::cantFail(findChip("h100-sxm")), nodes, gpusPerNode);
  p.model.chip = defaultConstants().chip(p.model.cluster.chip);
  p.memoryLimit = p.model.cluster.chip.memoryBytes;
  p.workload = defaultWorkload(s.sequence, 32, p.model.traits);
  return p;
}

inline PlanProblem expertProblem(int nodes = 2, int gpusPerNode = 4) {
  PlanProblem p = denseProblem(nodes, gpusPerNode);
  p.name = "experts";
  p.shape.experts = 8;
  p.shape.topk = 2;
  p.shape.expertFfn = 2048;
  return p;
}

/// Model, cluster, workload and software drawn at random, small enough to
/// enumerate.
inline PlanProblem randomProblem(std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  PlanProblem p = denseProblem(int(pick({1, 2, 3})), int(pick({2, 4, 8})));
  ModelShape &s = p.shape;
  s.layers = pick({3, 4, 6, 9});
  s.heads = pick({8, 12, 16});
  s.kvHeads = s.heads / pick({1, 2, 4});
  s.headDim = 64;
  s.hidden = s.heads * s.headDim;
  s.ffn = s.hidden * pick({2, 4});
  s.sequence = pick({512, 1024, 1536});
  s.gated = random() % 2;
  s.tied = random() % 2;
  if (random() % 2) {
    s.experts = pick({4, 8});
    s.topk = pick({1, 2});
    s.expertFfn = pick({512, 768});
    s.sharedFfn = pick({0, 1536});
    s.denseLayers = pick({0, 1});
  }
  const char *stacks[] = {"nemo",
                          "megatron-bridge",
                          "megatron-core",
                          "megatron-2021",
                          "megatron-2022",
                          "torchtitan",
                          "deepspeed",
                          "llm-foundry",
                          "accelerate",
                          "nanotron",
                          "jax"};
  p.setStack(stacks[random() % std::size(stacks)]);
  // Software without limits has all schedules and dispatchers.
  static const Framework everything;
  if (random() % 4 == 0)
    p.framework = &everything;
  p.model.traits = llvm::cantFail(stackTraits(p.stack));
  p.model.stack = defaultConstants().stack(p.stack);
  p.model.cluster = makeCluster(
      llvm::cantFail(findChip(random() % 2 ? "h100-sxm" : "a100-80g-sxm")),
      p.model.cluster.nodes, p.model.cluster.gpusPerNode);
  p.model.chip = defaultConstants().chip(p.model.cluster.chip);
  if (s.experts && random() % 3 == 0)
    p.expertSkew = 1.5;
  int64_t batch = p.gpus() * pick({1, 2, 4});
  p.workload = defaultWorkload(s.sequence, batch, p.model.traits);
  // Tight memory makes recomputation, sharding and pipelining matter.
  double state = 18.0 * double(s.totalParameters()) / double(p.gpus());
  p.memoryLimit = std::min(p.model.cluster.chip.memoryBytes,
                           1.4e9 + state * double(pick({0, 1, 2, 16})));
  return p;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SEARCH_PROBLEMS_H
