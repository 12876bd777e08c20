//===- CountUnderMesh.cpp - what a program would do on a mesh -------------===//
#include "tessera/Transforms/Plan/CountUnderMesh.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Transforms/Partition/Passes.h"

using namespace mlir;
using namespace tessera;

std::optional<ProgramCounts> tessera::countUnderMesh(ModuleOp module,
                                                     const PlanOptions &options,
                                                     ShardingFailure &failure) {
  OwningOpRef<ModuleOp> copy(module.clone());
  std::optional<ShardingPlan> plan = planSharding(*copy, options, failure);
  std::optional<PartitionAnalysis> analysis;
  if (plan)
    analysis = PartitionAnalysis::compute(*copy, *plan, failure);
  failure.op = nullptr;
  if (!analysis)
    return std::nullopt;
  writeShardingPlan(*copy, *plan);
  // What the rewrite or the count objects to goes into the message.
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          failure.message = diagnostic.str();
      });
  PartitionStatistics statistics;
  if (failed(applyPartition(*copy, *analysis, statistics)))
    return std::nullopt;
  FailureOr<ProgramCounts> counts = countProgram(*copy);
  if (failed(counts))
    return std::nullopt;
  return std::move(*counts);
}
