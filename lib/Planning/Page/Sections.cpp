//===- Sections.cpp - parts that pages have in common ---------------------===//
#include "Sections.h"
#include "Words.h"
#include "lib/Planning/Search/Breakdown.h"
#include "lib/Planning/Search/NextSteps.h"
#include "tessera/Support/Units.h"
#include <algorithm>

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
  double mfu = modelFlopsUtilisation(c, p);
  Effort trillion = effortFor(1e12, c, p, p.gpus());
  auto of = [&](const char *field) { return named.key + "." + field; };
  page.cards(
      {{"time of a step",
        {formatDuration(c.step.seconds), of("step_seconds"), c.step.seconds},
        ""},
       {"tokens/s/GPU",
        {formatNumber(perGPU, 0), of("tokens_per_second_per_gpu"), perGPU},
        ""},
       {"utilisation (MFU)", {formatPercent(mfu), of("mfu_6n"), mfu}, ""},
       {"fullest GPU",
        {formatBytes(c.memory.total()), of("memory_bytes"), c.memory.total()},
        "of " + formatBytes(p.memoryLimit)},
       {"1T tokens take", formatDuration(trillion.seconds), ""},
       {"GPU-hours for them", formatCount(trillion.gpuHours),
        formatNumber(trillion.megawattHours, 0) + " MWh"}});
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
  std::vector<std::vector<Shown>> rows;
  std::vector<Share> names = timeShares(*steps.front().step);
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<Shown> row = {names[i].name};
    std::vector<double> values;
    for (const NamedCandidate &c : list) {
      double value = timeShares(c.candidate->step)[i].value;
      values.push_back(value);
      row.push_back({value > 0 ? formatDuration(value) : "0",
                     c.key + ".time." + shareKey(names[i].name), value});
      row.push_back(formatPercent(value / c.candidate->step.seconds));
    }
    if (llvm::none_of(values, [](double v) { return v > 1e-6; }))
      continue;
    if (values.size() == 2) {
      double more = values[1] - values[0];
      row.push_back(std::abs(more) < 1e-6 ? std::string()
                                          : (more > 0 ? "+" : "\xE2\x88\x92") +
                                                formatDuration(std::abs(more)));
    }
    rows.push_back(std::move(row));
  }
  page.table(columns, rows);
}

void tessera::writeMemory(HtmlPage &page, const LayoutDetail &d,
                          const PlanProblem &p, const NamedCandidate &named) {
  page.figure(memoryFigure(d, p.memoryLimit),
              "What one GPU of each pipeline stage holds at its peak.");
  const MemoryUse &m = named.candidate->memory;
  std::vector<std::vector<Shown>> rows;
  for (const Share &s : memoryShares(m))
    if (s.value > 0)
      rows.push_back({s.name,
                      {formatBytes(s.value),
                       named.key + ".memory." + shareKey(s.name), s.value},
                      formatPercent(s.value / m.total())});
  rows.push_back(
      {"total",
       {formatBytes(m.total()), named.key + ".memory_bytes", m.total()},
       formatPercent(m.total() / p.memoryLimit) + " of the limit"});
  std::string fullest = "fullest GPU";
  if (d.stages.size() > 1)
    fullest += " (stage " + std::to_string(m.stage) + ")";
  page.table({{fullest, Column::Text},
              {"", Column::Number},
              {"share", Column::Number}},
             rows, /*marked=*/-1, /*compact=*/true);
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
    page.code(compile);
  std::string lines;
  for (auto &[title, line] : exportCommandLines(s, layout))
    lines += (lines.empty() ? "" : "\n") + ("# " + title) + "\n" + line + "\n";
  page.part("Take it to a training framework");
  page.code(StringRef(lines).rtrim());
  page.part("Change something and compare");
  page.code(explainCommandLine(s, layout));
}

void tessera::writeAssumptions(HtmlPage &page, const PlanSession &s) {
  page.section("Assumptions");
  page.list(s.assumptions);
  page.note("Names in brackets are the options that change them.");
}
