//===- GraphSource.cpp - features from a model's graph --------------------===//
//
// Three levels are kept: the graph of each sequence length, its partition for
// each (tp, sp), and on that for each microbatch and cp the features of blocks
// without experts and the costs of those with.
//
//===----------------------------------------------------------------------===//
#include "tessera/Forecast/GraphSource.h"

#include "lib/Forecast/Lowering.h"
#include "lib/Forecast/RankProgram.h"
#include "tessera/Import/Import.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace tessera;
using namespace tessera::forecast;

namespace {
/// A graph and its partitions, for one sequence length.
class SequenceGraph {
public:
  SequenceGraph(MLIRContext &context, ModelConfig config, int64_t sequence) {
    // Rotary tables and learned positions are taken to reach as far as asked.
    config.maxPositions = std::max(config.maxPositions, sequence);
    ImportOptions options;
    options.batch = 1;
    options.sequence = sequence;
    options.dtype = "bf16";
    auto built = buildModel(context, config, options, /*weights=*/"",
                            [&](const Twine &text) { error = text.str(); });
    if (succeeded(built))
      graph = std::move(*built);
  }

  /// Null, and a reason in `why`, where the model cannot be split like that.
  const RankProgram *program(int tp, bool sp, std::string *why) {
    Entry &entry = programs[{tp, sp}];
    if (!entry.program && entry.error.empty()) {
      if (!graph) {
        entry.error = error;
      } else if (auto made = RankProgram::build(*graph, tp, sp)) {
        entry.program = std::move(*made);
      } else {
        entry.error = llvm::toString(made.takeError());
      }
    }
    if (!entry.program && why)
      *why = entry.error;
    return entry.program.get();
  }

private:
  struct Entry {
    std::unique_ptr<RankProgram> program;
    std::string error;
  };
  OwningOpRef<ModuleOp> graph;
  std::string error;
  std::map<std::pair<int, bool>, Entry> programs;
};

class GraphSource : public FeatureSource {
public:
  explicit GraphSource(const ModelConfig &config)
      : config(config), context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TesseraDialect, func::FuncDialect>();
  }

  bool supports(const Layout &layout, int64_t sequence,
                std::string *why) const override {
    return programFor(layout, sequence, why) != nullptr;
  }

  ModelFeatures features(const Layout &layout,
                         const FeatureQuery &query) const override {
    const RankProgram *program = programFor(layout, query.sequence, nullptr);
    if (!program)
      return {};
    if (!sameStack(query, asked)) {
      known.clear();
      last = nullptr;
      asked = query;
    }
    Shared &all = shared(*program, layout, query);
    ModelFeatures f;
    f.calls = program->getCalls();
    f.boundaryBytes = all.boundaryBytes;
    f.blocks.reserve(program->numBlocks());
    for (int i = 0; i < program->numBlocks(); ++i) {
      if (program->hasExperts(i) && !all.holds(layout)) {
        program->splitExperts(i, sizesOf(layout), all.blocks[i]);
        all.lowered[i] =
            lowerToStack(all.blocks[i], program->factsOf(i), layout, query);
      }
      f.blocks.push_back(all.lowered[i]);
    }
    all.remember(layout);
    // A table that embedding and head share is one where both lie together.
    if (layout.pp == 1)
      f.blocks.back().denseParameters -= program->sharedElements();
    return f;
  }

private:
  /// What layouts share that differ in nothing but expert parallelism.
  struct Shared {
    /// Blocks with experts as the last layout had them; others are empty.
    std::vector<RankBlock> blocks;
    std::vector<BlockFeatures> lowered;
    int64_t boundaryBytes = 0;

    /// Whether blocks with experts are those of the layout. The search asks
    /// several times for one before it goes on to the next.
    bool holds(const Layout &l) const {
      return ep == l.ep && etp == l.etp && dispatcher == l.dispatcher;
    }
    void remember(const Layout &l) {
      ep = l.ep;
      etp = l.etp;
      dispatcher = l.dispatcher;
    }

  private:
    int ep = 0, etp = 0;
    DispatcherKind dispatcher = DispatcherKind::AllToAll;
  };

  static RankSizes sizesOf(const Layout &l) {
    return {l.microBatch, l.cp, l.ep, l.etp};
  }

  Shared &shared(const RankProgram &program, const Layout &l,
                 const FeatureQuery &query) const {
    Key key{&program, l.microBatch, l.cp, int(l.contextKind), l.zeroStage >= 3};
    if (last && key == lastKey)
      return *last;
    auto [at, isNew] = known.try_emplace(key);
    Shared &all = at->second;
    if (isNew) {
      int blocks = program.numBlocks();
      all.blocks.resize(blocks);
      all.lowered.resize(blocks);
      for (int i = 0; i < blocks; ++i) {
        RankBlock block = program.evaluate(i, l.microBatch, l.cp);
        if (!program.hasExperts(i))
          all.lowered[i] = lowerToStack(block, program.factsOf(i), l, query);
        // Megatron scatters the boundary over tensor-parallel ranks (section
        // 4.1 of arXiv 2104.04473); sequence parallelism has it scattered.
        if (i + 1 == blocks)
          all.boundaryBytes = program.streamBytes(block) / l.tp;
        if (program.hasExperts(i))
          all.blocks[i] = std::move(block);
      }
    }
    last = &all;
    lastKey = key;
    return all;
  }

  /// Whether both ask of the same stack, as far as the lowering looks at it.
  static bool sameStack(const FeatureQuery &a, const FeatureQuery &b) {
    const StackTraits &s = a.traits, &t = b.traits;
    return s.attention == t.attention &&
           s.fusedElementwise == t.fusedElementwise &&
           s.composed == t.composed &&
           s.fusedGradientAccumulation == t.fusedGradientAccumulation &&
           s.jointHeads == t.jointHeads && s.jointGate == t.jointGate &&
           s.fsdp == t.fsdp && s.fusedLoss == t.fusedLoss &&
           s.weighsInActivation == t.weighsInActivation &&
           s.dropout == t.dropout && s.selective == t.selective &&
           s.selectsOperations == t.selectsOperations &&
           a.precision.linear == b.precision.linear &&
           a.precision.frozen == b.precision.frozen;
  }

  const RankProgram *programFor(const Layout &layout, int64_t sequence,
                                std::string *why) const {
    std::unique_ptr<SequenceGraph> &graph = graphs[sequence];
    if (!graph)
      graph = std::make_unique<SequenceGraph>(context, config, sequence);
    return graph->program(layout.tp, layout.sequenceParallel, why);
  }

  ModelConfig config;
  mutable MLIRContext context;
  mutable std::map<int64_t, std::unique_ptr<SequenceGraph>> graphs;
  using Key = std::tuple<const RankProgram *, int64_t, int, int, bool>;
  mutable std::map<Key, Shared> known;
  mutable Key lastKey;
  mutable Shared *last = nullptr;
  /// The stack that `known` holds for.
  mutable FeatureQuery asked;
};
} // namespace

llvm::Expected<FeatureSourcePtr>
tessera::makeGraphSource(const ModelConfig &config) {
  return std::make_shared<GraphSource>(config);
}
