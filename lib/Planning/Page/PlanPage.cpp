//===- PlanPage.cpp - the page of a plan ----------------------------------===//
//
// Order: the answer and why it can be trusted; the alternatives; where time and
// memory go; what would change it; what to do with it.
//
//===----------------------------------------------------------------------===//
#include "Page.h"
#include "Sections.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Units.h"

using namespace llvm;
using namespace tessera;
using Piece = HtmlPage::Piece;
using Column = HtmlPage::Column;

Error tessera::checkOutputs(StringRef report, bool json, bool details) {
  if (details && !json)
    return makeError("--details adds to --json; give both");
  if (report == "-" && json)
    return makeError("--json and --report - both write to standard output; "
                     "name a file for the page");
  if (report.empty())
    return Error::success();
  if (Error e = checkWritable(report))
    return makeError("--report: " + toString(std::move(e)));
  return Error::success();
}

static std::string rankedKey(size_t i) { return "ranked." + std::to_string(i); }

static void writeCertificate(HtmlPage &page, const Certificate &c) {
  auto number = [](int64_t n, const char *key) {
    return Piece{Piece::Plain,
                 {formatNumber(double(n), 0), std::string("certificate.") + key,
                  double(n)}};
  };
  auto plain = [](const char *text) { return Piece{Piece::Plain, text}; };
  std::vector<Piece> pieces;
  Piece space{Piece::Plain,
              {formatCount(c.space), "certificate.space", c.space}};
  if (c.gap <= 0) {
    pieces = {{Piece::Strong, "Nothing better is left. "},
              plain("Best of "),
              space,
              plain(" layouts in the modelled space, by bounds that are never "
                    "above a layout's predicted time (gap 0). ")};
  } else {
    pieces = {{Piece::Strong,
               {"Within " + formatPercent(c.gap), "certificate.gap", c.gap}},
              plain(" of the best of "),
              space,
              plain(" layouts; the search was stopped. ")};
  }
  for (Piece &p : std::vector<Piece>{
           number(c.meshes, "meshes"), plain(" meshes, "),
           number(c.stateCut, "state_cut"),
           plain(" of them too large for the memory, "),
           number(c.expanded, "expanded"), plain(" expanded; "),
           number(c.memoryCut, "memory_cut"), plain(" layouts cut by memory, "),
           number(c.boundCut, "bound_cut"), plain(" by their bound, "),
           number(c.dominated, "dominated"), plain(" by less recomputation, "),
           number(c.evaluated, "evaluated"), plain(" timelines played, in "),
           Piece{Piece::Plain,
                 {formatDuration(c.seconds), "certificate.search_seconds",
                  c.seconds}},
           plain(".")})
    pieces.push_back(std::move(p));
  page.seal(c.gap <= 0, pieces);
}

static void writeAnswer(HtmlPage &page, const PlanReport &r) {
  const PlanProblem &p = r.session.problem;
  const Candidate &best = r.result.ranked.front();
  double tokens = double(p.workload.globalBatch) * double(p.workload.sequence);
  page.heading(kicker(r.session), subject(r.session));
  page.lead(
      {{Piece::Plain, "Use "},
       {Piece::Code, best.layout.str()},
       {Piece::Plain, ": a step of " + formatCount(tokens) + " tokens takes "},
       {Piece::Strong,
        {formatDuration(best.step.seconds), "ranked.0.step_seconds",
         best.step.seconds}},
       {Piece::Plain, " and the fullest GPU holds "},
       {Piece::Strong,
        {formatBytes(best.memory.needed()), "ranked.0.memory_bytes",
         best.memory.needed()}},
       {Piece::Plain, " of " + formatBytes(roomOf(p)) + "."}});
  writeCards(page, r.session, {"best", "ranked.0", &best});
  if (r.gpuHourPrice.amount > 0)
    page.note("1T tokens cost " +
              costText(effortFor(1e12, best, p, p.gpus()), r.gpuHourPrice) +
              ".");
  writeCertificate(page, r.result.certificate);
}

static void writeRanking(HtmlPage &page, const PlanReport &r) {
  const PlanProblem &p = r.session.problem;
  page.section("The best layout and what comes after it");
  double best = r.result.ranked.front().step.seconds;
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < r.result.ranked.size(); ++i) {
    const Candidate &c = r.result.ranked[i];
    std::string key = rankedKey(i) + ".";
    double perGPU = tokensPerSecond(c, p) / double(p.gpus());
    double mfu = utilisationOf(c, p).full;
    rows.push_back(
        {std::to_string(i + 1),
         c.layout.str(),
         {formatDuration(c.step.seconds), key + "step_seconds", c.step.seconds},
         i ? formatPercent(c.step.seconds / best - 1) : std::string(),
         {formatNumber(perGPU, 0), key + "tokens_per_second_per_gpu", perGPU},
         {formatPercent(mfu), key + "mfu", mfu},
         {formatNumber(c.memory.needed() / kGiB, 1), key + "memory_bytes",
          c.memory.needed()}});
  }
  page.table({{"", Column::Text},
              {"layout", Column::Code},
              {"step", Column::Number},
              {"slower by", Column::Number},
              {"tokens/s/GPU", Column::Number},
              {"MFU", Column::Number},
              {"GiB/GPU", Column::Number}},
             rows, 0);
  page.note("One row for each mesh (dp, tp, cp, pp, ep, etp), with the best of "
            "its layouts.");
}

static void writeStudies(HtmlPage &page, const PlanReport &r) {
  if (r.studies.empty())
    return;
  page.section("What if");
  double best = r.result.ranked.front().step.seconds;
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < r.studies.size(); ++i) {
    const Sensitivity &s = r.studies[i];
    std::string key = "sensitivity." + std::to_string(i) + ".";
    std::vector<Shown> row = {s.question};
    if (s.planned > 0) {
      row.push_back(
          {formatDuration(s.planned), key + "planned_step_seconds", s.planned});
      row.push_back(formatPercent(s.planned / best - 1));
    } else {
      std::string text = "no longer fits (" + formatBytes(s.plannedBytes) + ")";
      if (s.largestSkew > 0)
        text += ", up to " + formatNumber(s.largestSkew, 2) + " times it does";
      row.push_back(text);
      row.push_back("");
    }
    if (s.sameLayout) {
      row.push_back("this layout stays the best");
    } else if (s.best) {
      row.push_back(s.best->layout.str());
      row.push_back({formatDuration(s.best->step.seconds),
                     key + "best_step_seconds", s.best->step.seconds});
    }
    rows.push_back(std::move(row));
  }
  page.table({{"", Column::Text},
              {"this layout", Column::Number},
              {"more", Column::Number},
              {"best then", Column::Text},
              {"its step", Column::Number}},
             rows);
}

static void writeBeyond(HtmlPage &page, const PlanReport &r) {
  std::vector<std::string> lines = beyondText(r);
  if (lines.empty())
    return;
  page.section("What the software leaves out");
  for (const std::string &line : lines)
    page.sentence(line);
}

static void writeFront(HtmlPage &page, const PlanReport &r) {
  if (r.front.empty())
    return;
  page.section("Time against memory");
  page.figure(frontFigure(r.front),
              "Each mark is the fastest layout within its memory; the next "
              "needs at least a tenth less.");
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < r.front.size(); ++i) {
    const Candidate &c = r.front[i];
    std::string key = "front." + std::to_string(i) + ".";
    rows.push_back(
        {{formatNumber(c.memory.needed() / kGiB, 1), key + "memory_bytes",
          c.memory.needed()},
         {formatDuration(c.step.seconds), key + "step_seconds", c.step.seconds},
         c.layout.str()});
  }
  page.table({{"GiB/GPU", Column::Number},
              {"step", Column::Number},
              {"layout", Column::Code}},
             rows);
}

static void writeSizes(HtmlPage &page, const PlanReport &r) {
  if (r.sizes.empty())
    return;
  page.section("How many GPUs");
  const ClusterChoice *best = bestOf(r.sizes);
  std::vector<std::vector<Shown>> rows;
  int marked = -1;
  for (size_t i = 0; i < r.sizes.size(); ++i) {
    const ClusterChoice &c = r.sizes[i];
    std::vector<Shown> row = {std::to_string(c.gpus)};
    if (&c == best)
      marked = int(i);
    if (!c.best) {
      row.push_back("does not fit");
    } else {
      row.push_back({formatDuration(c.best->step.seconds),
                     "sizes." + std::to_string(i) + ".step_seconds",
                     c.best->step.seconds});
      row.push_back(formatCount(
          effortFor(1e12, *c.best, r.session.problem, c.gpus).gpuHours));
      row.push_back(c.best->layout.str());
    }
    rows.push_back(std::move(row));
  }
  page.note("The objective is " + nameOf(r.objective).str() +
            "; the global batch stays the same.");
  page.table({{"GPUs", Column::Number},
              {"step", Column::Number},
              {"GPU-hours for 1T tokens", Column::Number},
              {"best layout", Column::Code}},
             rows, marked);
}

/// The best and, where there is one, the runner-up.
static std::vector<NamedCandidate> bestTwo(const PlanReport &r) {
  std::vector<NamedCandidate> two = {
      {"best", "ranked.0", &r.result.ranked.front()}};
  if (r.result.ranked.size() > 1)
    two.push_back({"runner-up", "ranked.1", &r.result.ranked[1]});
  return two;
}

void tessera::writePage(const PlanReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  const Candidate &best = r.result.ranked.front();
  HtmlPage page(out, subject(r.session));
  writeAnswer(page, r);
  writeRanking(page, r);
  page.section("The step on each stage");
  writeTimeline(page, *r.detail);
  page.section("Where the time goes");
  std::vector<NamedCandidate> two = bestTwo(r);
  if (two.size() == 2) {
    const StepTime &second = two[1].candidate->step;
    std::string why = losses(second, best.step);
    page.paragraph(
        {{Piece::Plain, "The runner-up, "},
         {Piece::Code, two[1].candidate->layout.str()},
         {Piece::Plain,
          ", is " + formatPercent(second.seconds / best.step.seconds - 1) +
              " slower" + (why.empty() ? "" : ": " + why) + "."}});
  }
  writeTime(page, two);
  page.section("Memory");
  writeMemory(page, *r.detail, p, two.front());
  page.section("Kernels under the roofline");
  writeRoofline(page, *r.detail, p, "detail");
  writeStudies(page, r);
  writeBeyond(page, r);
  writeFront(page, r);
  writeSizes(page, r);
  page.section("The layout, and what to do with it");
  writeLayout(page, r.session, best.layout);
  writeAssumptions(page, r.session);
}

json::Object tessera::figuresJson(const PlanReport &r) {
  std::vector<NamedStep> steps;
  for (const NamedCandidate &c : bestTwo(r))
    steps.push_back({c.name, &c.candidate->step});
  json::Object o{
      {"timeline", timelineFigure(*r.detail)},
      {"time", timeFigure(steps)},
      {"memory", memoryFigure(*r.detail, r.session.problem.memoryLimit)},
      {"roofline", rooflineFigure(*r.detail)}};
  if (!r.front.empty())
    o["front"] = frontFigure(r.front);
  return o;
}
