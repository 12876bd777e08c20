//===- Report.cpp - a plan as text and JSON -------------------------------===//
#include "Report.h"
#include "NextSteps.h"
#include "lib/Planning/Page/Page.h"
#include "tessera/CostModel/Validation.h"
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;
using Side = TextTable::Align;

/// Memory of a GPU, or what the user allows of it.
static double roomOf(const PlanProblem &p) {
  const Chip &chip = p.model.cluster.chip;
  return p.memoryLimit >= plannedMemory(chip) ? chip.memoryBytes
                                              : p.memoryLimit;
}

void tessera::printBreakdown(const Candidate &c, const PlanProblem &p,
                             raw_ostream &out) {
  TextTable table;
  table.column("time", Side::Left)
      .column("")
      .column("share")
      .column("   memory of the fullest GPU", Side::Left)
      .column("")
      .column("share");
  std::vector<Share> time, memory;
  for (const Share &s : timeShares(c.step))
    if (s.value > 1e-6)
      time.push_back(s);
  for (const Share &s : memoryShares(c.memory))
    if (s.value > 0)
      memory.push_back(s);
  // The totals last, so that each column has their unit.
  std::vector<double> seconds, bytes;
  for (const Share &s : time)
    seconds.push_back(s.value);
  for (const Share &s : memory)
    bytes.push_back(s.value);
  double total = c.memory.total(), room = roomOf(p), free = room - total;
  seconds.push_back(c.step.seconds);
  bytes.insert(bytes.end(), {total, room, free});
  std::vector<std::string> times = formatDurations(seconds),
                           sizes = formatSizes(bytes);
  for (size_t i = 0; i < std::max(time.size(), memory.size()); ++i) {
    std::vector<std::string> row(6);
    if (i < time.size()) {
      row[0] = time[i].name;
      row[1] = times[i];
      row[2] = formatPercent(time[i].value / c.step.seconds);
    }
    if (i < memory.size()) {
      row[3] = "   " + memory[i].name;
      row[4] = sizes[i];
      row[5] = formatPercent(memory[i].value / room);
    }
    table.row(row);
  }
  size_t last = memory.size();
  table.row({"step", times.back(), "", "   total", sizes[last],
             formatPercent(total / room)});
  bool whole = room >= p.model.cluster.chip.memoryBytes;
  table.row({"", "", "", whole ? "   the chip's memory" : "   limit (--memory)",
             sizes[last + 1], ""});
  table.row({"", "", "", free < 0 ? "   too much" : "   free",
             free < 0 ? sizes[last + 2].substr(1) : sizes[last + 2],
             formatPercent(std::abs(free) / room)});
  table.print(out);
}

/// A row whose last cell is a layout, in `room` columns; what is longer goes on
/// below.
static void rowWithLayout(TextTable &table, std::vector<std::string> numbers,
                          StringRef layout, int room) {
  std::vector<std::string> lines = wrapText(layout, size_t(room));
  size_t count = numbers.size();
  numbers.push_back(lines.front());
  table.row(numbers);
  for (const std::string &more : ArrayRef(lines).drop_front()) {
    std::vector<std::string> row(count);
    row.push_back("  " + more);
    table.row(row);
  }
}

/// Columns that a layout may have beside `numbers`.
static int layoutRoom(int numbers) {
  constexpr int kLeast = 24;
  return std::max(kLeast, int(terminalWidth()) - numbers);
}

static std::vector<std::string> stepTexts(ArrayRef<Candidate> candidates) {
  std::vector<double> seconds;
  for (const Candidate &c : candidates)
    seconds.push_back(c.step.seconds);
  return formatDurations(seconds);
}

static void printRanking(const PlanReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  TextTable table;
  table.column("")
      .column("step")
      .column("slower")
      .column("tokens/s/GPU")
      .column("MFU")
      .column("GiB/GPU")
      .column("free")
      .column("layout", Side::Left, /*mayShrink=*/false);
  std::vector<std::string> steps = stepTexts(r.result.ranked);
  double best = r.result.ranked.front().step.seconds;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Candidate &c = r.result.ranked[i];
    double bytes = c.memory.total();
    rowWithLayout(table,
                  {std::to_string(i + 1), steps[i],
                   i ? formatPercent(c.step.seconds / best - 1) : "",
                   formatNumber(tokensPerSecond(c, p) / double(p.gpus()), 0),
                   formatPercent(modelFlopsUtilisation(c, p)),
                   formatNumber(bytes / kGiB, 1),
                   formatNumber((roomOf(p) - bytes) / kGiB, 1)},
                  c.layout.str(), layoutRoom(62));
  }
  table.print(out);
}

static void printStudies(const PlanReport &r, raw_ostream &out) {
  double best = r.result.ranked.front().step.seconds;
  for (const Sensitivity &s : r.studies) {
    std::string text = "what if " + s.question + ": ";
    if (s.planned > 0)
      text += "this layout takes " + formatDuration(s.planned) + " (" +
              formatPercent(s.planned / best - 1) + " more)";
    else
      text +=
          "this layout no longer fits (" + formatBytes(s.plannedBytes) + ")";
    if (s.largestSkew > 0)
      text += "; it fits up to " + formatNumber(s.largestSkew, 2) +
              " times the mean";
    if (s.sameLayout)
      text += " and stays the best";
    else if (s.best)
      text += "; then " + s.best->layout.str() + " would be best with " +
              formatDuration(s.best->step.seconds);
    printWrapped(out, text);
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
  std::string text =
      "left out, as " + f.title + " cannot run it: " + join(limits, "; ");
  if (!r.beyond->best) {
    printWrapped(out, text + "; on these meshes nothing of it would be faster");
    return;
  }
  printWrapped(out, text);
  const Candidate &best = *r.beyond->best;
  double gain = r.result.ranked.front().step.seconds / best.step.seconds - 1;
  text = "without that: " + formatPercent(gain) + " faster with " +
         best.layout.str() + ", which needs ";
  for (size_t i = 0; i < r.beyond->obstacles.size(); ++i)
    text += (i ? ", " : "") + r.beyond->obstacles[i].wanted;
  printWrapped(out, text);
}

static void printFront(const PlanReport &r, raw_ostream &out) {
  if (r.front.empty())
    return;
  out << "\nstep time against memory:\n";
  TextTable table;
  table.column("GiB/GPU").column("step").column("layout", Side::Left,
                                                /*mayShrink=*/false);
  std::vector<std::string> steps = stepTexts(r.front);
  for (size_t i = 0; i < steps.size(); ++i)
    rowWithLayout(table,
                  {formatNumber(r.front[i].memory.total() / kGiB, 1), steps[i]},
                  r.front[i].layout.str(), layoutRoom(22));
  table.print(out);
}

static void printSizes(const PlanReport &r, raw_ostream &out) {
  if (r.sizes.empty())
    return;
  const PlanProblem &p = r.session.problem;
  const ClusterChoice *best = bestOf(r.sizes);
  bool priced = r.gpuHourPrice.amount > 0;
  out << "\nnumber of GPUs by " << nameOf(r.objective)
      << ", the same global batch for each:\n";
  TextTable table;
  table.column("GPUs").column("step").column("tokens/s/GPU");
  table.column("GPU-hours/1T").column("MWh/1T");
  if (priced)
    table.column("cost/1T");
  table.column("layout", Side::Left, /*mayShrink=*/false);
  std::vector<Candidate> fitting;
  for (const ClusterChoice &c : r.sizes)
    if (c.best)
      fitting.push_back(*c.best);
  std::vector<std::string> steps = stepTexts(fitting);
  size_t at = 0;
  for (const ClusterChoice &c : r.sizes) {
    std::vector<std::string> row = {std::to_string(c.gpus)};
    std::string layout = "does not fit";
    if (c.best) {
      Effort effort = effortFor(1e12, *c.best, p, c.gpus);
      double tokens = tokensPerSecond(*c.best, p) / double(c.gpus);
      row.insert(row.end(), {steps[at++], formatNumber(tokens, 0),
                             formatNumber(effort.gpuHours, 0),
                             formatNumber(effort.megawattHours, 1)});
      if (priced)
        row.push_back(
            withCurrency(formatCount(effort.gpuHours * r.gpuHourPrice.amount),
                         r.gpuHourPrice));
      layout = c.best->layout.str() + (&c == best ? "  <- best" : "");
    }
    row.resize(priced ? 6 : 5);
    rowWithLayout(table, row, layout, layoutRoom(priced ? 69 : 56));
  }
  table.print(out);
}

static void printCertificate(const Certificate &c, raw_ostream &out) {
  std::string text = "certificate: ";
  if (c.gap <= 0)
    text += "best of " + formatCount(c.space) +
            " layouts in the modelled space (gap 0)";
  else
    text += "within " + formatPercent(c.gap) + " of the best of " +
            formatCount(c.space) + " layouts";
  raw_string_ostream os(text);
  os << "; " << c.meshes << " meshes, " << c.stateCut
     << " cut by the least memory, " << c.expanded << " expanded, "
     << c.memoryCut << " layouts cut by memory, " << c.boundCut
     << " by their bound, " << c.dominated << " by less recomputation, "
     << c.evaluated << " timelines, " << formatDuration(c.seconds);
  printWrapped(out, text);
}

void tessera::printAssumptions(const PlanSession &s, raw_ostream &out) {
  printWrapped(out, "assumed: " + join(s.assumptions, "; "));
}

void tessera::printStep(const Candidate &c, const PlanProblem &p,
                        raw_ostream &out) {
  printWrapped(
      out, formatDuration(c.step.seconds) + " a step (" +
               expectedError(defaultValidation(), p.model.cluster, p.stack) +
               ")");
}

json::Object tessera::expectedErrorJson(const PlanProblem &p) {
  const StepValidation &validation = defaultValidation();
  json::Object o{{"text", expectedError(validation, p.model.cluster, p.stack)}};
  auto add = [&](StringRef name, const StepError &error) {
    o[name] = json::Object{
        {"runs", error.runs}, {"median", error.median}, {"p90", error.p90}};
  };
  bool own = !p.model.cluster.efficiencies.empty();
  if (const StepError *error =
          validation.find(p.model.cluster.chip.name, p.stack);
      error && !own)
    add("measured", *error);
  if (validation.heldOut)
    add("held_out", *validation.heldOut);
  return o;
}

std::string tessera::costText(const Effort &effort, const Price &price) {
  return withCurrency(formatCount(effort.gpuHours * price.amount), price) +
         " (" + withCurrency(formatNumber(price.amount, 2), price) +
         " per GPU-hour)";
}

void tessera::print(const PlanReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  const Candidate &best = r.result.ranked.front();
  std::string title =
      p.name + " (" + formatCount(double(p.shape.totalParameters()));
  if (p.shape.experts)
    title += ", " + formatCount(double(p.shape.activeParameters())) + " active";
  printWrapped(out, title + ") on " + p.model.cluster.str() + ", " +
                        std::to_string(p.gpus()) + " GPUs");
  printAssumptions(r.session, out);
  out << "\n";
  printRanking(r, out);
  out << "\n";
  printWrapped(out, "best: " + best.layout.str());
  printStep(best, p, out);
  printBreakdown(best, p, out);
  out << "\n";
  Effort effort = effortFor(1e12, best, p, p.gpus());
  std::string cost;
  if (r.gpuHourPrice.amount > 0)
    cost = ", cost " + costText(effort, r.gpuHourPrice);
  printWrapped(out, "1T tokens take " + formatDuration(effort.seconds) + ", " +
                        formatCount(effort.gpuHours) + " GPU-hours, " +
                        formatNumber(effort.megawattHours, 0) +
                        " MWh (at full power, PUE 1.1)" + cost);
  if (r.result.ranked.size() > 1) {
    const Candidate &second = r.result.ranked[1];
    std::string why = losses(second.step, best.step);
    printWrapped(
        out, "runner-up: " + second.layout.str() + ", " +
                 formatPercent(second.step.seconds / best.step.seconds - 1) +
                 " slower" + (why.empty() ? "" : ": " + why));
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
                 {"expected_error", expectedErrorJson(p)},
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
