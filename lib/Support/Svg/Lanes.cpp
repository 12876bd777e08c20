//===- Lanes.cpp - boxes on lanes over time -------------------------------===//
//
// Boxes of one kind become one path of thick strokes, so that thousands of them
// stay small. A cut takes a stretch out of the time axis and leaves a gap with a
// note.
//
//===----------------------------------------------------------------------===//
#include "Canvas.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace tessera;
using namespace tessera::svg;

/// Pixels that a cut is wide.
static constexpr double kCutWidth = 26;

namespace {
/// Time to pixels, with a stretch left out.
class TimeAxis {
public:
  TimeAxis(double end, std::optional<SvgLanes::Cut> cut, double left,
           double right)
      : end(end), cut(cut), left(left) {
    double shown = end;
    double room = right - left;
    if (cut) {
      shown -= cut->to - cut->from;
      room -= kCutWidth;
    }
    rate = shown > 0 ? room / shown : 0;
  }
  double pixel(double t) const {
    if (!cut || t <= cut->from)
      return left + t * rate;
    double x = left + cut->from * rate;
    if (t < cut->to)
      return x + kCutWidth * (t - cut->from) / (cut->to - cut->from);
    return x + kCutWidth + (t - cut->to) * rate;
  }
  /// What is seen of [from, to]; an empty stretch where all is cut.
  std::pair<double, double> clip(double from, double to) const {
    if (!cut)
      return {from, to};
    bool before = from<cut->from, after = to> cut->to;
    if (before)
      return {from, std::min(to, cut->from)};
    return after ? std::pair(std::max(from, cut->to), to) : std::pair(0., 0.);
  }
  bool hidden(double t) const { return cut && t > cut->from && t < cut->to; }
  double length() const { return end; }
  /// Of what is drawn.
  double shown() const { return cut ? end - (cut->to - cut->from) : end; }

private:
  double end;
  std::optional<SvgLanes::Cut> cut;
  double left, rate = 0;
};
} // namespace

static double laneHeight(size_t lanes) {
  return lanes <= 2    ? 40
         : lanes <= 8  ? 28
         : lanes <= 16 ? 20
         : lanes <= 32 ? 12
                       : 8;
}

/// A jagged edge at each side of the cut.
static void drawCut(Canvas &canvas, const SvgLanes::Cut &cut,
                    const TimeAxis &axis, double top, double bottom) {
  for (double x : {axis.pixel(cut.from) + 3, axis.pixel(cut.to) - 3})
    for (double y = top; y < bottom; y += 12) {
      double end = std::min(y + 12, bottom), half = (y + end) / 2;
      canvas.line(x, y, x + 3, half, .6);
      canvas.line(x + 3, half, x, end, .6);
    }
  double middle = (axis.pixel(cut.from) + axis.pixel(cut.to)) / 2;
  canvas.text(middle, top - 8, cut.label, {"middle", 11});
}

void SvgLanes::write(raw_ostream &os) const {
  std::vector<bool> used(kinds.size());
  double last = mark ? mark->time : 0;
  for (const Box &b : boxes) {
    used[b.kind] = true;
    last = std::max(last, b.end);
  }
  std::vector<Canvas::Entry> entries;
  for (auto [kind, isUsed] : zip(kinds, used))
    if (isUsed)
      entries.push_back({kind.name, kind.colour});
  if (!idle.empty())
    entries.push_back({idle, colour::kNone.str()});
  double labels = 0;
  for (const std::string &lane : lanes)
    labels = std::max(labels, textWidth(lane, 12));
  const double left = labels + 14, right = width - 20.0;
  double head = title.empty() ? 16 : 48;
  double top =
      head + (legendLines(left, right, entries) - 1) * kLegendStep + 36;
  double each = laneHeight(lanes.size()), step = each + (each > 12 ? 4 : 2);
  double bottom = top + step * double(lanes.size());
  TimeAxis time(last, cut, left, right);

  Canvas canvas(os, width, bottom + (axis.empty() ? 24 : 44), title,
                background);
  canvas.legend(left, head, right, entries);
  auto textOf = [&](double v) { return format ? format(v) : tickText(v); };
  // Ticks as far apart as what is shown needs.
  double spacing = time.shown() / 8;
  double taken = -1e9;
  for (double v :
       linearTicks(0, last, unit, spacing > 0 ? int(last / spacing) + 1 : 8)) {
    if (time.hidden(v))
      continue;
    double x = time.pixel(v), w = textWidth(textOf(v), 11);
    if (x - w / 2 < taken + 8)
      continue;
    taken = x + w / 2;
    canvas.line(x, top - 3, x, bottom + 3, .13);
    canvas.text(x, bottom + 18, textOf(v), {"middle", 11, false, true});
  }
  if (!axis.empty())
    canvas.text((left + right) / 2, bottom + 38, axis, {"middle"});

  for (size_t i = 0; i < lanes.size(); ++i) {
    double y = top + step * double(i);
    if (each >= 12 || i % 8 == 0)
      canvas.text(left - 8, y + each / 2 + 4, lanes[i], {"end"});
    for (auto [from, to] : {time.clip(0, cut ? cut->from : last),
                            time.clip(cut ? cut->to : last, last)})
      if (to > from)
        canvas.tint(time.pixel(from), y, time.pixel(to) - time.pixel(from),
                    each, .07);
  }
  std::vector<std::string> paths(kinds.size());
  struct Text {
    double x, y;
    const Box *box;
  };
  std::vector<Text> texts;
  for (const Box &b : boxes) {
    auto [from, to] = time.clip(b.start, b.end);
    if (!(to > from))
      continue;
    double x = time.pixel(from), w = time.pixel(to) - x;
    double y = top + step * b.lane;
    // A hair of background between neighbours; never nothing at all.
    double drawn = w > 4 ? w - 0.6 : std::max(w, 0.4);
    paths[b.kind] +=
        "M" + number(x) + " " + number(y + each / 2) + "h" + number(drawn);
    if (each >= 12 && !b.label.empty() && textWidth(b.label, 9) + 2 < w)
      texts.push_back({x + w / 2, y + each / 2 + 3.2, &b});
  }
  for (auto [kind, commands] : zip(kinds, paths))
    if (!commands.empty())
      canvas.strokes(commands, each, kind.colour, kind.name);
  for (const Text &t : texts)
    canvas.text(t.x, t.y, t.box->label,
                {"middle", 9, false, false, inkOn(kinds[t.box->kind].colour)});
  if (cut)
    drawCut(canvas, *cut, time, top, bottom);
  if (mark) {
    double x = time.pixel(mark->time);
    canvas.line(x, top - 6, x, bottom + 4, .9, /*dashed=*/true);
    double w = textWidth(mark->label, 11);
    bool beyond = x + w / 2 > width - 6;
    canvas.text(beyond ? width - 6.0 : x, top - 10, mark->label,
                {beyond ? "end" : "middle", 11, true});
  }
}
