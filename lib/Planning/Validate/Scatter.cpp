//===- Scatter.cpp - predicted against measured, as a picture -------------===//
#include "Report.h"
#include "tessera/Support/Svg.h"
#include "tessera/Support/Units.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace tessera;

/// Sources that get a colour of their own; the rest share one.
static constexpr size_t kNamedSources = 5;

std::string tessera::scatterFigure(const Report &report) {
  std::map<std::string, std::vector<const Outcome *>> sources;
  double low = 1e300, high = 0;
  for (const Outcome &o : report.outcomes) {
    if (!o.complete || !(o.measured > 0))
      continue;
    sources[o.run->points.front()->source].push_back(&o);
    low = std::min({low, o.measured, o.prediction.step.seconds});
    high = std::max({high, o.measured, o.prediction.step.seconds});
  }
  // The largest get a colour each.
  std::vector<std::pair<size_t, std::string>> bySize;
  for (auto &[name, runs] : sources)
    bySize.push_back({runs.size(), name});
  std::sort(bySize.rbegin(), bySize.rend());

  SvgPlot plot;
  plot.width = 760;
  plot.height = 640;
  plot.background = false;
  plot.x = {"measured time of a step", true, formatDuration};
  plot.y = {"predicted", true, formatDuration};
  if (!bySize.empty())
    for (double factor : {0.9, 1.0, 1.1}) {
      SvgPlot::Series line;
      line.colour = colour::kGrey.str();
      line.dashed = factor != 1.0;
      line.points = {{low, low * factor}, {high, high * factor}};
      plot.series.push_back(std::move(line));
    }
  SvgPlot::Series others;
  others.name = "other sources";
  others.markers = true;
  others.colour = colour::kGrey.str();
  std::vector<SvgPlot::Series> named;
  for (auto &[size, name] : bySize) {
    bool own = named.size() < kNamedSources;
    SvgPlot::Series series;
    series.name = name;
    series.markers = true;
    series.shape = static_cast<SvgPlot::Shape>(named.size() % 4);
    for (const Outcome *o : sources[name])
      (own ? series : others)
          .points.push_back({o->measured, o->prediction.step.seconds, "", 3,
                             o->run->points.front()->run});
    if (own)
      named.push_back(std::move(series));
  }
  for (SvgPlot::Series &series : named)
    plot.series.push_back(std::move(series));
  if (!others.points.empty())
    plot.series.push_back(std::move(others));
  std::string text;
  raw_string_ostream os(text);
  plot.write(os);
  return text;
}
