//===- RankProgram.cpp - a model's graph, partitioned, asked for costs ----===//
#include "lib/Forecast/RankProgram.h"

#include "lib/Forecast/ProgramReader.h"
#include "lib/Forecast/UnbuiltAxes.h"
#include "tessera/Transforms/Partition/Passes.h"
#include "tessera/Transforms/Plan/PlanLayout.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;
using namespace tessera::forecast;

llvm::Expected<std::unique_ptr<RankProgram>>
RankProgram::build(ModuleOp graph, int tp, bool sequenceParallel) {
  auto program = std::make_unique<RankProgram>();
  program->module = OwningOpRef<ModuleOp>(graph.clone());
  program->tp = tp;
  program->sequenceParallel = sequenceParallel;
  PlanOptions options;
  options.mesh.axes.push_back({kTensorAxis.str(), tp});
  options.sequenceParallel =
      sequenceParallel ? SequenceParallel::On : SequenceParallel::Off;
  ShardingFailure failure;
  ModuleOp module = *program->module;
  std::optional<ShardingPlan> plan = planSharding(module, options, failure);
  std::optional<PartitionAnalysis> analysis;
  if (plan)
    analysis = PartitionAnalysis::compute(module, *plan, failure);
  if (!analysis)
    return llvm::createStringError(failure.message);
  std::string message;
  ScopedDiagnosticHandler handler(graph.getContext(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error)
      message = d.str();
  });
  PartitionStatistics statistics;
  if (failed(applyPartition(module, *analysis, statistics)))
    return llvm::createStringError(message);
  if (llvm::Error error = ProgramReader(*program, *plan).run())
    return std::move(error);
  program->finish();
  return program;
}

namespace {
/// Evaluates one block.
class Evaluation {
public:
  Evaluation(const BlockSpec &spec, RankSizes sizes)
      : spec(spec), sizes(sizes) {
    int64_t positions = ceilDivide(spec.routedPositions, sizes.cp);
    routed = sizes.microBatch * positions * spec.chosen;
  }

  RankBlock run() {
    RankBlock block;
    block.name = spec.name;
    block.input = spec.input;
    types.resize(spec.tensors.size());
    block.tensors.reserve(spec.tensors.size());
    for (auto [i, tensor] : llvm::enumerate(spec.tensors)) {
      types[i] = typeOf(tensor, sizes.cp);
      RankTensor t;
      t.elements = types[i].getNumElements();
      t.elementBytes = (types[i].getElementTypeBitWidth() + 7) / 8;
      t.producer = tensor.producer;
      t.kind = tensor.kind;
      block.tensors.push_back(t);
    }
    block.ops.reserve(spec.ops.size());
    for (const OpSpec &op : spec.ops) {
      block.ops.push_back(op.base);
      evaluate(op, block, block.ops.back());
    }
    for (const ParameterSpec &p : spec.parameters)
      block.parameters.push_back({p.symbol, p.tensor,
                                  block.tensors[p.tensor].elements, p.expert,
                                  p.perLayer});
    return block;
  }

private:
  static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

  RankedTensorType typeOf(const TensorSpec &tensor, int cp) const {
    SmallVector<int64_t, 4> shape;
    for (const DimSpec &dim : tensor.dims)
      shape.push_back(sizeOf(dim, cp));
    return RankedTensorType::get(shape, tensor.element);
  }

  int64_t sizeOf(const DimSpec &dim, int cp) const {
    switch (dim.kind) {
    case DimSpec::Fixed:
      return dim.size;
    case DimSpec::Batch:
      return dim.size * sizes.microBatch;
    case DimSpec::Sequence:
      return ceilDivide(dim.size, cp);
    case DimSpec::Rows:
      return rowsOfExpert(routed, spec.experts);
    case DimSpec::ExchangedRows:
      return exchangedRowsOfExpert(routed, spec.experts, sizes);
    case DimSpec::Experts:
      return ceilDivide(dim.size, sizes.ep);
    case DimSpec::ExpertWidth:
      return ceilDivide(dim.size, sizes.etp);
    }
    return dim.size;
  }

public:
  /// Makes a block that was evaluated without expert parallelism one with it.
  void splitExperts(RankBlock &block) {
    types.resize(spec.tensors.size());
    for (int i : spec.expertTensors) {
      types[i] = typeOf(spec.tensors[i], sizes.cp);
      block.tensors[i].elements = types[i].getNumElements();
    }
    for (int i : spec.expertOps)
      evaluate(spec.ops[i], block, block.ops[i]);
    for (RankParameter &p : block.parameters)
      if (p.expert)
        p.elements = block.tensors[p.tensor].elements;
  }

private:
  /// Fills in what depends on sizes.
  void evaluate(const OpSpec &op, const RankBlock &block, RankOp &r) {
    if (!op.op) {
      const RankTensor &rows = block.tensors[r.operands[0]];
      int64_t width = sizeOf(spec.tensors[r.operands[0]].dims.back(), sizes.cp);
      r.collective.bytes =
          exchangeBytes(r.collective, routed, width * rows.elementBytes, sizes);
      return;
    }
    bool attends =
        r.role == OpRole::Attention || r.role == OpRole::LatentAttention;
    bool share = attends && sizes.cp > 1;
    auto collect = [&](ArrayRef<int> tensors) {
      SmallVector<RankedTensorType, 8> list;
      for (int t : tensors)
        list.push_back(t < 0   ? RankedTensorType()
                       : share ? typeOf(spec.tensors[t], 1)
                               : types[t]);
      return list;
    };
    CostOpInterface interface = op.op;
    r.cost = interface.getCost(collect(r.operands), collect(r.results));
    if (share)
      r.cost = contextShare(r.cost, sizes.cp);
    if (attends) {
      r.attention.heads = op.base.attention.heads * sizes.microBatch;
      r.attention.rows = ceilDivide(op.base.attention.rows, sizes.cp);
    }
    if (r.role == OpRole::GroupedLinear)
      r.experts = ceilDivide(op.base.experts, sizes.ep);
    if (r.role == OpRole::Collective) {
      int64_t in = block.tensors[r.operands[0]].bytes();
      int64_t out = block.tensors[r.results[0]].bytes();
      r.collective.bytes = std::max(in, out);
    }
  }

  const BlockSpec &spec;
  RankSizes sizes;
  int64_t routed = 0; ///< rows that this rank's tokens make
  SmallVector<RankedTensorType, 0> types;
};
} // namespace

RankBlock RankProgram::evaluate(int block, int64_t microBatch, int cp) const {
  return Evaluation(blocks[block], {microBatch, cp, 1, 1}).run();
}

void RankProgram::splitExperts(int block, const RankSizes &sizes,
                               RankBlock &made) const {
  Evaluation(blocks[block], sizes).splitExperts(made);
}

/// What all sizes have in common.
void RankProgram::finish() {
  for (BlockSpec &spec : blocks) {
    auto depends = [&](int tensor) {
      return tensor >= 0 &&
             llvm::any_of(spec.tensors[tensor].dims, [](const DimSpec &dim) {
               return dim.kind == DimSpec::ExchangedRows ||
                      dim.kind == DimSpec::Experts ||
                      dim.kind == DimSpec::ExpertWidth;
             });
    };
    for (int i = 0; i < int(spec.tensors.size()); ++i)
      if (depends(i))
        spec.expertTensors.push_back(i);
    for (int i = 0; i < int(spec.ops.size()); ++i)
      if (!spec.ops[i].op || llvm::any_of(spec.ops[i].base.operands, depends))
        spec.expertOps.push_back(i);
  }
  for (int i = 0; i < numBlocks(); ++i)
    blocks[i].facts = forecast::factsOf(evaluate(i, 1, 1));
  bool light = llvm::any_of(blocks, [](const BlockSpec &b) {
    return b.facts.hasExperts || b.facts.hasLatent;
  });
  for (BlockSpec &b : blocks)
    b.facts.lightModules = light;
  const std::vector<RankParameter> first = evaluate(0, 1, 1).parameters;
  for (const RankParameter &p : evaluate(numBlocks() - 1, 1, 1).parameters)
    if (llvm::any_of(first, [&](const RankParameter &q) {
          return q.symbol == p.symbol;
        }))
      shared += p.elements;
}
