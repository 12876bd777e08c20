//===- Detail.h - a layout looked at closely --------------------*- C++ -*-===//
//
// What pictures of a layout are made of: the timeline that the cost model
// played, the memory of every stage, and every kernel under its roofline. The
// page, the figures and the JSON all come from this one structure.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_PAGE_DETAIL_H
#define TESSERA_LIB_PLANNING_PAGE_DETAIL_H

#include "lib/Planning/Search/Solver.h"

namespace tessera {

/// One step on every stage, in seconds from its begin.
struct Timeline {
  PipelineProblem problem;
  /// What the passes consist of, and what each stage does after its last.
  StepDetail parts;
  /// Passes by stage and time, but those of the steady state inside `cut`
  /// where there are too many to be looked at.
  std::vector<PipelineEvent> passes;
  struct Cut {
    double from, to;
    int64_t passes; ///< that lie inside
  };
  std::optional<Cut> cut;
  /// When each stage has done its last pass.
  std::vector<double> lastPass;
  /// The whole step, its overhead included.
  double seconds = 0;
};

/// What a stretch of a stage's time is spent on.
enum class SegmentKind : uint8_t {
  Forward,
  Recompute,
  Backward,
  Weight,  ///< weight gradients on their own (zero-bubble)
  Exposed, ///< communication inside a pass that nothing hides
  Send,
  Gradients, ///< reduction, gathering of parameters
  Optimizer,
  Overhead, ///< fixed time of a step, stragglers
};
llvm::StringRef nameOf(SegmentKind kind);

struct Segment {
  int stage, chunk; ///< chunk -1: none
  int64_t microBatch;
  SegmentKind kind;
  double start, end;
};
/// The passes divided into what they consist of, then each stage's end of the
/// step. Those of no length are left out.
std::vector<Segment> segmentsOf(const Timeline &timeline);

/// One kernel on local shapes, in one direction.
struct KernelPoint {
  std::string block;
  KernelClass kernel = KernelClass::None;
  bool backward = false;
  DataType type = DataType::BF16;
  MatmulShape shape;
  /// Of one call: operations, bytes that must cross memory, predicted seconds.
  double flops = 0, bytes = 0, seconds = 0;
  /// Calls for one microbatch through all stages.
  int64_t calls = 0;
  /// Of the time of all kernels.
  double share = 0;

  double intensity() const { return flops / bytes; }
  double rate() const { return flops / seconds; }
  /// "matmul 8192x3584x8192"
  std::string str() const;
};
llvm::StringRef nameOf(KernelClass kernel);

struct LayoutDetail {
  Timeline timeline;
  /// A rank of each stage.
  std::vector<MemoryUse> stages;
  /// Those that do arithmetic, most time first.
  std::vector<KernelPoint> kernels;
  /// Of the chip: bytes per second, and the peak of each number format in use.
  double memoryBandwidth = 0;
  std::vector<std::pair<DataType, double>> peaks;
};

LayoutDetail detailOf(const PlanProblem &problem,
                      const FeatureProvider &provider, const Layout &layout);

/// Memory of the stages and the kernels; with `timeline` also that, by column.
llvm::json::Object toJson(const LayoutDetail &detail, bool timeline);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_DETAIL_H
