//===- Report.cpp - a plan as text ----------------------------------------===//
#include "Report.h"
#include "NextSteps.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;
using Side = TextTable::Align;

double tessera::roomOf(const PlanProblem &p) {
  return p.memoryRoom > 0 ? p.memoryRoom : p.model.cluster.chip.memoryBytes;
}

double tessera::keptFree(const Candidate &c, const PlanProblem &p) {
  return c.memory.reserve + p.memoryMargin;
}

std::vector<BreakdownLine> tessera::memoryLines(const Candidate &c,
                                                const PlanProblem &p) {
  double needed = c.memory.needed(), room = roomOf(p), free = room - needed;
  bool whole = room >= p.model.cluster.chip.memoryBytes;
  std::vector<BreakdownLine> lines;
  auto add = [&](std::string name, double bytes) {
    lines.push_back({std::move(name), bytes, "", formatPercent(bytes / room)});
  };
  for (const Share &s : memoryShares(c.memory))
    if (s.value > 0)
      add(s.name, s.value);
  add("needed", needed);
  lines.push_back(
      {whole ? "the chip's memory" : "limit (--memory)", room, "", ""});
  add(free < 0 ? "missing" : "free", std::abs(free));
  add("kept free by a plan", keptFree(c, p));
  // One unit for the column.
  std::vector<double> bytes;
  for (const BreakdownLine &line : lines)
    bytes.push_back(line.value);
  std::vector<std::string> sizes = formatSizes(bytes);
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i].text = std::move(sizes[i]);
  return lines;
}

static std::vector<BreakdownLine> timeLines(const StepTime &step) {
  std::vector<BreakdownLine> lines;
  for (const Share &s : timeShares(step))
    if (s.value > 1e-6)
      lines.push_back(
          {s.name, s.value, "", formatPercent(s.value / step.seconds)});
  lines.push_back({"step", step.seconds, "", ""});
  std::vector<double> seconds;
  for (const BreakdownLine &line : lines)
    seconds.push_back(line.value);
  std::vector<std::string> times = formatDurations(seconds);
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i].text = std::move(times[i]);
  return lines;
}

/// Lines of memory below its kinds, from the total on.
static constexpr size_t kBelowParts = 4;

void tessera::printBreakdown(const Candidate &c, const PlanProblem &p,
                             raw_ostream &out) {
  TextTable table;
  table.column("time", Side::Left)
      .column("")
      .column("share")
      .column("   memory of the fullest GPU", Side::Left)
      .column("")
      .column("share");
  // The totals side by side.
  std::vector<BreakdownLine> time = timeLines(c.step),
                             memory = memoryLines(c, p);
  size_t totals = std::max(time.size() - 1, memory.size() - kBelowParts);
  time.insert(time.end() - 1, totals + 1 - time.size(), BreakdownLine());
  memory.insert(memory.end() - kBelowParts,
                totals + kBelowParts - memory.size(), BreakdownLine());
  for (size_t i = 0; i < memory.size(); ++i) {
    std::vector<std::string> row;
    if (i < time.size())
      row = {time[i].name, time[i].text, time[i].share};
    row.resize(3);
    row.insert(row.end(),
               {"   " + memory[i].name, memory[i].text, memory[i].share});
    table.row(row);
  }
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
    double bytes = c.memory.needed();
    rowWithLayout(table,
                  {std::to_string(i + 1), steps[i],
                   i ? formatPercent(c.step.seconds / best - 1) : "",
                   formatNumber(tokensPerSecond(c, p) / double(p.gpus()), 0),
                   formatPercent(utilisationOf(c, p).full),
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
      text += "this layout needs " + formatBytes(s.plannedBytes) +
              ", more than a plan may";
    if (s.largestSkew > 0)
      text += "; it is one up to " + formatNumber(s.largestSkew, 2) +
              " times the mean";
    if (s.sameLayout)
      text += " and stays the best";
    else if (s.best)
      text += "; then " + s.best->layout.str() + " would be best with " +
              formatDuration(s.best->step.seconds);
    printWrapped(out, text);
  }
}

std::vector<std::string> tessera::beyondText(const PlanReport &r) {
  if (!r.beyond)
    return {};
  const PlanProblem &p = r.session.problem;
  const Framework &f = *p.framework;
  std::vector<std::string> limits = limitsOf(f, p.shape.experts > 0);
  if (limits.empty())
    return {};
  std::string text =
      "left out, as " + f.title + " cannot run it: " + join(limits, "; ");
  if (!r.beyond->best)
    return {text + "; on these meshes nothing of it would be faster"};
  const Candidate &best = *r.beyond->best;
  double gain = r.result.ranked.front().step.seconds / best.step.seconds - 1;
  std::string more = "without that: " + formatPercent(gain) + " faster with " +
                     best.layout.str();
  for (const Obstacle &o : r.beyond->obstacles)
    more += "; " + o.reason;
  std::vector<std::string> others =
      stacksRunning(best.layout, p.frameworkModel());
  more += others.empty() ? "; no stack that is known runs it"
                         : "; it runs with --stack " + join(others, " or ");
  return {text, more};
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
    rowWithLayout(
        table, {formatNumber(r.front[i].memory.needed() / kGiB, 1), steps[i]},
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
  if (!s.given.empty())
    printWrapped(out, "given: " + join(s.given, "; "));
  printWrapped(out, "assumed: " + join(s.assumptions, "; "));
}

ExpectedError tessera::expectedErrorOf(const Candidate &c,
                                       const PlanProblem &p) {
  const Cluster &cluster = p.model.cluster;
  RunKind kind;
  kind.chip = cluster.chip.name;
  kind.stack = p.stack;
  kind.experts = p.shape.experts > 0;
  kind.contextParallel = c.layout.cp > 1;
  kind.bits = int(8 * bytesOf(p.precision.linear));
  kind.sequence = p.workload.sequence;
  kind.gpus = p.gpus();
  kind.networkGbps = networkGbps(cluster);
  kind.ownEfficiencies = !cluster.efficiencies.empty();
  return expectedError(defaultValidation(), kind);
}

void tessera::printStep(const Candidate &c, const PlanProblem &p,
                        raw_ostream &out) {
  printWrapped(out, formatDuration(c.step.seconds) + " a step (" +
                        expectedErrorOf(c, p).text() + ")");
  printWrapped(out, throughputText(c, p));
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
  for (const std::string &line : beyondText(r))
    printWrapped(out, line);
  printCertificate(r.result.certificate, out);
  printFront(r, out);
  printSizes(r, out);
  printNextSteps(r.session, r.result, out);
}
