//===- Published.cpp - published layouts against the best -----------------===//
#include "Published.h"
#include "Legal.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

PlanProblem tessera::publishedProblem(const Case &run,
                                      const CostConstants &constants) {
  PlanProblem p;
  p.name = run.points.front()->run;
  p.shape = run.shape;
  p.source = run.source;
  p.workload = run.workload;
  p.precision = run.precision;
  p.setStack(run.stack);
  p.framework = run.framework;
  p.model = {run.cluster, constants.chip(run.cluster.chip),
             constants.stack(run.stack), run.traits};
  p.memoryLimit = run.cluster.chip.memoryBytes;
  // What ran did without what the allocator only holds; so may the others.
  p.workload.allocatorReserve = 0;
  return p;
}

PublishedComparison tessera::comparePublished(const Case &run,
                                              const CostConstants &constants) {
  PlanProblem p = publishedProblem(run, constants);
  ModelProvider provider(p);
  PublishedComparison c;
  Candidate own = evaluate(p, provider, run.layout);
  c.own = run.layout;
  c.ownSeconds = own.step.seconds;
  c.ownBytes = own.memory.total();
  isLegal(p, run.layout, &c.outside);
  if (p.framework)
    c.denied =
        describe(obstaclesOf(*p.framework, run.layout, p.frameworkModel()));
  if (c.ownBytes > p.memoryLimit) {
    c.raisedLimit = true;
    p.memoryLimit = c.ownBytes;
  }
  PlanResult result = solve(p, provider, {});
  c.gap = result.certificate.gap;
  if (!result.ranked.empty())
    c.best = std::move(result.ranked.front());
  return c;
}
