//===- Sections.cpp - parts that pages have in common ---------------------===//
#include "Sections.h"
#include "Words.h"
#include "lib/Planning/Search/Breakdown.h"
#include "lib/Planning/Search/NextSteps.h"
#include "tessera/Support/Units.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace llvm;
using namespace tessera;
using Piece = HtmlPage::Piece;
using Column = HtmlPage::Column;

std::string tessera::subject(const PlanSession &s) {
  const PlanProblem &p = s.problem;
  return p.name + " on " + std::to_string(p.gpus()) + " x " +
         p.model.cluster.chip.name;
}

std::string tessera::kicker(const PlanSession &s) {
  const PlanProblem &p = s.problem;
  std::string text =
      formatCount(double(p.shape.totalParameters())) + " parameters";
  if (p.shape.experts)
    text += ", " + formatCount(double(p.shape.activeParameters())) +
            " of them active";
  const Cluster &c = p.model.cluster;
  return text + " \xC2\xB7 " + std::to_string(c.nodes) + " nodes of " +
         std::to_string(c.gpusPerNode) + " \xC2\xB7 " +
         std::to_string(p.workload.globalBatch) + " sequences of " +
         std::to_string(p.workload.sequence) + " tokens a step \xC2\xB7 " +
         p.stack;
}

/// "pipeline bubble" as JSON has it.
static std::string shareKey(StringRef name) {
  std::string key = name.str();
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

void tessera::writeCards(HtmlPage &page, const PlanSession &s,
                         const NamedCandidate &named) {
  const PlanProblem &p = s.problem;
  const Candidate &c = *named.candidate;
  double perGPU = tokensPerSecond(c, p) / double(p.gpus());
  double mfu = utilisationOf(c, p).full;
  Effort trillion = effortFor(1e12, c, p, p.gpus());
  auto of = [&](const char *field) { return named.key + "." + field; };
  page.cards(
      {{"time of a step",
        {formatDuration(c.step.seconds), of("step_seconds"), c.step.seconds},
        ""},
       {"tokens/s/GPU",
        {formatNumber(perGPU, 0), of("tokens_per_second_per_gpu"), perGPU},
        ""},
       {"utilisation (MFU)", {formatPercent(mfu), of("mfu"), mfu}, ""},
       {"fullest GPU",
        {formatBytes(c.memory.needed()), of("memory_bytes"), c.memory.needed()},
        "of " + formatBytes(roomOf(p))},
       {"1T tokens take", formatDuration(trillion.seconds), ""},
       {"GPU-hours for them", formatCount(trillion.gpuHours),
        formatNumber(trillion.megawattHours, 0) + " MWh"}});
  page.note("How far off the time of a step is to be expected: " +
            expectedErrorOf(c, p).text() + ".");
}

void tessera::writeTimeline(HtmlPage &page, const LayoutDetail &d) {
  const PipelineProblem &p = d.timeline.problem;
  std::string caption = std::to_string(p.microBatches) +
                        " microbatches through " + std::to_string(p.stages) +
                        (p.stages == 1 ? " stage" : " stages");
  if (p.virtualStages > 1)
    caption += " of " + std::to_string(p.virtualStages) + " chunks";
  caption += " (" + nameOf(p.schedule).str() +
             "), as the cost model plays them. Numbers are microbatches.";
  page.figure(timelineFigure(d), caption);
}

void tessera::writeTime(HtmlPage &page,
                        const std::vector<NamedCandidate> &list) {
  std::vector<NamedStep> steps;
  std::vector<Column> columns = {{"", Column::Text}};
  for (const NamedCandidate &c : list) {
    steps.push_back({c.name, &c.candidate->step});
    columns.push_back({c.name, Column::Number});
    columns.push_back({"share", Column::Number});
  }
  if (list.size() == 2)
    columns.push_back({"difference", Column::Number});
  page.figure(timeFigure(steps),
              "Where the time of the busiest stage goes. Communication is what "
              "no computation hides.");
  // Each column in one unit, the differences in that of the first.
  std::vector<std::vector<Share>> shares;
  std::vector<std::vector<std::string>> texts;
  std::vector<double> more;
  for (const NamedCandidate &c : list) {
    shares.push_back(timeShares(c.candidate->step));
    std::vector<double> seconds;
    for (const Share &s : shares.back())
      seconds.push_back(s.value);
    seconds.push_back(c.candidate->step.seconds);
    texts.push_back(formatDurations(seconds));
  }
  if (list.size() == 2) {
    for (size_t i = 0; i < shares[0].size(); ++i)
      more.push_back(std::abs(shares[1][i].value - shares[0][i].value));
    more.push_back(std::abs(steps[1].step->seconds - steps[0].step->seconds));
    more.push_back(steps[0].step->seconds);
  }
  std::vector<std::string> differences = formatDurations(more);
  auto difference = [&](size_t i, double first, double second) {
    // Nothing where it rounds to nothing.
    if (StringRef(differences[i]).find_first_of("123456789") == StringRef::npos)
      return std::string();
    return (second > first ? "+" : "\xE2\x88\x92") + differences[i];
  };
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < shares.front().size(); ++i) {
    std::vector<Shown> row = {shares.front()[i].name};
    std::vector<double> values;
    for (size_t j = 0; j < list.size(); ++j) {
      const Share &s = shares[j][i];
      values.push_back(s.value);
      row.push_back(
          {texts[j][i], list[j].key + ".time." + shareKey(s.name), s.value});
      row.push_back(formatPercent(s.value / steps[j].step->seconds));
    }
    if (llvm::none_of(values, [](double v) { return v > 1e-6; }))
      continue;
    if (list.size() == 2)
      row.push_back(difference(i, values[0], values[1]));
    rows.push_back(std::move(row));
  }
  std::vector<Shown> last = {"step"};
  for (size_t j = 0; j < list.size(); ++j) {
    double seconds = steps[j].step->seconds;
    last.push_back({texts[j].back(), list[j].key + ".step_seconds", seconds});
    last.push_back("");
  }
  if (list.size() == 2)
    last.push_back(difference(shares.front().size(), steps[0].step->seconds,
                              steps[1].step->seconds));
  rows.push_back(std::move(last));
  page.table(columns, rows, int(rows.size()) - 1);
}

void tessera::writeMemory(HtmlPage &page, const LayoutDetail &d,
                          const PlanProblem &p, const NamedCandidate &named) {
  page.figure(
      memoryFigure(d, roomOf(p)),
      "What one GPU of each pipeline stage needs at its peak, and what there "
      "is.");
  const MemoryUse &m = named.candidate->memory;
  std::vector<std::vector<Shown>> rows;
  std::map<std::string, double> shares;
  for (const Share &s : memoryShares(m))
    shares[s.name] = s.value;
  int total = -1;
  for (const BreakdownLine &line : memoryLines(*named.candidate, p)) {
    Shown value(line.text);
    if (shares.count(line.name)) {
      value = {line.text, named.key + ".memory." + shareKey(line.name),
               line.value};
    } else if (line.name == "needed") {
      value = {line.text, named.key + ".memory_bytes", line.value};
      total = int(rows.size());
    }
    rows.push_back({line.name, value, line.share});
  }
  std::string fullest = "fullest GPU";
  if (d.stages.size() > 1)
    fullest += " (stage " + std::to_string(m.stage) + ")";
  page.table({{fullest, Column::Text},
              {"", Column::Number},
              {"share", Column::Number}},
             rows, total, /*compact=*/true);
}

void tessera::writeRoofline(HtmlPage &page, const LayoutDetail &d,
                            const PlanProblem &p, StringRef key) {
  page.figure(rooflineFigure(d),
              "Every kind of kernel of one GPU, forward and backward; the area "
              "of a mark is its share of the kernels' time. Below the slope "
              "memory is the limit, below the flat line the matrix units of " +
                  p.model.cluster.chip.name +
                  " (data sheet). Numbered marks are in the table.");
  std::vector<std::vector<Shown>> rows;
  for (size_t i = 0; i < std::min(kListedKernels, d.kernels.size()); ++i) {
    const KernelPoint &k = d.kernels[i];
    auto of = [&](const char *field) {
      return (key + ".roofline.kernels." + Twine(i) + "." + field).str();
    };
    double peak = std::min(p.model.cluster.chip.peak(k.type),
                           k.intensity() * d.memoryBandwidth);
    rows.push_back({std::to_string(i + 1),
                    k.block,
                    k.str(),
                    k.backward ? "backward" : "forward",
                    nameOf(k.type).str(),
                    {formatNumber(k.intensity(), k.intensity() < 10 ? 1 : 0),
                     of("intensity"), k.intensity()},
                    {formatNumber(k.rate() / 1e12, k.rate() < 1e13 ? 1 : 0),
                     of("flops_per_second"), k.rate()},
                    formatPercent(k.rate() / peak, 0),
                    {formatPercent(k.share), of("share"), k.share}});
  }
  page.table({{"", Column::Text},
              {"block", Column::Text},
              {"kernel (rows x columns x reduction)", Column::Text},
              {"pass", Column::Text},
              {"type", Column::Text},
              {"FLOP/byte", Column::Number},
              {"TFLOP/s", Column::Number},
              {"of its roof", Column::Number},
              {"share of time", Column::Number}},
             rows);
}

void tessera::writeLayout(HtmlPage &page, const PlanSession &s,
                          const Layout &layout) {
  std::vector<std::vector<Shown>> rows;
  for (auto &[entry, words] : layoutInWords(layout))
    rows.push_back({entry, words});
  page.table({{"choice", Column::Code}, {"meaning", Column::Text}}, rows, -1,
             /*compact=*/true);
  page.part("Build its forward pass");
  std::string compile = compileCommandLine(s, layout);
  if (compile.empty())
    page.note("Not compiled yet: " + whyNotCompiled(s, layout) + ".");
  else
    page.command(compile);
  page.part("Take it to a training framework");
  for (auto &[title, line] : exportCommandLines(s, layout))
    page.command(line, title);
  page.part("Change something and compare");
  page.command(explainCommandLine(s, layout));
}

void tessera::writeAssumptions(HtmlPage &page, const PlanSession &s) {
  page.section("Assumptions");
  page.list(s.assumptions);
  page.note("Names in brackets are the options that change them.");
}
