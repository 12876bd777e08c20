//===- Problem.h - the question that a planner is asked -------------------===//
//
// A problem is a value: model, workload, cluster, software, constraints. It
// can say whether the question is legal (check) and whether an answer is
// (verify); it knows nothing of how answers are found.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_PROBLEM_H
#define TESSERA_LIB_PLANNING_SEARCH_PROBLEM_H

#include "Choices.h"
#include "tessera/CostModel/Memory.h"
#include "tessera/CostModel/Step.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/FeatureSource.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Planning/ModelShape.h"

namespace tessera {

/// Beyond these a question is a slip of the keyboard, and products of sizes
/// would no longer be exact.
constexpr int64_t kLongestSequence = int64_t(1) << 30;
constexpr int64_t kLargestBatch = int64_t(1) << 31;
constexpr int64_t kMostLayers = 10000;

/// Bytes of a GPU that a plan fills: 95 %. Of 94 published runs nine in ten
/// took at most 4.4 % more than predicted, so a plan that keeps to this fits
/// nine times in ten.
double plannedMemory(const Chip &chip);

struct PlanProblem {
  std::string name; ///< of the model
  ModelShape shape;
  /// Where the model's costs come from.
  FeatureSourcePtr source;
  /// Longest sequence that the model's positions cover; 0: any.
  int64_t positions = 0;
  Workload workload;
  Precision precision;
  std::string stack;
  /// Cluster, fitted constants and traits of the stack.
  StepModel model;
  FixedChoices fixed;
  /// Bytes that a rank of a plan may use, the allocator's reserve included.
  double memoryLimit = 0;
  /// What a GPU has, or what the user allows of it, and how much of it a plan
  /// keeps free besides that reserve. 0: all of the chip's, nothing.
  double memoryRoom = 0, memoryMargin = 0;
  /// Load of the fullest expert-parallel rank over the mean.
  double expertSkew = 1.0;
  /// What the stack can run; null: no limits are known, and what only some
  /// stacks have (zero-bubble schedules, dispatchers) is searched where it is
  /// asked for.
  const Framework *framework = nullptr;

  /// Names the software and looks up what it can run.
  void setStack(llvm::StringRef name);
  /// Can the stack run that part of the layout?
  bool runs(const Layout &layout, LayoutPart part = LayoutPart::All) const {
    return !framework ||
           tessera::runs(*framework, layout, frameworkModel(), part);
  }
  /// The layout with overlap that the software has; what it has only beside
  /// something else (sequence parallelism) where that is on.
  Layout withSwitches(const Layout &layout) const;
  FrameworkModel frameworkModel() const {
    return {shape.layers, shape.experts > 0};
  }

  int64_t gpus() const { return model.cluster.numGPUs(); }

  /// Are sequence, batch and layers sizes that features can be made of?
  llvm::Error checkSizes() const;
  /// Is the question legal: sizes, ranges, and constraints that do not
  /// contradict the model, the cluster or each other (the message names the
  /// two). Says nothing about memory.
  llvm::Error check() const;
  /// Is the answer legal: everything that makes a layout meaningless or that
  /// no framework can run. Says nothing about memory and about what this stack
  /// can run.
  llvm::Error verify(const Layout &layout) const;
};

/// The shape of a model.
ModelShape shapeOf(const ModelConfig &config, int64_t sequence);

/// The layout without overlap that the software does not have.
Layout withStackSwitches(Layout layout, const StackTraits &traits);

/// A global batch of about `tokens` tokens: a multiple of the GPUs, or with
/// more GPUs than sequences the divisor of their number nearest below.
int64_t defaultGlobalBatch(int64_t gpus, int64_t sequence,
                           double tokens = 4.0 * 1024 * 1024);

/// Workload of mixed-precision training with Adam: 16-bit weights and
/// activations, 32-bit gradients, master weights and moments.
Workload defaultWorkload(int64_t sequence, int64_t globalBatch,
                         const StackTraits &traits);

/// Cluster of `nodes` nodes and otherwise the same.
Cluster withNodes(const Cluster &cluster, int nodes);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_PROBLEM_H
