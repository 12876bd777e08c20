//===- Report.h - a plan as text and JSON ---------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_REPORT_H
#define TESSERA_LIB_PLANNING_SEARCH_REPORT_H

#include "Breakdown.h"
#include "Session.h"
#include "Studies.h"
#include "lib/Planning/Page/Detail.h"

namespace tessera {

struct PlanReport {
  const PlanSession &session;
  const PlanResult &result;
  Objective objective;
  Price gpuHourPrice;
  std::vector<Sensitivity> studies;
  std::optional<BeyondStack> beyond;
  std::vector<Candidate> front;
  std::vector<ClusterChoice> sizes;
  /// The best layout looked at closely; for JSON and pages.
  std::optional<LayoutDetail> detail = std::nullopt;
  /// JSON with the timeline and the figures.
  bool everything = false;
};

/// A layout of the user's own beside the best.
struct ExplainReport {
  const PlanSession &session;
  Candidate own;
  /// Memory of a GPU, or what the user allows of it.
  double room = 0;
  /// Whether what must be there at the peak is expected to find room.
  bool fits = true;
  /// It fits, but leaves less free than a plan does. The best is then searched
  /// with as much memory.
  bool tight = false;
  /// What the stack cannot run of the own layout.
  std::vector<Obstacle> obstacles = {};
  std::optional<Candidate> best = {};
  std::vector<Change> changes = {};
  std::optional<LayoutDetail> ownDetail = {}, bestDetail = {};
  bool everything = false;

  /// Bytes that the own layout needs beyond the room there is.
  double over() const { return own.memory.needed() - room; }
  /// Share of the time that the own layout takes longer.
  double loss() const { return own.step.seconds / best->step.seconds - 1; }
};

void print(const PlanReport &report, llvm::raw_ostream &out);
llvm::json::Value toJson(const PlanReport &report);
llvm::json::Array toJson(llvm::ArrayRef<Obstacle> obstacles);

/// The two tables of one layout: where time and memory go, and what memory
/// there is.
void printBreakdown(const Candidate &c, const PlanProblem &problem,
                    llvm::raw_ostream &out);

/// "18.2 s a step (...)" with what measurements say to expect of it.
void printStep(const Candidate &c, const PlanProblem &problem,
               llvm::raw_ostream &out);
/// The same as JSON: "text", and "measured" and "held_out" where known.
llvm::json::Object expectedErrorJson(const PlanProblem &problem);

/// "assumed: ...; ..."
void printAssumptions(const PlanSession &session, llvm::raw_ostream &out);

/// "$570.4K ($2.50 per GPU-hour)"
std::string costText(const Effort &effort, const Price &price);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_REPORT_H
