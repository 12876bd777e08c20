//===- ReportJson.cpp - a plan as JSON ------------------------------------===//
#include "NextSteps.h"
#include "Report.h"
#include "lib/Planning/Page/Page.h"
#include "tessera/Planning/CompilerMesh.h"

using namespace llvm;
using namespace tessera;

json::Object tessera::expectedErrorJson(const Candidate &c,
                                        const PlanProblem &p) {
  ExpectedError error = expectedErrorOf(c, p);
  json::Object o{{"text", error.text()},
                 {"basis", error.heldOut ? "held out" : "fitted"},
                 {"like_runs", error.likeRuns},
                 {"like_sources", error.likeSources}};
  if (!error.why.empty())
    o["why"] = error.why;
  if (error.runs > 0) {
    o["runs"] = error.runs;
    o["sources"] = error.sources;
    o["median"] = error.median;
    o["p90"] = error.p90;
  }
  return o;
}

json::Array tessera::toJson(ArrayRef<Obstacle> obstacles) {
  json::Array out;
  for (const Obstacle &o : obstacles)
    out.push_back(json::Object{{"field", o.field},
                               {"wanted", o.wanted},
                               {"reason", o.reason},
                               {"nearest", o.nearest}});
  return out;
}

json::Value tessera::toJson(const PlanReport &r) {
  const PlanProblem &p = r.session.problem;
  json::Array ranked, assumptions, studies, front, sizes;
  for (const Candidate &c : r.result.ranked)
    ranked.push_back(toJson(c, p));
  for (const std::string &a : r.session.assumptions)
    assumptions.push_back(a);
  for (const Sensitivity &s : r.studies) {
    json::Object o{{"question", s.question}, {"same_layout", s.sameLayout}};
    if (s.planned > 0)
      o["planned_step_seconds"] = s.planned;
    o["planned_memory_bytes"] = s.plannedBytes;
    if (s.largestSkew > 0)
      o["largest_skew_that_fits"] = s.largestSkew;
    if (s.best) {
      o["best_layout"] = toJson(s.best->layout);
      o["best_layout_text"] = s.best->layout.str();
      o["best_step_seconds"] = s.best->step.seconds;
    }
    studies.push_back(std::move(o));
  }
  for (const Candidate &c : r.front)
    front.push_back(toJson(c, p));
  for (const ClusterChoice &c : r.sizes) {
    json::Object o{{"nodes", c.nodes}, {"gpus", c.gpus}};
    if (c.best) {
      o["step_seconds"] = c.best->step.seconds;
      o["layout"] = toJson(c.best->layout);
      o["layout_text"] = c.best->layout.str();
      o["value"] = c.value;
    }
    sizes.push_back(std::move(o));
  }
  json::Object o{
      {"model", p.name},
      {"parameters", p.shape.totalParameters()},
      {"active_parameters", p.shape.activeParameters()},
      {"cluster", p.model.cluster.str()},
      {"gpus", p.gpus()},
      {"sequence", p.workload.sequence},
      {"global_batch", p.workload.globalBatch},
      {"stack", p.stack},
      {"precision", nameOf(p.precision.linear).lower()},
      {"objective", nameOf(r.objective)},
      {"assumptions", std::move(assumptions)},
      {"given", json::Array(r.session.given)},
      {"ranked", std::move(ranked)},
      {"sensitivity", std::move(studies)},
      {"memory_limit_bytes", p.memoryLimit},
      {"expected_error", expectedErrorJson(r.result.ranked.front(), p)},
      {"certificate", toJson(r.result.certificate)}};
  if (p.framework)
    o["stack_limits"] =
        json::Array(limitsOf(*p.framework, p.shape.experts > 0));
  if (r.beyond && r.beyond->best) {
    const Candidate &best = *r.beyond->best;
    o["beyond_stack"] = json::Object{{"layout", toJson(best.layout)},
                                     {"layout_text", best.layout.str()},
                                     {"step_seconds", best.step.seconds},
                                     {"needs", toJson(r.beyond->obstacles)}};
  }
  const Layout &chosen = r.result.ranked.front().layout;
  Expected<CompilerMesh> mesh = compilerMesh(chosen);
  if (mesh)
    o["compile_mesh"] = mesh->mesh;
  else
    consumeError(mesh.takeError());
  if (std::string why = whyNotCompiled(r.session, chosen); !why.empty())
    o["not_compiled"] = why;
  json::Array next;
  for (const NextStep &step : nextSteps(r.session, r.result))
    next.push_back(
        json::Object{{"purpose", step.purpose}, {"command", step.command}});
  o["next"] = std::move(next);
  Effort effort = effortFor(1e12, r.result.ranked.front(), p, p.gpus());
  json::Object trillion{{"seconds", effort.seconds},
                        {"gpu_hours", effort.gpuHours},
                        {"megawatt_hours", effort.megawattHours}};
  if (const Price &price = r.gpuHourPrice; price.amount > 0) {
    trillion["cost"] = effort.gpuHours * price.amount;
    o["gpu_hour_price"] = price.amount;
    if (std::string currency = price.before + price.behind; !currency.empty())
      o["currency"] = json::fixUTF8(currency);
  }
  o["per_trillion_tokens"] = std::move(trillion);
  if (r.detail)
    o["detail"] = toJson(*r.detail, r.everything);
  if (r.detail && r.everything)
    o["figures"] = figuresJson(r);
  if (!r.front.empty())
    o["front"] = std::move(front);
  if (!r.sizes.empty())
    o["sizes"] = std::move(sizes);
  return json::Value(std::move(o));
}
