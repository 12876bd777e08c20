//===- Plot.cpp - points and lines over two axes --------------------------===//
//
// Labels of points are placed greedily: the nearest position beside, above or
// below the marker that lies inside the plot and on nothing written or drawn
// before, with a line to the marker where it is not beside it. Where there is
// none the label is left to the tooltip.
//
//===----------------------------------------------------------------------===//
#include "Canvas.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;
using namespace tessera;
using namespace tessera::svg;

namespace {
struct Area {
  double x1, y1, x2, y2;
  bool meets(const Area &o) const {
    return x1 < o.x2 && o.x1 < x2 && y1 < o.y2 && o.y1 < y2;
  }
  bool inside(const Area &o) const {
    return x1 >= o.x1 && x2 <= o.x2 && y1 >= o.y1 && y2 <= o.y2;
  }
};

/// Positions above and below a marker that are tried.
constexpr int kRings = 9;

/// Writes labels where nothing is yet.
class Labels {
public:
  Labels(Canvas &canvas, Area frame) : canvas(canvas), frame(frame) {}
  void occupy(const Area &area) { taken.push_back(area); }
  void place(double x, double y, double r, StringRef text) {
    constexpr double size = 11;
    double w = textWidth(text, size);
    for (int ring = 0; ring < kRings; ++ring)
      for (double side : {1.0, -1.0})
        for (double up : {-1.0, 1.0}) {
          double left =
              side > 0 ? x + r + 3 + 2 * ring : x - r - 3 - 2 * ring - w;
          double base = y + 4 + up * 13 * ring;
          Area area{left - 1, base - size + 1, left + w + 1, base + 3};
          auto meets = [&](const Area &o) { return area.meets(o); };
          if (!area.inside(frame) || any_of(taken, meets))
            continue;
          if (ring > 0)
            canvas.line(x, y, side > 0 ? left - 1 : left + w + 1, base - 4, .4);
          canvas.text(left, base, text, {"start", size});
          occupy(area);
          return;
        }
  }

private:
  Canvas &canvas;
  Area frame;
  std::vector<Area> taken;
};
} // namespace

/// Colour of each series: its own or the next of the palette.
static std::vector<StringRef> coloursOf(const SvgPlot &plot) {
  const StringRef palette[] = {colour::kBlue,   colour::kVermillion,
                               colour::kGreen,  colour::kPurple,
                               colour::kOrange, colour::kSky};
  std::vector<StringRef> colours;
  size_t next = 0;
  for (const SvgPlot::Series &s : plot.series)
    colours.push_back(s.colour.empty() ? palette[next++ % std::size(palette)]
                                       : StringRef(s.colour));
  return colours;
}

static std::vector<Canvas::Entry>
legendOf(const SvgPlot &plot, const std::vector<StringRef> &colours) {
  std::vector<Canvas::Entry> entries;
  for (auto [s, c] : zip(plot.series, colours))
    if (!s.name.empty())
      entries.push_back({s.name, c.str(),
                         s.markers  ? Canvas::Entry::Mark
                         : s.dashed ? Canvas::Entry::Dashed
                                    : Canvas::Entry::Line,
                         s.shape});
  return entries;
}

static std::string tick(const SvgPlot::Axis &axis, double v) {
  return axis.format ? axis.format(v) : tickText(v);
}

void SvgPlot::write(raw_ostream &os) const {
  std::vector<StringRef> colours = coloursOf(*this);
  std::vector<Canvas::Entry> entries = legendOf(*this, colours);
  const double left = 78, right = width - 24.0, bottom = height - 52.0;
  double head = title.empty() ? 16 : 46;
  double top = head;
  if (entries.size() > 1)
    top += legendLines(left, right, entries) * kLegendStep;
  Scale sx(x.log, left, right), sy(y.log, bottom, top);
  for (const Series &s : series)
    for (const Point &p : s.points)
      if (sx.usable(p.x) && sy.usable(p.y))
        sx.cover(p.x), sy.cover(p.y);
  // Room for what is written above a line.
  if (y.log && any_of(series, [](const Series &s) { return !s.note.empty(); }))
    sy.cover(sy.highest() * 1.6);
  sx.finish();
  sy.finish();

  Canvas canvas(os, width, height, title, background);
  if (entries.size() > 1)
    canvas.legend(left, head, right, entries);
  for (double v : sx.ticks(std::max(3, width / 110))) {
    double px = sx.pixel(v);
    canvas.line(px, top, px, bottom, .13);
    canvas.text(px, bottom + 18, tick(x, v), {"middle"});
  }
  for (double v : sy.ticks()) {
    double py = sy.pixel(v);
    canvas.line(left, py, right, py, .13);
    canvas.text(left - 8, py + 4, tick(y, v), {"end"});
  }
  canvas.frame(left, top, right - left, bottom - top);
  canvas.text((left + right) / 2, height - 12.0, x.label, {"middle"});
  TextStyle upright{"middle"};
  upright.rotate = -90;
  canvas.text(18, (top + bottom) / 2, y.label, upright);

  Labels labels(canvas, {left, top, right, bottom});
  for (auto [s, c] : zip(series, colours)) {
    std::string line;
    double lastX = 0, lastY = 0;
    for (const Point &p : s.points) {
      if (!sx.usable(p.x) || !sy.usable(p.y))
        continue;
      lastX = sx.pixel(p.x), lastY = sy.pixel(p.y);
      if (s.markers)
        labels.occupy({lastX - p.radius, lastY - p.radius, lastX + p.radius,
                       lastY + p.radius});
      else
        line += (line.empty() ? "" : " ") + number(lastX) + "," + number(lastY);
    }
    if (s.markers || line.empty())
      continue;
    canvas.polyline(line, c, s.dashed);
    if (s.note.empty())
      continue;
    // Above the last point, or below where the plot ends there.
    double w = textWidth(s.note, 11);
    double x1 = std::min(lastX, right - 4) - w, y2 = lastY - 6;
    if (y2 - 12 < top)
      y2 = lastY + 15;
    canvas.text(x1, y2, s.note, {"start", 11});
    labels.occupy({x1 - 4, y2 - 12, x1 + w + 4, y2 + 4});
  }
  for (auto [s, c] : zip(series, colours)) {
    if (!s.markers)
      continue;
    for (const Point &p : s.points) {
      if (!sx.usable(p.x) || !sy.usable(p.y))
        continue;
      double px = sx.pixel(p.x), py = sy.pixel(p.y);
      canvas.marker(px, py, p.radius, s.shape, c, p.tooltip);
      if (!p.label.empty())
        labels.place(px, py, p.radius, p.label);
    }
  }
}
