//===- RunExplain.cpp - tessera explain -----------------------------------===//
#include "NextSteps.h"
#include "Report.h"
#include "lib/Planning/Page/Page.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"

using namespace llvm;
using namespace tessera;

/// The layout without what the stack cannot have switched on in it.
static Layout runningSwitches(const PlanProblem &p, const Layout &layout) {
  return p.framework ? nearestRunning(*p.framework, layout, p.frameworkModel(),
                                      LayoutPart::Overlap)
                     : layout;
}

static Expected<Layout> readLayout(const PlanSession &s,
                                   const ExplainOptions &o) {
  if (o.layout.empty())
    return makeError("give the layout to explain: --layout "
                     "\"tp=8,pp=4,mb=1,sp\", or --from and the file of a "
                     "training framework");
  std::string where =
      o.layoutFile.empty() ? "--layout" : "--from '" + o.layoutFile + "'";
  Expected<Layout> layout = layoutFrom(o.layout, s.problem.gpus());
  if (!layout)
    return atFlag(where, layout.takeError());
  if (Error e = s.problem.verify(*layout))
    return makeError(where + " is not legal: " + toString(std::move(e)));
  return o.layoutFile.empty()
             ? withStackSwitches(*layout, s.problem.model.traits)
             : *layout;
}

/// What the stack has against the layout: switches that it cannot have on go
/// off, and the layout is priced without them.
static void judge(const PlanProblem &p, const Layout &given, ExplainReport &x) {
  if (!p.framework)
    return;
  for (Obstacle &o : obstaclesOf(*p.framework, given, p.frameworkModel()))
    (o.field.ends_with("-overlap") ? x.switchedOff : x.obstacles)
        .push_back(std::move(o));
}

std::string tessera::obstaclesText(const ExplainReport &x) {
  std::string text;
  if (!x.obstacles.empty())
    text = x.session.problem.framework->title +
           " cannot run it: " + describe(x.obstacles);
  for (const Obstacle &o : x.switchedOff)
    text += (text.empty() ? "" : "; ") + ("timed without " + o.field).str() +
            ": " + o.reason;
  return text;
}

std::string tessera::fitText(const ExplainReport &x) {
  std::string needs = formatBytes(x.own.memory.needed()) + " on stage " +
                      std::to_string(x.own.memory.stage);
  if (!x.fits)
    return "it does not fit: it needs " + needs + ", " + formatBytes(x.over()) +
           " more than the " + formatBytes(x.room) + " there are";
  if (!x.tight)
    return "";
  return "it fits, but leaves " + formatBytes(-x.over()) +
         " free, less than the " +
         formatBytes(keptFree(x.own, x.session.problem)) +
         " that a plan keeps free for the allocator and for the prediction's "
         "own error; the best may take as much";
}

std::string tessera::fasterText(const ExplainReport &x) {
  return formatPercent(-x.loss()) + " faster than the best that " +
         (x.fits ? x.session.problem.framework->title + " can run" : "fits");
}

std::string tessera::lossText(const ExplainReport &x) {
  double fewer = 1 - x.best->step.seconds / x.own.step.seconds;
  return std::string("your layout ") + (x.fits ? "takes " : "would take ") +
         formatPercent(x.loss()) + " longer than the best (" +
         formatPercent(fewer) + " fewer tokens/s)";
}

std::vector<std::string> tessera::verdictText(const ExplainReport &x) {
  std::vector<std::string> lines;
  auto add = [&](std::string line) {
    if (!line.empty())
      lines.push_back(std::move(line));
  };
  add(obstaclesText(x));
  add(fitText(x));
  if (!x.best) {
    add("no other layout fits either");
  } else if (x.asGoodAsBest()) {
    add("your layout is as good as the best");
  } else if (x.loss() > 0) {
    std::string why = losses(x.own.step, x.best->step);
    add(lossText(x) + (why.empty() ? "" : ": " + why));
  } else {
    add("your layout would be " + fasterText(x));
  }
  return lines;
}

std::vector<NextStep> tessera::nextSteps(const ExplainReport &x) {
  bool another = x.best && !x.asGoodAsBest();
  if (!x.fits && !another)
    return {};
  const Layout &layout = another ? x.best->layout : x.own.layout;
  std::optional<NextStep> step = trainingStep(
      another ? "train with the best" : "train with it", x.session, layout);
  return step ? std::vector<NextStep>{*step} : std::vector<NextStep>();
}

static void printComparison(const ExplainReport &x, raw_ostream &out) {
  const PlanProblem &p = x.session.problem;
  printWrapped(out, p.name + " on " + p.model.cluster.str() + ", " +
                        std::to_string(p.gpus()) + " GPUs");
  printAssumptions(x.session, out);
  out << "\n";
  printWrapped(out, "your layout: " + x.own.layout.str());
  printStep(x.own, p, out);
  printBreakdown(x.own, p, out);
  // What is said of the layout itself, then the best, then how they compare.
  std::vector<std::string> verdict = verdictText(x);
  if (verdict.size() > 1)
    out << "\n";
  for (const std::string &line : ArrayRef(verdict).drop_back())
    printWrapped(out, line);
  if (x.best) {
    out << "\n";
    printWrapped(out, "best layout: " + x.best->layout.str());
    printWrapped(out, formatDuration(x.best->step.seconds) + " a step, " +
                          throughputText(*x.best, p));
    printBreakdown(*x.best, p, out);
  }
  out << "\n";
  printWrapped(out, verdict.back());
  if (!x.best || x.asGoodAsBest())
    return;
  for (const Change &c : x.changes) {
    std::string what =
        x.fits
            ? formatPercent(x.own.step.seconds / c.result.step.seconds - 1) +
                  " faster"
            : "fits, with " + formatDuration(c.result.step.seconds) + " a step";
    printWrapped(out, "changing " + c.what + " alone (" + c.fields +
                          "): " + what + ": " + c.result.layout.str());
  }
}

static void printExplanation(const ExplainReport &x, raw_ostream &out) {
  printComparison(x, out);
  printNextSteps(nextSteps(x), out);
}

static json::Value explanationJson(const ExplainReport &x) {
  const PlanProblem &p = x.session.problem;
  json::Array assumptions;
  for (const std::string &a : x.session.assumptions)
    assumptions.push_back(a);
  json::Object o{{"model", p.name},
                 {"cluster", p.model.cluster.str()},
                 {"sequence", p.workload.sequence},
                 {"global_batch", p.workload.globalBatch},
                 {"gpus", p.gpus()},
                 {"memory_limit_bytes", x.room},
                 {"assumptions", std::move(assumptions)},
                 {"given", json::Array(x.session.given)},
                 {"expected_error", expectedErrorJson(x.own, p)},
                 {"fits", x.fits},
                 {"stack_cannot_run", toJson(x.obstacles)},
                 {"switched_off", toJson(x.switchedOff)},
                 {"tight", x.tight},
                 {"verdict", json::Array(verdictText(x))},
                 {"own", toJson(x.own, p)}};
  if (x.ownDetail)
    (*o.getObject("own"))["detail"] = toJson(*x.ownDetail, x.everything);
  if (x.best) {
    o["best"] = toJson(*x.best, p);
    o["loss"] = x.loss();
    if (x.bestDetail)
      (*o.getObject("best"))["detail"] = toJson(*x.bestDetail, x.everything);
  }
  if (x.everything)
    o["figures"] = figuresJson(x);
  json::Array changes;
  for (const Change &c : x.changes)
    changes.push_back(json::Object{{"choice", c.what},
                                   {"fields", c.fields},
                                   {"layout", toJson(c.result.layout)},
                                   {"layout_text", c.result.layout.str()},
                                   {"step_seconds", c.result.step.seconds}});
  o["changes"] = std::move(changes);
  json::Array next;
  for (const NextStep &step : nextSteps(x))
    next.push_back(
        json::Object{{"purpose", step.purpose}, {"command", step.command}});
  o["next"] = std::move(next);
  return json::Value(std::move(o));
}

int tessera::runExplain(const ExplainOptions &o, raw_ostream &out,
                        raw_ostream &err) {
  auto fail = [&](const Twine &message) {
    printError(err, message);
    return 1;
  };
  if (Error e = checkOutputs(o.report, o.json, o.details))
    return fail(toString(std::move(e)));
  Expected<PlanSession> session = makeSession(o.input);
  if (!session)
    return fail(toString(session.takeError()));
  Expected<Layout> layout = readLayout(*session, o);
  if (!layout)
    return fail(toString(layout.takeError()));
  PlanProblem &p = session->problem;
  // What a run's own file has on, the software has.
  if (!o.layoutFile.empty())
    p.model.traits.overlapTensorParallel |=
        layout->tp > 1 && layout->overlapTensorParallel;
  ModelProvider provider(p);
  ExplainReport x{*session, evaluate(p, provider, runningSwitches(p, *layout))};
  judge(p, *layout, x);
  x.room =
      o.input.memory.empty() ? p.model.cluster.chip.memoryBytes : p.memoryLimit;
  x.fits = x.over() <= 0;
  x.tight = x.fits && x.own.memory.total() > p.memoryLimit;
  if (x.tight)
    p.memoryLimit = x.own.memory.total();
  PlanResult result = solve(p, provider, {});
  if (!result.ranked.empty())
    x.best = std::move(result.ranked.front());
  // A layout outside the searched space may beat it.
  bool faster = x.best && x.own.step.seconds < x.best->step.seconds;
  if (x.fits && (!x.best || (x.obstacles.empty() && faster)))
    x.best = x.own;
  x.changes = singleChanges(p, x.own, x.fits);
  x.everything = o.details;
  if (o.json || !o.report.empty()) {
    x.ownDetail = detailOf(p, provider, x.own.layout);
    if (x.best)
      x.bestDetail = detailOf(p, provider, x.best->layout);
  }
  if (!o.report.empty())
    if (Error e = writeFileAtomically(
            o.report, [&](raw_ostream &os) { writePage(x, os); }))
      return fail(toString(std::move(e)));
  if (o.json)
    printJson(explanationJson(x), out);
  else if (o.report != "-")
    printExplanation(x, out);
  return 0;
}
