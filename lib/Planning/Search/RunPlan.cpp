//===- RunPlan.cpp - tessera plan -----------------------------------------===//
#include "NextSteps.h"
#include "Report.h"
#include "Studies.h"
#include "lib/Planning/Page/Page.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Units.h"
#include <cmath>

using namespace llvm;
using namespace tessera;

static int fail(raw_ostream &err, const Twine &message) {
  printError(err, message);
  return 1;
}

int tessera::runPlan(const PlanOptions &o, raw_ostream &out, raw_ostream &err) {
  Expected<Objective> objective = parseObjective(o.objective);
  if (!objective)
    return fail(err, toString(objective.takeError()));
  if (o.top < 1 || o.top > 1000)
    return fail(err, "--top: expected a whole number from 1 to 1000, got " +
                         Twine(o.top));
  if (!(o.timeLimit >= 0) || !std::isfinite(o.timeLimit))
    return fail(err, "--time-limit: expected a number of at least 0, got " +
                         formatNumber(o.timeLimit, 3));
  if (Error e = checkOutputs(o.report, o.json, o.details))
    return fail(err, toString(std::move(e)));
  Expected<PlanSession> session = makeSession(o.input);
  if (!session)
    return fail(err, toString(session.takeError()));
  PlanProblem &p = session->problem;
  std::vector<ClusterChoice> sizes;
  if (o.gpusFree) {
    sizes = compareSizes(p, *objective);
    if (const ClusterChoice *best = bestOf(sizes)) {
      p.model.cluster = withNodes(p.model.cluster, best->nodes);
      if (Error e = setNodes(*session, best->nodes))
        return fail(err, toString(std::move(e)));
      session->assumptions.push_back(
          "the global batch stays the same for every number of GPUs");
    }
  }
  ModelProvider provider(p);
  SolverOptions options;
  options.top = std::max(2, o.top);
  options.timeLimit = o.timeLimit;
  PlanResult result = solve(p, provider, options);
  if (result.ranked.empty()) {
    if (result.certificate.gap > 0)
      return fail(err, "no layout that fits was found in " +
                           formatDuration(o.timeLimit) +
                           "; give the search more time (--time-limit)");
    return fail(err, explainNoFit(p, result));
  }
  if (static_cast<int>(result.ranked.size()) > o.top && o.top > 1)
    result.ranked.resize(o.top);
  PlanReport report{*session, result, *objective, o.gpuHourPrice,
                    {},       {},     {},         {}};
  report.sizes = std::move(sizes);
  if (o.sensitivity) {
    report.studies = sensitivity(p, result);
    report.beyond = beyondStack(p, result);
  }
  if (o.pareto)
    report.front = paretoFront(p, result.ranked.front());
  report.everything = o.details;
  if (o.json || !o.report.empty())
    report.detail = detailOf(p, provider, result.ranked.front().layout);
  if (!o.report.empty())
    if (Error e = writeFileAtomically(
            o.report, [&](raw_ostream &os) { writePage(report, os); }))
      return fail(err, toString(std::move(e)));
  if (o.json)
    printJson(toJson(report), out);
  else if (o.report != "-")
    print(report, out);
  return 0;
}
