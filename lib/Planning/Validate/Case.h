//===- Case.h - a run made ready to predict -------------------------------===//
//
// From a row's columns and notes to cluster, model shape, layout, workload and
// features; everything here is a fact of the source or a documented default of
// its framework, nothing is fitted.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_CASE_H
#define TESSERA_LIB_PLANNING_VALIDATE_CASE_H

#include "Point.h"
#include "tessera/CostModel/Memory.h"
#include "tessera/CostModel/Step.h"
#include "tessera/Planning/FeatureSource.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Planning/ModelShape.h"
#include <map>

namespace tessera {

struct Case {
  std::vector<const Point *> points; ///< the rows of the run
  std::string stack;
  /// What the stack's software can run, where the row was measured with it and
  /// limits are known.
  const Framework *framework = nullptr;
  StackTraits traits;
  Cluster cluster;
  ModelShape shape;
  Precision precision;
  Layout layout;
  Workload workload;
  FeatureSourcePtr source;
  ModelFeatures features;
  /// The source does not say what is recomputed; inferred from memory.
  bool recomputeInferred = false;
  /// What of the row was not understood, and what it was taken for.
  std::vector<std::string> remarks;
};

/// The framework that a source's rows were measured with; `guessed` is set
/// where the row says nothing of it.
std::string stackOf(const Point &point, bool *guessed = nullptr);
/// Whether `stack` is the row's own software. Otherwise the stack's costs stand
/// for it, as llm-foundry's for plain PyTorch's, and what the stack can run
/// says nothing of it.
bool isOwnStack(const Point &point, llvm::StringRef stack);

/// Sources of features, one for each model among the rows.
class RowSources {
public:
  explicit RowSources(FeatureSourceMaker make) : make(std::move(make)) {}
  llvm::Expected<FeatureSourcePtr> of(const ModelShape &shape);

private:
  FeatureSourceMaker make;
  std::map<std::string, FeatureSourcePtr> known;
};

/// Fails where the run cannot be modelled (another vendor's chip, say).
llvm::Expected<Case> makeCase(std::vector<const Point *> points,
                              RowSources &sources);

/// Number formats of gradients and optimizer in recipes tuned for speed.
void tunedPrecision(Case &c);
/// Chooses the microbatch of a run whose source does not say it.
void inferMicroBatch(Case &c);
/// Chooses what is recomputed, and if need be sharded, so that the run fits.
void inferRecomputation(const Point &p, Case &c);

/// Seconds of a step that the row's metric means; fails where the metric says
/// nothing about a step.
llvm::Expected<double> measuredStepTime(const Point &point, const Case &c);

/// Bytes that a memory row means, and whether it is what the allocator handed
/// out (otherwise what the device showed).
double measuredMemory(const Point &point, bool &allocated);

struct Prediction {
  StepTime step;
  MemoryUse memory;
};
Prediction predict(const Case &c, const CostConstants &constants);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_CASE_H
