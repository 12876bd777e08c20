//===- RankMemory.cpp - memory by kind and by rank ------------------------===//
//
// Training: the search's own memory model, asked for every stage instead of
// the fullest. Serving: the weights of the same stages without gradients and
// optimizer, and the stage's layers' share of the key-value cache.
//
//===----------------------------------------------------------------------===//
#include "RankMemory.h"
#include "Accounting.h"
#include "lib/Planning/Search/Breakdown.h"
#include "lib/Planning/Search/Provider.h"
#include "lib/Planning/Search/Session.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// Layers of each stage.
static std::vector<int> stageLayers(const Layout &l, int layers) {
  int chunks = l.pp * l.vpp;
  auto sizes =
      l.chunkLayers.empty() ? evenChunks(layers, chunks) : l.chunkLayers;
  std::vector<int> out(l.pp, 0);
  for (size_t c = 0; c < sizes.size(); ++c)
    out[c % l.pp] += sizes[c];
  return out;
}

/// Parts that tensor parallelism makes of the cache.
static int64_t cacheParts(const ModelConfig &config, int64_t tp) {
  if (config.latent)
    return 1;
  return std::min(tp, config.kvHeads ? config.kvHeads : config.heads);
}

Expected<RankMemory> tessera::rankMemory(const PlanInput &input, StringRef text,
                                         int64_t cacheBatch) {
  Expected<PlanSession> session = makeSession(input);
  if (!session)
    return session.takeError();
  const PlanProblem &p = session->problem;
  Expected<Layout> given = layoutFrom(text, p.gpus());
  if (!given)
    return given.takeError();
  if (Error e = p.verify(*given))
    return makeError("--layout is not legal: " + toString(std::move(e)));
  Layout layout = withStackSwitches(*given, p.model.traits);
  RankMemory memory;
  memory.layout = layout.str();
  memory.limit =
      input.memory.empty() ? p.model.cluster.chip.memoryBytes : p.memoryLimit;
  memory.cacheBatch = cacheBatch;
  ModelProvider provider(p);
  memoryUse(provider.features(layout), layout, p.workload, p.model.cluster,
            &memory.training);

  // Served weights are whole: without ZeRO.
  Layout served = layout;
  served.zeroStage = std::min(served.zeroStage, 1);
  std::vector<MemoryUse> stages;
  memoryUse(provider.features(served), served, p.workload, p.model.cluster,
            &stages);
  double cache = cacheBytes(session->config, p.workload.sequence) *
                 double(cacheBatch) /
                 double(cacheParts(session->config, layout.tp));
  std::vector<int> layers =
      stageLayers(layout, static_cast<int>(session->config.layers));
  for (const MemoryUse &stage : stages)
    memory.serving.push_back(
        {stage.weights,
         cache * layers[stage.stage] / double(session->config.layers),
         stage.context});
  return memory;
}

void tessera::printRankMemory(const RankMemory &memory, raw_ostream &out) {
  out << "\nmemory of a rank of each stage, training under " << memory.layout
      << "\n";
  TextTable t;
  t.column("stage");
  for (const Share &share : memoryShares(memory.training.front()))
    t.column(share.name);
  t.column("total");
  for (const MemoryUse &stage : memory.training) {
    std::vector<std::string> cells{std::to_string(stage.stage)};
    for (const Share &share : memoryShares(stage))
      cells.push_back(formatBytes(share.value));
    cells.push_back(formatBytes(stage.total()) +
                    (stage.total() > memory.limit ? " !" : ""));
    t.row(cells);
  }
  t.print(out);
  out << "\nserving " << memory.cacheBatch
      << (memory.cacheBatch == 1 ? " sequence" : " sequences")
      << " with the same tp and pp\n";
  TextTable s;
  s.column("stage").column("weights").column("cache").column("context").column(
      "total");
  for (size_t i = 0; i < memory.serving.size(); ++i) {
    const ServingMemory &m = memory.serving[i];
    s.row({std::to_string(i), formatBytes(m.weights), formatBytes(m.cache),
           formatBytes(m.context),
           formatBytes(m.total()) + (m.total() > memory.limit ? " !" : "")});
  }
  s.print(out);
  bool over =
      any_of(memory.training,
             [&](const MemoryUse &m) { return m.total() > memory.limit; }) ||
      any_of(memory.serving,
             [&](const ServingMemory &m) { return m.total() > memory.limit; });
  if (over)
    out << "!: more than the " << formatBytes(memory.limit) << " of a GPU\n";
}

json::Value tessera::toJson(const RankMemory &memory) {
  json::Array training, serving;
  for (const MemoryUse &stage : memory.training) {
    json::Object o{{"stage", stage.stage}, {"total", stage.total()}};
    for (const Share &share : memoryShares(stage))
      o[share.name] = share.value;
    training.push_back(std::move(o));
  }
  for (size_t i = 0; i < memory.serving.size(); ++i) {
    const ServingMemory &m = memory.serving[i];
    serving.push_back(json::Object{{"stage", int64_t(i)},
                                   {"weights", m.weights},
                                   {"cache", m.cache},
                                   {"context", m.context},
                                   {"total", m.total()}});
  }
  return json::Object{{"layout", memory.layout},
                      {"limit", memory.limit},
                      {"training", std::move(training)},
                      {"serving", std::move(serving)}};
}
