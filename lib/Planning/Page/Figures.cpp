//===- Figures.cpp - pictures of layouts ----------------------------------===//
//
// A thing has the same colour in every picture where it occurs. The roofline is
// that of Williams, Waterman and Patterson (CACM 52(4), 2009).
//
//===----------------------------------------------------------------------===//
#include "Figures.h"
#include "lib/Planning/Search/Breakdown.h"
#include "tessera/Support/Svg.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

template <typename Chart>
static std::string textOf(const Chart &chart) {
  std::string text;
  raw_string_ostream os(text);
  chart.write(os);
  return text;
}

/// "0", "250 ms", "1.5 s"
static std::string shortTime(double seconds) {
  if (seconds == 0)
    return "0";
  bool fine = std::abs(seconds) < 1;
  double value = fine ? seconds * 1e3 : seconds;
  std::string text = formatNumber(value, value < 10 ? 2 : value < 100 ? 1 : 0);
  if (StringRef(text).contains('.')) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  return text + (fine ? " ms" : " s");
}

/// The same in the timeline and in the bars.
static constexpr StringLiteral kOptimizer = "#55595f", kOverhead = "#b4b9c0";

static std::vector<SvgKind> segmentKinds() {
  return {{"forward", colour::kBlue.str()},
          {"recomputation", colour::kSky.str()},
          {"backward", colour::kGreen.str()},
          {"weight gradients", colour::kYellow.str()},
          {"exposed communication", colour::kVermillion.str()},
          {"send and receive", colour::kOrange.str()},
          {"gradient reduction", colour::kPurple.str()},
          {"optimizer", kOptimizer.str()},
          {"overhead", kOverhead.str()}};
}

std::string tessera::timelineFigure(const LayoutDetail &d) {
  const Timeline &t = d.timeline;
  SvgLanes chart;
  chart.kinds = segmentKinds();
  for (int s = 0; s < t.problem.stages; ++s)
    chart.lanes.push_back("stage " + std::to_string(s));
  // What is thinner than a pixel's half is drawn with its neighbour.
  double shown = t.cut ? t.seconds - (t.cut->to - t.cut->from) : t.seconds;
  double thinnest = shown / chart.width / 2;
  for (const Segment &s : segmentsOf(t)) {
    SvgLanes::Box box{s.stage, static_cast<int>(s.kind), s.start, s.end, ""};
    if (s.kind == SegmentKind::Forward || s.kind == SegmentKind::Backward)
      box.label = std::to_string(s.microBatch + 1);
    bool follows = !chart.boxes.empty() && chart.boxes.back().lane == s.stage &&
                   s.chunk >= 0 &&
                   s.start - chart.boxes.back().end < thinnest * 0.1;
    if (follows && s.end - s.start < thinnest)
      chart.boxes.back().end = s.end;
    else
      chart.boxes.push_back(std::move(box));
  }
  if (t.cut)
    chart.cut =
        SvgLanes::Cut{t.cut->from, t.cut->to,
                      formatCount(double(t.cut->passes)) + " passes, " +
                          shortTime(t.cut->to - t.cut->from) + " of the same"};
  chart.mark = SvgLanes::Mark{t.seconds, "step " + formatDuration(t.seconds)};
  chart.idle = "waiting (bubble)";
  chart.format = shortTime;
  return textOf(chart);
}

/// Colours of timeShares, by name.
static StringRef timeColour(StringRef name) {
  static const std::pair<StringRef, StringRef> colours[] = {
      {"compute", colour::kBlue},
      {"recomputation", colour::kSky},
      {"tp communication", colour::kVermillion},
      {"cp communication", colour::kYellow},
      {"ep communication", colour::kGreen},
      {"etp communication", "#a6761d"},
      {"dp communication", colour::kPurple},
      {"pp communication", colour::kOrange},
      {"pipeline bubble", colour::kNone},
      {"host", "#7a5195"},
      {"optimizer", kOptimizer}};
  for (auto [key, value] : colours)
    if (key == name)
      return value;
  return kOverhead;
}

std::string tessera::timeFigure(const std::vector<NamedStep> &steps) {
  SvgBars chart;
  for (const NamedStep &s : steps) {
    SvgBars::Bar bar;
    bar.label = s.name;
    bar.total = formatDuration(s.step->seconds);
    for (const Share &share : timeShares(*s.step)) {
      if (&s == &steps.front())
        chart.kinds.push_back({share.name, timeColour(share.name).str()});
      bar.parts.push_back(share.value);
    }
    chart.bars.push_back(std::move(bar));
  }
  chart.format = shortTime;
  return textOf(chart);
}

std::string tessera::memoryFigure(const LayoutDetail &d, double limit) {
  static const StringRef colours[] = {
      colour::kBlue,   colour::kOrange, colour::kGreen, colour::kVermillion,
      colour::kPurple, colour::kSky,    colour::kGrey,  colour::kNone};
  SvgBars chart;
  for (const MemoryUse &m : d.stages) {
    SvgBars::Bar bar;
    bar.label = "stage " + std::to_string(m.stage);
    bar.total = formatNumber(m.needed() / kGiB, 1);
    for (const Share &share : memoryShares(m)) {
      if (&m == &d.stages.front())
        chart.kinds.push_back(
            {share.name,
             colours[chart.kinds.size() % std::size(colours)].str()});
      bar.parts.push_back(share.value);
    }
    chart.bars.push_back(std::move(bar));
  }
  chart.unit = kGiB;
  chart.axis = "GiB on one GPU";
  chart.format = [](double v) {
    if (v == 0)
      return std::string("0");
    return formatNumber(v / kGiB, v < 10 * kGiB ? 1 : 0);
  };
  chart.limit = SvgBars::Limit{limit, "limit " + formatBytes(limit)};
  return textOf(chart);
}

/// Roofs: up the memory's slope to the ridge of each peak, then flat.
static void addRoofs(const LayoutDetail &d, double low, double high,
                     SvgPlot &plot) {
  double top = 0;
  for (auto [type, peak] : d.peaks)
    top = std::max(top, peak);
  double bandwidth = d.memoryBandwidth;
  SvgPlot::Series slope;
  slope.colour = colour::kGrey.str();
  slope.points = {{low, low * bandwidth}, {top / bandwidth, top}};
  plot.series.push_back(slope);
  for (auto [type, peak] : d.peaks) {
    SvgPlot::Series roof;
    roof.colour = colour::kGrey.str();
    double ridge = peak / bandwidth;
    roof.points = {{ridge, peak}, {std::max(high, 1.5 * ridge), peak}};
    roof.note = nameOf(type).str() + " peak " + formatNumber(peak / 1e12, 0) +
                " TFLOP/s, ridge at " + formatNumber(ridge, 0) + " FLOP/byte";
    plot.series.push_back(roof);
  }
}

std::string tessera::rooflineFigure(const LayoutDetail &d) {
  struct Look {
    KernelClass kernel;
    const char *name;
    StringRef colour;
    SvgPlot::Shape shape;
  };
  static const Look looks[] = {
      {KernelClass::Matmul, "matrix product", colour::kBlue,
       SvgPlot::Shape::Circle},
      {KernelClass::GroupedMatmul, "experts' products", colour::kVermillion,
       SvgPlot::Shape::Diamond},
      {KernelClass::Attention, "attention", colour::kGreen,
       SvgPlot::Shape::Square},
      {KernelClass::RowReduction, "norms, softmax, loss", colour::kPurple,
       SvgPlot::Shape::Triangle},
      {KernelClass::Elementwise, "element-wise", colour::kOrange,
       SvgPlot::Shape::Circle},
      {KernelClass::Gather, "embedding, permutation", colour::kSky,
       SvgPlot::Shape::Square},
  };
  SvgPlot plot;
  plot.width = 960;
  plot.height = 480;
  plot.background = false;
  auto flops = [](double v) {
    return v >= 1e12  ? formatNumber(v / 1e12, 0) + " T"
           : v >= 1e9 ? formatNumber(v / 1e9, 0) + " G"
                      : formatNumber(v / 1e6, 0) + " M";
  };
  plot.x = {"arithmetic intensity (FLOP per byte of memory traffic)", true,
            [](double v) {
              return formatNumber(v, v < 0.1 ? 2 : v < 1 ? 1 : 0);
            }};
  plot.y = {"FLOP/s of one GPU", true, flops};
  double low = 1e30, high = 0;
  for (const KernelPoint &k : d.kernels) {
    low = std::min(low, k.intensity());
    high = std::max(high, k.intensity());
  }
  if (d.kernels.empty())
    return textOf(plot);
  addRoofs(d, low / 1.5, high * 2, plot);
  for (const Look &look : looks) {
    SvgPlot::Series series;
    series.name = look.name;
    series.markers = true;
    series.shape = look.shape;
    series.colour = look.colour.str();
    for (const KernelPoint &k : d.kernels) {
      if (k.kernel != look.kernel)
        continue;
      std::string name = k.str() + (k.backward ? " backward" : "");
      SvgPlot::Point point{k.intensity(), k.rate(), "",
                           3.5 + 14 * std::sqrt(k.share), ""};
      size_t rank = size_t(&k - d.kernels.data());
      if (rank < kListedKernels)
        point.label = std::to_string(rank + 1);
      point.tooltip = name + " in " + k.block + ": " +
                      formatNumber(k.rate() / 1e12, 1) + " TFLOP/s, " +
                      shortTime(k.seconds) + ", " + formatPercent(k.share) +
                      " of the kernels' time";
      series.points.push_back(std::move(point));
    }
    if (!series.points.empty())
      plot.series.push_back(std::move(series));
  }
  return textOf(plot);
}

std::string tessera::frontFigure(const std::vector<Candidate> &front) {
  SvgPlot plot;
  plot.width = 960;
  plot.height = 380;
  plot.background = false;
  plot.x = {"memory of the fullest GPU (GiB)", false, {}};
  plot.y = {"time of a step", false, shortTime};
  SvgPlot::Series line, points;
  line.dashed = true;
  line.colour = points.colour = colour::kBlue.str();
  points.markers = true;
  for (const Candidate &c : front) {
    double x = c.memory.needed() / kGiB, y = c.step.seconds;
    line.points.push_back({x, y});
    points.points.push_back({x, y, c.layout.str(), 5, c.layout.str()});
  }
  plot.series = {line, points};
  return textOf(plot);
}
