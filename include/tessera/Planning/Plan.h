//===- Plan.h - plan, explain and estimate as calls -----------------------===//
//
// What the commands of the same names do, from texts as a user gives them to
// text or JSON. All return 0, or 1 after one line on `err`.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_PLAN_H
#define TESSERA_PLANNING_PLAN_H

#include "tessera/Planning/FeatureSource.h"
#include "tessera/Support/Units.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tessera {

/// Model, cluster and workload; every text may be empty, which means the
/// default (see docs/planning.md).
struct PlanInput {
  /// Folder, config.json, `.mlir` file or the name of a shipped model.
  std::string model;
  /// CHIP:NODESxGPUS or a JSON file.
  std::string cluster;
  int64_t sequence = 0;    ///< 0: the model's positions, at most 4096
  int64_t globalBatch = 0; ///< sequences; 0: about 4M tokens
  /// Where the two were said, for people.
  std::string sequenceFrom = "--sequence", batchFrom = "--global-batch";
  std::string precision = "bf16"; ///< bf16 or fp8 (the layers' products)
  std::string stack = "nemo";
  /// Why it is that stack where nobody named it: "train.sh is a file of
  /// Megatron-LM".
  std::string stackWhy;
  /// Fixed choices: "tp=8,pp=4".
  std::string fixed;
  std::string memory; ///< limit for each GPU; "": what the chip has
  double expertSkew = 1.0;
  /// Where the model's costs come from; needed.
  FeatureSourceMaker features;
};

struct PlanOptions {
  PlanInput input;
  /// step-time, tokens-per-gpu, cost or energy.
  std::string objective = "step-time";
  /// Also smaller numbers of nodes: how many would be best.
  bool gpusFree = false;
  Price gpuHourPrice;  ///< for cost; none: in GPU-hours
  bool pareto = false; ///< front of step time against memory
  bool sensitivity = true;
  int top = 6;
  double timeLimit = 0;
  bool json = false;
  /// With `json`: also the timeline and the figures as SVG.
  bool details = false;
  /// File to write the report to, one self-contained HTML page; "": none.
  std::string report;
};

/// `tessera plan`
int runPlan(const PlanOptions &options, llvm::raw_ostream &out,
            llvm::raw_ostream &err);

struct ExplainOptions {
  PlanInput input;
  std::string layout; ///< "dp=8,tp=8,pp=4,mb=1,sp"
  /// The file that the layout was read from, for messages; "": given as text.
  std::string layoutFile;
  bool json = false;
  bool details = false; ///< see PlanOptions
  std::string report;   ///< see PlanOptions
};

/// `tessera explain`
int runExplain(const ExplainOptions &options, llvm::raw_ostream &out,
               llvm::raw_ostream &err);

/// What would keep `layout` ("dp=8 tp=8 mb=1") from running on
/// `input.cluster`: rules that it breaks, memory that is missing. Without a
/// cluster only what does not depend on it. Fails where the question itself is
/// wrong.
llvm::Expected<std::vector<std::string>> layoutObstacles(const PlanInput &input,
                                                         const Layout &layout);

struct EstimateOptions {
  std::string model;
  std::string cluster; ///< "" for none; a chip alone counts as one GPU
  int64_t sequence = 0;
  /// Inference: sequences served at once and their length.
  int64_t cacheBatch = 1;
  /// Formats of weights and cache; "": the checkpoint's, 16 bits.
  std::string weights, cache;
  double tokens = 0;   ///< training tokens; 0: not asked
  double mfu = 0;      ///< model FLOPs utilisation
  double gpuHours = 0; ///< the two others follow
  double tokensPerSecondPerGpu = 0;
  /// Memory by rank under this layout; needs a whole cluster. Empty: not asked.
  std::string layout;
  std::string stack = "nemo"; ///< for the memory by rank
  int64_t globalBatch = 0;    ///< likewise; 0: about 4M tokens
  /// Where the model's costs come from; needed.
  FeatureSourceMaker features;
  bool json = false;
};

/// `tessera estimate`
int runEstimate(const EstimateOptions &options, llvm::raw_ostream &out,
                llvm::raw_ostream &err);

} // namespace tessera

#endif // TESSERA_PLANNING_PLAN_H
