//===- Obstacles.cpp - what keeps a given layout from running -------------===//
#include "Session.h"
#include "tessera/Support/Units.h"

using namespace llvm;
using namespace tessera;

Expected<std::vector<std::string>>
tessera::layoutObstacles(const PlanInput &input, const Layout &layout) {
  PlanInput asked = input;
  bool anyCluster = input.cluster.empty();
  // The rules of a layout know the number of GPUs and no chip.
  if (anyCluster)
    asked.cluster = "h100-sxm:" + std::to_string(layout.numGPUs());
  Expected<PlanSession> session = makeSession(asked);
  if (!session)
    return session.takeError();
  const PlanProblem &p = session->problem;
  std::vector<std::string> obstacles;
  if (Error e = p.verify(layout)) {
    obstacles.push_back("the layout cannot run: " + toString(std::move(e)));
    return obstacles;
  }
  if (anyCluster)
    return obstacles;
  Candidate c = evaluate(p, ModelProvider(p), p.withSwitches(layout));
  double room = p.model.cluster.chip.memoryBytes;
  if (c.memory.needed() > room)
    obstacles.push_back("the layout does not fit: it needs " +
                        formatBytes(c.memory.needed()) + " on a GPU of stage " +
                        std::to_string(c.memory.stage) + ", there are " +
                        formatBytes(room));
  return obstacles;
}
