//===- ExplainPage.cpp - a layout of the user's own beside the best -------===//
#include "Page.h"
#include "Sections.h"
#include "tessera/Support/Units.h"

using namespace llvm;
using namespace tessera;
using Piece = HtmlPage::Piece;
using Column = HtmlPage::Column;

/// The verdict in a sentence.
static std::vector<Piece> verdict(const ExplainReport &r) {
  std::vector<Piece> out = {{Piece::Plain, "Your layout "},
                            {Piece::Code, r.own.layout.str()}};
  auto plain = [&](std::string text) {
    out.push_back({Piece::Plain, std::move(text)});
  };
  if (!r.fits) {
    out.push_back({Piece::Strong, " does not fit"});
    plain(": stage " + std::to_string(r.own.memory.stage) + " needs " +
          formatBytes(r.over()) + " more than the " + formatBytes(r.room) +
          " there are. ");
    if (!r.best) {
      plain("No other layout fits either.");
      return out;
    }
    plain("The best that fits takes ");
    out.push_back({Piece::Strong,
                   {formatDuration(r.best->step.seconds), "best.step_seconds",
                    r.best->step.seconds}});
    plain(" a step.");
    return out;
  }
  if (r.asGoodAsBest()) {
    plain(" is as good as the best.");
    return out;
  }
  if (r.loss() <= 0) {
    plain(" would be " + fasterText(r) + ".");
    return out;
  }
  out.push_back(
      {Piece::Strong,
       {" takes " + formatPercent(r.loss()) + " longer", "loss", r.loss()}});
  std::string why = losses(r.own.step, r.best->step);
  plain(" than the best" + (why.empty() ? "" : ": " + why) + ".");
  return out;
}

static std::vector<NamedCandidate> both(const ExplainReport &r) {
  std::vector<NamedCandidate> list;
  if (r.best && !r.asGoodAsBest())
    list.push_back({"best", "best", &*r.best});
  list.push_back({"yours", "own", &r.own});
  return list;
}

static void writeChanges(HtmlPage &page, const ExplainReport &r) {
  if (r.changes.empty())
    return;
  page.section("What one change would bring");
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < r.changes.size(); ++i) {
    const Change &c = r.changes[i];
    double seconds = c.result.step.seconds;
    std::string gain =
        r.fits ? formatPercent(r.own.step.seconds / seconds - 1) : "fits";
    rows.push_back({c.what + " (" + c.fields + ")",
                    gain,
                    {formatDuration(seconds),
                     "changes." + std::to_string(i) + ".step_seconds", seconds},
                    c.result.layout.str()});
  }
  page.table({{"changing alone", Column::Text},
              {"gains", Column::Number},
              {"step", Column::Number},
              {"layout", Column::Code}},
             rows);
}

void tessera::writePage(const ExplainReport &r, raw_ostream &out) {
  const PlanProblem &p = r.session.problem;
  bool two = r.best && !r.asGoodAsBest();
  HtmlPage page(out, subject(r.session) + ": a layout explained");
  page.heading(kicker(r.session), subject(r.session));
  page.lead(verdict(r));
  if (two)
    page.paragraph({{Piece::Plain, "The best is "},
                    {Piece::Code, r.best->layout.str()},
                    {Piece::Plain, "."}});
  for (const std::string &line :
       {obstaclesText(r), r.fits ? fitText(r) : std::string()})
    if (!line.empty())
      page.sentence(line);
  writeCards(page, r.session, {"yours", "own", &r.own});
  writeChanges(page, r);
  page.section("Where the time goes");
  writeTime(page, both(r));
  page.section("The step on each stage");
  if (two)
    page.part("Yours");
  writeTimeline(page, *r.ownDetail);
  if (two) {
    page.part("The best");
    writeTimeline(page, *r.bestDetail);
  }
  page.section("Memory");
  if (two)
    page.part("Yours");
  writeMemory(page, *r.ownDetail, p, {"yours", "own", &r.own});
  if (two) {
    page.part("The best");
    writeMemory(page, *r.bestDetail, p, {"best", "best", &*r.best});
  }
  page.section("Kernels of your layout under the roofline");
  writeRoofline(page, *r.ownDetail, p, "own.detail");
  page.section(two ? "The best layout, and what to do with it"
                   : "The layout, and what to do with it");
  writeLayout(page, r.session, two ? r.best->layout : r.own.layout);
  writeAssumptions(page, r.session);
}

json::Object tessera::figuresJson(const ExplainReport &r) {
  std::vector<NamedStep> steps;
  for (const NamedCandidate &c : both(r))
    steps.push_back({c.name, &c.candidate->step});
  double limit = r.room;
  json::Object o{{"time", timeFigure(steps)},
                 {"timeline", timelineFigure(*r.ownDetail)},
                 {"memory", memoryFigure(*r.ownDetail, limit)},
                 {"roofline", rooflineFigure(*r.ownDetail)}};
  if (r.bestDetail) {
    o["best_timeline"] = timelineFigure(*r.bestDetail);
    o["best_memory"] = memoryFigure(*r.bestDetail, limit);
  }
  return o;
}
