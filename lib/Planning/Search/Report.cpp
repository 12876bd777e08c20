//===- Report.cpp - a plan as text and JSON -------------------------------===//
#include "Report.h"
#include "NextSteps.h"
#include "lib/Planning/Page/Page.h"
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

void tessera::printBreakdown(const Candidate &c, raw_ostream &out) {
  TextTable table;
  table.column("time", TextTable::Align::Left)
      .column("")
      .column("share")
      .column("   memory of the fullest GPU", TextTable::Align::Left)
      .column("")
      .column("share");
  std::vector<Share> time, memory;
  for (const Share &s : timeShares(c.step))
    if (s.value > 1e-6)
      time.push_back(s);
  for (const Share &s : memoryShares(c.memory))
    if (s.value > 0)
      memory.push_back(s);
  for (size_t i = 0; i < std::max(time.size(), memory.size()); ++i) {
    std::vector<std::string> row(6);
    if (i < time.size()) {
      row[0] = time[i].name;
      row[1] = formatDuration(time[i].value);
      row[2] = formatPercent(time[i].value / c.step.seconds);
    }
    if (i < memory.size()) {
      row[3] = "   " + memory[i].name;
      row[4] = formatBytes(memory[i].value);
      row[5] = formatPercent(memory[i].value / c.memory.total());
    }
    table.row(row);
  }
  table.row({"step", formatDuration(c.step.seconds), "", "   total",
             formatBytes(c.memory.total()), ""});
  table.print(out);
}

/// `text` as lines of at most `width`, broken at blanks.
static std::vector<std::string> wrapped(StringRef text, size_t width) {
  std::vector<std::string> lines(1);
  SmallVector<StringRef> words;
  text.split(words, ' ');
  for (StringRef word : words) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word.str();
  }
  return lines;
}

static void printRanking(const PlanReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  TextTable table;
  table.column("")
      .column("step")
      .column("slower by")
      .column("tokens/s/GPU")
      .column("MFU")
      .column("GiB/GPU")
      .column("layout", TextTable::Align::Left, /*mayShrink=*/false);
  // What the numbers leave of a line; a longer layout goes on below.
  constexpr int kNumbers = 54, kLeast = 24;
  int room = std::max(kLeast, int(terminalWidth()) - kNumbers);
  double best = r.result.ranked.front().step.seconds;
  int rank = 0;
  for (const Candidate &c : r.result.ranked) {
    double slower = c.step.seconds / best - 1;
    std::vector<std::string> layout = wrapped(c.layout.str(), size_t(room));
    table.row({std::to_string(++rank), formatDuration(c.step.seconds),
               rank == 1 ? "" : formatPercent(slower),
               formatNumber(tokensPerSecond(c, p) / double(p.gpus()), 0),
               formatPercent(modelFlopsUtilisation(c, p)),
               formatNumber(c.memory.total() / kGiB, 1), layout.front()});
    for (const std::string &more : ArrayRef(layout).drop_front())
      table.row({"", "", "", "", "", "", "  " + more});
  }
  table.print(out);
}

static void printStudies(const PlanReport &r, raw_ostream &out) {
  double best = r.result.ranked.front().step.seconds;
  for (const Sensitivity &s : r.studies) {
    out << "what if " << s.question << ": ";
    if (s.planned > 0)
      out << "this layout takes " << formatDuration(s.planned) << " ("
          << formatPercent(s.planned / best - 1) << " more)";
    else
      out << "this layout no longer fits (" << formatBytes(s.plannedBytes)
          << ")";
    if (s.largestSkew > 0)
      out << "; it fits up to " << formatNumber(s.largestSkew, 2)
          << " times the mean";
    if (s.sameLayout)
      out << " and stays the best";
    else if (s.best)
      out << "; then " << s.best->layout.str() << " would be best with "
          << formatDuration(s.best->step.seconds);
    out << "\n";
  }
}

static void printBeyond(const PlanReport &r, raw_ostream &out) {
  if (!r.beyond)
    return;
  const PlanProblem &p = r.session.problem;
  const Framework &f = *p.framework;
  std::vector<std::string> limits = limitsOf(f, p.shape.experts > 0);
  if (limits.empty())
    return;
  out << "left out, as " << f.title << " cannot run it: " << join(limits, "; ");
  if (!r.beyond->best) {
    out << "; on these meshes nothing of it would be faster\n";
    return;
  }
  const Candidate &best = *r.beyond->best;
  double gain = r.result.ranked.front().step.seconds / best.step.seconds - 1;
  out << "\nwithout that: " << formatPercent(gain) << " faster with "
      << best.layout.str() << ", which needs ";
  for (size_t i = 0; i < r.beyond->obstacles.size(); ++i)
    out << (i ? ", " : "") << r.beyond->obstacles[i].wanted;
  out << "\n";
}

static void printFront(const PlanReport &r, raw_ostream &out) {
  if (r.front.empty())
    return;
  out << "\nstep time against memory:\n";
  TextTable table;
  table.column("GiB/GPU").column("step").column("layout",
                                                TextTable::Align::Left,
                                                /*mayShrink=*/false);
  for (const Candidate &c : r.front)
    table.row({formatNumber(c.memory.total() / kGiB, 1),
               formatDuration(c.step.seconds), c.layout.str()});
  table.print(out);
}

static void printSizes(const PlanReport &r, raw_ostream &out) {
  if (r.sizes.empty())
    return;
  const ClusterChoice *best = bestOf(r.sizes);
  out << "\nnumber of GPUs by " << nameOf(r.objective)
      << ", the same global batch for each:\n";
  TextTable table;
  table.column("GPUs").column("step").column("tokens/s/GPU");
  table.column("GPU-hours/1T").column("MWh/1T");
  if (r.gpuHourPrice > 0)
    table.column("cost/1T");
  table.column("layout", TextTable::Align::Left, /*mayShrink=*/false);
  for (const ClusterChoice &c : r.sizes) {
    std::vector<std::string> row = {std::to_string(c.gpus)};
    if (c.best) {
      const PlanProblem &p = r.session.problem;
      Effort effort = effortFor(1e12, *c.best, p, c.gpus);
      double tokens = tokensPerSecond(*c.best, p) / double(c.gpus);
      row.insert(row.end(),
                 {formatDuration(c.best->step.seconds), formatNumber(tokens, 0),
                  formatNumber(effort.gpuHours, 0),
                  formatNumber(effort.megawattHours, 1)});
      if (r.gpuHourPrice > 0)
        row.push_back(formatCount(effort.gpuHours * r.gpuHourPrice));
      row.push_back(c.best->layout.str() + (&c == best ? "  <- best" : ""));
    } else {
      row.resize(r.gpuHourPrice > 0 ? 6 : 5);
      row.push_back("does not fit");
    }
    table.row(row);
  }
  table.print(out);
}

static void printCertificate(const Certificate &c, raw_ostream &out) {
  out << "certificate: ";
  if (c.gap <= 0)
    out << "best of " << formatCount(c.space)
        << " layouts in the modelled space (gap 0)";
  else
    out << "within " << formatPercent(c.gap) << " of the best of "
        << formatCount(c.space) << " layouts";
  out << "; " << c.meshes << " meshes, " << c.stateCut
      << " cut by the least memory, " << c.expanded << " expanded, "
      << c.memoryCut << " layouts cut by memory, " << c.boundCut
      << " by their bound, " << c.dominated << " by less recomputation, "
      << c.evaluated << " timelines, " << formatDuration(c.seconds) << "\n";
}

void tessera::print(const PlanReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  const Candidate &best = r.result.ranked.front();
  out << p.name << " (" << formatCount(double(p.shape.totalParameters()));
  if (p.shape.experts)
    out << ", " << formatCount(double(p.shape.activeParameters())) << " active";
  out << ") on " << p.model.cluster.str() << ", " << p.gpus() << " GPUs\n"
      << "assumed:";
  for (size_t i = 0; i < r.session.assumptions.size(); ++i)
    out << (i ? "; " : " ") << r.session.assumptions[i];
  out << "\n\n";
  printRanking(r, out);
  out << "\nbest: " << best.layout.str() << "\n";
  printBreakdown(best, out);
  Effort effort = effortFor(1e12, best, p, p.gpus());
  out << "\n1T tokens take " << formatDuration(effort.seconds) << ", "
      << formatCount(effort.gpuHours) << " GPU-hours, "
      << formatNumber(effort.megawattHours, 0)
      << " MWh (at full power, PUE 1.1)";
  if (r.gpuHourPrice > 0)
    out << ", cost " << formatCount(effort.gpuHours * r.gpuHourPrice);
  out << "\n";
  if (r.result.ranked.size() > 1) {
    const Candidate &second = r.result.ranked[1];
    out << "runner-up: " << second.layout.str() << ", "
        << formatPercent(second.step.seconds / best.step.seconds - 1)
        << " slower";
    std::string why = losses(second.step, best.step);
    if (!why.empty())
      out << ": " << why;
    out << "\n";
  }
  printStudies(r, out);
  printBeyond(r, out);
  printCertificate(r.result.certificate, out);
  printFront(r, out);
  printSizes(r, out);
  printNextSteps(r.session, r.result, out);
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
  json::Object o{{"model", p.name},
                 {"parameters", p.shape.totalParameters()},
                 {"active_parameters", p.shape.activeParameters()},
                 {"cluster", p.model.cluster.str()},
                 {"gpus", p.gpus()},
                 {"sequence", p.workload.sequence},
                 {"global_batch", p.workload.globalBatch},
                 {"stack", p.stack},
                 {"objective", nameOf(r.objective)},
                 {"assumptions", std::move(assumptions)},
                 {"ranked", std::move(ranked)},
                 {"sensitivity", std::move(studies)},
                 {"memory_limit_bytes", p.memoryLimit},
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
  if (r.gpuHourPrice > 0)
    trillion["cost"] = effort.gpuHours * r.gpuHourPrice;
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
