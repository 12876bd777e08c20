//===- Report.h - a plan as text and JSON ---------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_REPORT_H
#define TESSERA_LIB_PLANNING_SEARCH_REPORT_H

#include "Breakdown.h"
#include "Session.h"
#include "Studies.h"

namespace tessera {

struct PlanReport {
  const PlanSession &session;
  const PlanResult &result;
  Objective objective;
  double gpuHourPrice;
  std::vector<Sensitivity> studies;
  std::vector<Candidate> front;
  std::vector<ClusterChoice> sizes;
};

void print(const PlanReport &report, llvm::raw_ostream &out);
llvm::json::Value toJson(const PlanReport &report);

/// The two tables of one layout: where time and memory go.
void printBreakdown(const Candidate &c, llvm::raw_ostream &out);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_REPORT_H
