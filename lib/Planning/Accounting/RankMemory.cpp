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
#include "lib/Planning/Search/Legal.h"
#include "lib/Planning/Search/Provider.h"
#include "lib/Planning/Search/Session.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

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

/// What a rank of each stage holds that serves under the tp and pp of `layout`.
static std::vector<ServingMemory> servingMemory(const PlanSession &session,
                                                const PlanProblem &p,
                                                Layout layout,
                                                const ServingQuestion &q) {
  // Served weights are whole: without ZeRO.
  layout.zeroStage = std::min(layout.zeroStage, 1);
  ModelProvider provider(p);
  std::vector<MemoryUse> stages, bare;
  ModelFeatures features = provider.features(layout);
  memoryUse(features, layout, p.workload, p.model.cluster, &stages);
  // Without embedding and head, which keep 16 bits.
  for (const BlockCall &call : features.calls)
    if (call.pinned) {
      BlockFeatures &block = features.blocks[call.block];
      block.denseParameters = block.expertParameters = 0;
    }
  memoryUse(features, layout, p.workload, p.model.cluster, &bare);
  double cache = cacheBytes(session.config, p.workload.sequence, q.cacheBytes) *
                 double(q.cacheBatch) /
                 double(cacheParts(session.config, layout.tp));
  std::vector<int> layers =
      stageLayers(layout, static_cast<int>(session.config.layers));
  std::vector<ServingMemory> serving;
  for (auto [stage, inner] : llvm::zip(stages, bare))
    serving.push_back(
        {stage.weights +
             inner.weights * (q.layerBytes / p.workload.weightBytes - 1),
         cache * layers[stage.stage] / double(session.config.layers),
         stage.context});
  return serving;
}

Expected<std::optional<ServingGroup>>
tessera::smallestServingGroup(const PlanInput &input,
                              const ServingQuestion &question) {
  Expected<PlanSession> session = makeSession(input);
  if (!session)
    return session.takeError();
  const PlanProblem &p = session->problem;
  const Cluster &cluster = p.model.cluster;
  // A chip alone stands for the usual server of it.
  Cluster server =
      cluster.numGPUs() > 1 ? cluster : makeCluster(cluster.chip, 1, 8);
  int most = std::max(server.gpusPerNode, server.domainSize());
  /// Nothing where the model cannot be split like that.
  auto need = [&](int tp, int pp) -> std::optional<double> {
    PlanProblem q = p;
    q.model.cluster = makeCluster(cluster.chip, 1, tp * pp);
    q.workload.globalBatch = 1;
    Layout layout;
    layout.tp = tp;
    layout.pp = pp;
    layout.sequenceParallel = tp > 1 && q.shape.experts;
    std::optional<double> least;
    // The experts of a group are split themselves, or dealt out.
    for (auto experts : {&Layout::etp, &Layout::ep}) {
      Layout split = layout;
      if (q.shape.experts)
        split.*experts = tp;
      if (!isLegal(q, split))
        continue;
      double bytes = 0;
      for (const ServingMemory &m : servingMemory(*session, q, split, question))
        bytes = std::max(bytes, m.total());
      least = std::min(least.value_or(bytes), bytes);
    }
    return least;
  };
  int widest = 1;
  for (int tp = 1; tp <= most; ++tp)
    if (std::optional<double> bytes = need(tp, 1)) {
      widest = tp;
      if (*bytes <= p.memoryLimit)
        return ServingGroup{tp, 1, *bytes, p.memoryRoom};
    }
  for (int pp = 2; pp <= int(session->config.layers); ++pp)
    if (std::optional<double> bytes = need(widest, pp))
      if (*bytes <= p.memoryLimit)
        return ServingGroup{widest, pp, *bytes, p.memoryRoom};
  return std::optional<ServingGroup>();
}

Expected<RankMemory> tessera::rankMemory(const PlanInput &input, StringRef text,
                                         const ServingQuestion &question) {
  Expected<PlanSession> session = makeSession(input);
  if (!session)
    return session.takeError();
  const PlanProblem &p = session->problem;
  Expected<Layout> given = layoutFrom(text, p.gpus());
  if (!given)
    return atFlag("--layout", given.takeError());
  if (Error e = p.verify(*given))
    return makeError("--layout is not legal: " + toString(std::move(e)));
  Layout layout = p.withSwitches(*given);
  RankMemory memory;
  memory.layout = layout.str();
  memory.limit =
      input.memory.empty() ? p.model.cluster.chip.memoryBytes : p.memoryLimit;
  memory.cacheBatch = question.cacheBatch;
  ModelProvider provider(p);
  memoryUse(provider.features(layout), layout, p.workload, p.model.cluster,
            &memory.training);

  memory.serving = servingMemory(*session, p, layout, question);
  return memory;
}

/// Prints rows of sizes, the last of each the total; a column has one unit.
static void printStages(ArrayRef<std::string> names,
                        ArrayRef<std::vector<double>> stages, double limit,
                        raw_ostream &out) {
  TextTable table;
  table.column("stage");
  std::vector<std::vector<std::string>> rows(stages.size());
  for (size_t i = 0; i < stages.size(); ++i)
    rows[i].push_back(std::to_string(i));
  bool over = false;
  for (size_t j = 0; j < names.size(); ++j) {
    std::vector<double> values;
    for (const std::vector<double> &stage : stages)
      values.push_back(stage[j]);
    std::vector<std::string> texts = formatSizes(values);
    StringRef unit = StringRef(texts.front()).rsplit(' ').second;
    table.column(join(llvm::split(names[j], ' '), "\n") + "\n" + unit.str());
    for (size_t i = 0; i < stages.size(); ++i) {
      bool tooMuch = j + 1 == names.size() && values[i] > limit;
      over |= tooMuch;
      rows[i].push_back(StringRef(texts[i]).rsplit(' ').first.str() +
                        (tooMuch ? " !" : ""));
    }
  }
  for (std::vector<std::string> &row : rows)
    table.row(std::move(row));
  table.print(out);
  if (over)
    out << "!: more than the " << formatBytes(limit) << " of a GPU\n";
}

void tessera::printRankMemory(const RankMemory &memory, raw_ostream &out) {
  out << "\n";
  printWrapped(out, "memory of a rank of each stage, training under " +
                        memory.layout + " (of " + formatBytes(memory.limit) +
                        ")");
  std::vector<std::string> names;
  std::vector<std::vector<double>> stages;
  for (const Share &share : memoryShares(memory.training.front()))
    names.push_back(share.name);
  for (const MemoryUse &stage : memory.training) {
    stages.emplace_back();
    for (const Share &share : memoryShares(stage))
      stages.back().push_back(share.value);
    stages.back().push_back(stage.needed());
  }
  names.push_back("needed");
  printStages(names, stages, memory.limit, out);
  out << "\nserving " << memory.cacheBatch
      << (memory.cacheBatch == 1 ? " sequence" : " sequences")
      << " with the same tp and pp\n";
  stages.clear();
  for (const ServingMemory &m : memory.serving)
    stages.push_back({m.weights, m.cache, m.context, m.total()});
  printStages({"weights", "cache", "context", "total"}, stages, memory.limit,
              out);
}

json::Value tessera::toJson(const RankMemory &memory) {
  json::Array training, serving;
  for (const MemoryUse &stage : memory.training) {
    json::Object o{{"stage", stage.stage}, {"total", stage.needed()}};
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
