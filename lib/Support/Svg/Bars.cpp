//===- Bars.cpp - horizontal stacked bars ---------------------------------===//
#include "Canvas.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace tessera;
using namespace tessera::svg;

/// Kinds that some bar has at all.
static std::vector<bool> usedKinds(const SvgBars &chart) {
  std::vector<bool> used(chart.kinds.size());
  for (const SvgBars::Bar &bar : chart.bars)
    for (size_t k = 0; k < std::min(bar.parts.size(), used.size()); ++k)
      used[k] = used[k] || bar.parts[k] > 0;
  return used;
}

/// Many bars are thin, few are thick.
static double barHeight(size_t bars) {
  return bars <= 4 ? 34 : bars <= 10 ? 24 : bars <= 24 ? 16 : 10;
}

void SvgBars::write(raw_ostream &os) const {
  std::vector<bool> used = usedKinds(*this);
  std::vector<Canvas::Entry> entries;
  for (auto [kind, isUsed] : zip(kinds, used))
    if (isUsed)
      entries.push_back({kind.name, kind.colour});
  double labels = 0, totals = 0;
  for (const Bar &bar : bars) {
    labels = std::max(labels, textWidth(bar.label, 12));
    totals = std::max(totals, textWidth(bar.total, 12));
  }
  const double left = labels + 14, right = width - 16.0;
  double head = title.empty() ? 16 : 48;
  int lines = legendLines(left, right, entries);
  double top = head + (lines - 1) * kLegendStep + (limit ? 40 : 18);
  double each = barHeight(bars.size()), step = each * 1.3;
  double bottom = top + step * double(bars.size());
  Scale scale(false, left, right, unit);
  for (const Bar &bar : bars) {
    double sum = 0;
    for (double part : bar.parts)
      sum += std::max(part, 0.0);
    scale.cover(sum);
  }
  if (limit)
    scale.cover(limit->value);
  scale.finishFromZero(totals + 12);

  Canvas canvas(os, width, bottom + (axis.empty() ? 26 : 46), title,
                background);
  canvas.legend(left, head, right, entries);
  auto textOf = [&](double v) { return format ? format(v) : tickText(v); };
  for (double v : scale.ticks(8)) {
    double x = scale.pixel(v);
    canvas.line(x, top - 4, x, bottom, .13);
    canvas.text(x, bottom + 16, textOf(v), {"middle", 11, false, true});
  }
  if (!axis.empty())
    canvas.text((left + right) / 2, bottom + 38, axis, {"middle"});
  double y = top;
  for (const Bar &bar : bars) {
    double middle = y + each / 2 + 4;
    canvas.text(left - 8, middle, bar.label, {"end"});
    double sum = 0;
    for (size_t k = 0; k < std::min(bar.parts.size(), kinds.size()); ++k) {
      if (!(bar.parts[k] > 0))
        continue;
      double x1 = scale.pixel(sum), x2 = scale.pixel(sum += bar.parts[k]);
      std::string value = textOf(bar.parts[k]);
      // A hair of background between neighbours.
      double w = x2 - x1 > 3 ? x2 - x1 - 0.75 : x2 - x1;
      canvas.rect(x1, y, w, each, kinds[k].colour,
                  bar.label + ", " + kinds[k].name + ": " + value);
      if (each >= 16 && textWidth(value, 11) + 8 < w)
        canvas.text((x1 + x2) / 2, middle, value,
                    {"middle", 11, false, false, inkOn(kinds[k].colour)});
    }
    if (!bar.total.empty()) {
      // Beside the bar, or beyond the limit where its line would cross the
      // text.
      double x = scale.pixel(sum) + 7,
             line = limit ? scale.pixel(limit->value) : 0;
      if (x < line + 5 && line - 3 < x + textWidth(bar.total, 12))
        x = line + 6;
      canvas.text(x, middle, bar.total, {"start", 12, /*bold=*/true});
    }
    y += step;
  }
  if (!limit)
    return;
  double x = scale.pixel(limit->value);
  canvas.line(x, top - 10, x, bottom, .9, /*dashed=*/true);
  bool beyond = x + textWidth(limit->label, 11) / 2 > right;
  canvas.text(beyond ? right : x, top - 14, limit->label,
              {beyond ? "end" : "middle", 11, true});
}
