//===- Validate.cpp - predictions against published measurements ----------===//
#include "tessera/Planning/Validate.h"
#include "Report.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Printable.h"
#include "llvm/ADT/MapVector.h"

using namespace llvm;
using namespace tessera;

/// Order of trust: a time needs no convention, tokens only the batch.
static int preference(Metric m) {
  switch (m) {
  case Metric::StepTime:
    return 3;
  case Metric::TokensPerSecond:
    return 2;
  case Metric::Tflops:
    return 1;
  case Metric::Mfu:
    return 0;
  default:
    return -1;
  }
}

static Report evaluate(const std::vector<Case> &cases,
                       const CostConstants &constants) {
  Report report;
  report.fitted = constants.measuredSources;
  for (const Case &c : cases) {
    Outcome o;
    o.run = &c;
    o.prediction = predict(c, constants);
    int best = -1;
    for (const Point *p : c.points) {
      o.complete |= p->complete;
      if (p->metric == Metric::Memory) {
        bool allocated = false;
        o.measuredMemory = measuredMemory(*p, allocated);
        o.predictedMemory =
            allocated ? o.prediction.memory.allocated()
                      : o.prediction.memory.shown(c.cluster.chip.memoryBytes);
      } else if (preference(p->metric) > best) {
        Expected<double> measured = measuredStepTime(*p, c);
        if (!measured) {
          consumeError(measured.takeError());
          continue;
        }
        best = preference(p->metric);
        o.metric = p->metric;
        o.measured = *measured;
      }
    }
    report.outcomes.push_back(std::move(o));
  }
  findSweeps(report);
  return report;
}

/// Whether both sets hold the same constants for the case's chip and framework.
static bool sameFor(const Case &c, const CostConstants &a,
                    const CostConstants &b) {
  const ChipConstants &chipA = a.chip(c.cluster.chip);
  const ChipConstants &chipB = b.chip(c.cluster.chip);
  for (auto &[name, member] : chipFields())
    if (chipA.*member != chipB.*member)
      return false;
  const StackConstants &stackA = a.stack(c.stack), &stackB = b.stack(c.stack);
  for (auto &[name, member] : stackFields())
    if (stackA.*member != stackB.*member)
      return false;
  return true;
}

static Error validate(const ValidateOptions &options, raw_ostream &out) {
  Expected<std::string> text = readFile(options.points);
  if (!text)
    return text.takeError();
  Expected<std::vector<Point>> points = readPoints(*text, options.points);
  if (!points)
    return points.takeError();
  std::vector<CostConstants> sets;
  if (options.constants.empty()) {
    sets.push_back(defaultConstants());
  } else {
    Expected<std::string> json = readFile(options.constants);
    if (!json)
      return json.takeError();
    Expected<json::Value> value = parseJson(*json, options.constants);
    if (!value)
      return value.takeError();
    json::Array one;
    const json::Array *all = value->getAsArray();
    if (!all) {
      one.push_back(*value);
      all = &one;
    }
    for (const json::Value &v : *all) {
      Expected<CostConstants> c = readConstants(v, options.constants);
      if (!c)
        return c.takeError();
      sets.push_back(std::move(*c));
    }
    if (sets.empty())
      return makeError(options.constants + ": holds no constants");
  }
  // Rows of one run, in order of appearance.
  MapVector<StringRef, std::vector<const Point *>> runs;
  std::vector<std::pair<std::string, std::string>> skipped;
  for (const Point &p : *points) {
    if (!StringRef(p.source).contains(options.source))
      continue;
    if (p.problem.empty())
      runs[p.run].push_back(&p);
    else
      skipped.push_back({p.run, p.problem});
  }
  if (runs.empty() && !skipped.empty())
    return makeError(skipped.front().second);
  if (runs.empty())
    return makeError(options.points + ": no row" +
                     (options.source.empty()
                          ? ""
                          : " whose source contains '" + options.source + "'"));
  std::vector<Case> cases;
  RowSources sources(options.features);
  for (auto &[run, rows] : runs) {
    if (!llvm::any_of(rows, [](const Point *p) { return p->complete; })) {
      skipped.push_back({run.str(), "the configuration is not complete"});
      continue;
    }
    Expected<Case> c = makeCase(rows, sources);
    if (c)
      cases.push_back(std::move(*c));
    else
      skipped.push_back({run.str(), toString(c.takeError())});
  }
  if (sets.size() > 1) {
    // For the fit: one list of predictions for each set, runs as in "runs".
    json::Array ids, lists;
    for (const Case &c : cases)
      ids.push_back(c.points.front()->run);
    std::vector<double> first;
    for (const CostConstants &constants : sets) {
      json::Array list;
      for (size_t i = 0; i < cases.size(); ++i) {
        const Case &c = cases[i];
        // Most sets of a fit differ from the first in one constant, which most
        // runs do not depend on.
        bool known = i < first.size() && sameFor(c, constants, sets.front());
        double seconds = known ? first[i] : predict(c, constants).step.seconds;
        if (&constants == &sets.front())
          first.push_back(seconds);
        list.push_back(seconds);
      }
      lists.push_back(std::move(list));
    }
    out << json::Value(json::Object{{"runs", std::move(ids)},
                                    {"predicted", std::move(lists)}})
        << '\n';
    return Error::success();
  }
  Report report = evaluate(cases, sets.front());
  report.skipped = std::move(skipped);
  if (options.json) {
    json::Value root = toJson(report);
    if (options.details)
      (*root.getAsObject())["figures"] =
          json::Object{{"scatter", scatterFigure(report)}};
    out << formatv("{0:2}", root) << '\n';
  } else
    printText(report, options.runs, out);
  return Error::success();
}

std::string tessera::validateTemplate() { return pointsTemplate(); }

int tessera::runValidate(const ValidateOptions &options, raw_ostream &out,
                         raw_ostream &err) {
  if (Error e = validate(options, out)) {
    printError(err, toString(std::move(e)));
    return 1;
  }
  return 0;
}
