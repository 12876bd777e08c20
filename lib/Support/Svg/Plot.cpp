//===- Svg.cpp - line plots as self-contained SVG -------------------------===//
#include "tessera/Support/Svg.h"

#include "tessera/Support/Units.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

namespace tessera {

std::string escapeXml(llvm::StringRef text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

namespace {

// Okabe and Ito's palette, told apart by colour-blind readers.
const char *const kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                "#cc79a7", "#e69f00", "#56b4e9"};

/// Maps values of one axis to pixels and places its ticks.
class Scale {
public:
  Scale(bool log, double pixelFrom, double pixelTo)
      : log(log), pixelFrom(pixelFrom), pixelTo(pixelTo) {}

  bool usable(double v) const { return std::isfinite(v) && (!log || v > 0); }
  void cover(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  /// Leaves room around the data; makes an empty range a legal one.
  void finish() {
    if (!(low <= high))
      low = log ? 1 : 0, high = log ? 10 : 1;
    if (log) {
      if (low == high)
        low /= 2, high *= 2;
      return;
    }
    double pad = (high - low) * 0.05;
    if (pad == 0)
      pad = std::max(std::abs(high) * 0.05, 0.5);
    low -= pad, high += pad;
  }
  double pixel(double v) const {
    double t = log ? std::log(v / low) / std::log(high / low)
                   : (v - low) / (high - low);
    return pixelFrom + t * (pixelTo - pixelFrom);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (log) {
      bool fewDecades = std::log10(high / low) < 3;
      for (int e = static_cast<int>(std::floor(std::log10(low)));
           std::pow(10.0, e) <= high; ++e)
        for (double m : {1.0, 2.0, 5.0}) {
          double v = m * std::pow(10.0, e);
          if (v >= low && v <= high && (m == 1.0 || fewDecades))
            result.push_back(v);
        }
      return result;
    }
    double raw = (high - low) / 6;
    double unit = std::pow(10.0, std::floor(std::log10(raw)));
    double step = unit * (raw / unit > 5 ? 10 : raw / unit > 2 ? 5
                          : raw / unit > 1                     ? 2
                                                               : 1);
    for (double v = std::ceil(low / step) * step; v <= high; v += step)
      result.push_back(std::abs(v) < step * 1e-9 ? 0 : v);
    return result;
  }

private:
  bool log;
  double pixelFrom, pixelTo;
  double low = INFINITY, high = -INFINITY;
};

std::string tickText(double v) {
  if (v != 0 && (std::abs(v) >= 1000 || std::abs(v) < 0.01))
    return std::abs(v) >= 1000 && std::abs(v) < 1e15
               ? formatCount(v)
               : llvm::formatv("{0:e0}", v).str();
  std::string text = formatNumber(v, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.')
    text.pop_back();
  return text;
}

} // namespace

void SvgPlot::write(llvm::raw_ostream &os) const {
  const double left = 70, right = width - 20.0, top = 40, bottom = height - 55.0;
  Scale sx(x.log, left, right), sy(y.log, bottom, top);
  for (const Series &s : series)
    for (const Point &p : s.points)
      if (sx.usable(p.x) && sy.usable(p.y))
        sx.cover(p.x), sy.cover(p.y);
  sx.finish();
  sy.finish();

  auto text = [&](double px, double py, const char *anchor,
                  llvm::StringRef content, llvm::StringRef extra = "") {
    os << llvm::formatv("<text x='{0:f1}' y='{1:f1}' text-anchor='{2}' {3}>", px,
                        py, anchor, extra)
       << escapeXml(content) << "</text>\n";
  };
  os << llvm::formatv(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' "
      "width='{0}' height='{1}' font-family='sans-serif' font-size='12'>\n"
      "<rect width='{0}' height='{1}' fill='white'/>\n",
      width, height);
  text(width / 2.0, 22, "middle", title, "font-size='15'");
  for (double v : sx.ticks()) {
    double px = sx.pixel(v);
    os << llvm::formatv("<line x1='{0:f1}' y1='{1}' x2='{0:f1}' y2='{2}' "
                        "stroke='#ddd'/>\n",
                        px, top, bottom);
    text(px, bottom + 18, "middle", tickText(v));
  }
  for (double v : sy.ticks()) {
    double py = sy.pixel(v);
    os << llvm::formatv("<line x1='{0}' y1='{1:f1}' x2='{2}' y2='{1:f1}' "
                        "stroke='#ddd'/>\n",
                        left, py, right);
    text(left - 6, py + 4, "end", tickText(v));
  }
  os << llvm::formatv("<rect x='{0}' y='{1}' width='{2}' height='{3}' "
                      "fill='none' stroke='#444'/>\n",
                      left, top, right - left, bottom - top);
  text((left + right) / 2, height - 14.0, "middle", x.label);
  text(0, 0, "middle", y.label,
       llvm::formatv("transform='translate(16,{0:f1}) rotate(-90)'",
                     (top + bottom) / 2)
           .str());

  double legend = top + 16;
  size_t index = 0;
  for (const Series &s : series) {
    const char *colour = kColours[index++ % std::size(kColours)];
    std::string line;
    llvm::raw_string_ostream points(line);
    for (const Point &p : s.points) {
      if (!sx.usable(p.x) || !sy.usable(p.y))
        continue;
      double px = sx.pixel(p.x), py = sy.pixel(p.y);
      if (!s.markers) {
        points << llvm::formatv("{0:f1},{1:f1} ", px, py);
        continue;
      }
      os << llvm::formatv("<circle cx='{0:f1}' cy='{1:f1}' r='4' fill='{2}'/>\n",
                          px, py, colour);
      if (!p.label.empty())
        text(px + 6, py - 6, "start", p.label, "font-size='11'");
    }
    if (!s.markers)
      os << llvm::formatv("<polyline fill='none' stroke='{0}' "
                          "stroke-width='2' points='{1}'/>\n",
                          colour, points.str());
    os << llvm::formatv("<rect x='{0}' y='{1}' width='12' height='4' "
                        "fill='{2}'/>\n",
                        right - 170, legend - 5, colour);
    text(right - 152, legend, "start", s.name);
    legend += 16;
  }
  os << "</svg>\n";
}

} // namespace tessera
