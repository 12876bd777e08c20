//===- Report.h - a plan as text and JSON ---------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_REPORT_H
#define TESSERA_LIB_PLANNING_SEARCH_REPORT_H

#include "Breakdown.h"
#include "NextSteps.h"
#include "Session.h"
#include "Studies.h"
#include "lib/Planning/Page/Detail.h"
#include "tessera/CostModel/Validation.h"

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
  /// Switches that the stack cannot have on in it: it is timed without them.
  std::vector<Obstacle> switchedOff = {};
  std::optional<Candidate> best = {};
  std::vector<Change> changes = {};
  std::optional<LayoutDetail> ownDetail = {}, bestDetail = {};
  bool everything = false;

  /// Bytes that the own layout needs beyond the room there is.
  double over() const { return own.memory.needed() - room; }
  /// Share of the time that the own layout takes longer.
  double loss() const { return own.step.seconds / best->step.seconds - 1; }
  /// There is nothing to gain: it fits, runs on the stack, and the best takes
  /// as long.
  bool asGoodAsBest() const {
    constexpr double kSame = 5e-4;
    return best && fits && obstacles.empty() && loss() < kSame;
  }
};

void print(const PlanReport &report, llvm::raw_ostream &out);
llvm::json::Value toJson(const PlanReport &report);
llvm::json::Array toJson(llvm::ArrayRef<Obstacle> obstacles);

/// Memory of a GPU, or what the user allows of it.
double roomOf(const PlanProblem &problem);

/// Bytes that a plan keeps free: the allocator's reserve and the margin.
double keptFree(const Candidate &c, const PlanProblem &problem);

/// A line of a breakdown; `text` is the value in the unit of its column.
struct BreakdownLine {
  std::string name;
  double value = 0; ///< seconds or bytes
  std::string text, share;
};
/// Of the fullest GPU: what it holds, then what that needs, the room, what is
/// free of it or missing, and what a plan keeps free.
std::vector<BreakdownLine> memoryLines(const Candidate &c,
                                       const PlanProblem &problem);

/// The two tables of one layout: where time and memory go, and what memory
/// there is.
void printBreakdown(const Candidate &c, const PlanProblem &problem,
                    llvm::raw_ostream &out);

/// "18.2 s a step (...)" with what measurements say to expect of it.
void printStep(const Candidate &c, const PlanProblem &problem,
               llvm::raw_ostream &out);
/// What stands there in the brackets.
ExpectedError expectedErrorOf(const Candidate &c, const PlanProblem &problem);
llvm::json::Object expectedErrorJson(const Candidate &c,
                                     const PlanProblem &problem);

/// What the stack cannot run, and the best layout without that; empty where it
/// was not asked or nothing is left out.
std::vector<std::string> beyondText(const PlanReport &report);

/// "assumed: ...; ..."
void printAssumptions(const PlanSession &session, llvm::raw_ostream &out);

/// "NeMo cannot run it: zero=3 with pp=4 (...)"; "" where it can.
std::string obstaclesText(const ExplainReport &report);
/// That it does not fit, or leaves less free than a plan; "" where it is well.
std::string fitText(const ExplainReport &report);
/// "your layout takes 25.0 % longer than the best (20.0 % fewer tokens/s)"
std::string lossText(const ExplainReport &report);
/// How to go on: with the best, or with the own layout where it is that.
std::vector<NextStep> nextSteps(const ExplainReport &report);
/// "3.1 % faster than the best that NeMo can run", for a layout that is.
std::string fasterText(const ExplainReport &report);
/// Sentences: what stands in the layout's way, and last how it compares.
std::vector<std::string> verdictText(const ExplainReport &report);

/// "$570.4K ($2.50 per GPU-hour)"
std::string costText(const Effort &effort, const Price &price);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_REPORT_H
