//===- Canvas.cpp - what the charts are drawn with ------------------------===//
#include "Canvas.h"

#include "tessera/Support/Units.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;
using namespace tessera::svg;

static constexpr StringLiteral kReplacement = "\xEF\xBF\xBD"; // U+FFFD

/// Bytes of the UTF-8 sequence at the start of `text` that XML allows; 0 where
/// there is none.
static unsigned legalSequence(StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20)
    return first == '\t' || first == '\n' || first == '\r';
  const auto *begin = reinterpret_cast<const UTF8 *>(text.data());
  unsigned length = getNumBytesForUTF8(*begin);
  if (length > text.size() || !isLegalUTF8Sequence(begin, begin + length))
    return 0;
  // U+FFFE and U+FFFF are legal in UTF-8 and forbidden in XML.
  bool forbidden =
      text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return forbidden ? 0 : length;
}

std::string tessera::escapeXml(StringRef text) {
  std::string out;
  while (!text.empty()) {
    unsigned length = legalSequence(text);
    if (length == 0) {
      out += kReplacement;
      text = text.drop_front();
      continue;
    }
    StringRef piece = text.take_front(length);
    if (piece == "&")
      out += "&amp;";
    else if (piece == "<")
      out += "&lt;";
    else if (piece == ">")
      out += "&gt;";
    else if (piece == "\"")
      out += "&quot;";
    else if (piece == "'")
      out += "&#39;";
    else
      out += piece;
    text = text.drop_front(length);
  }
  return out;
}

std::string svg::number(double value) {
  if (!std::isfinite(value))
    return "0";
  std::string text = formatNumber(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.')
    text.pop_back();
  return text == "-0" || text.empty() ? "0" : text;
}

double svg::textWidth(StringRef text, double size) {
  double em = 0;
  for (char c : text) {
    if ((c & 0xC0) == 0x80)
      continue; // the rest of a character
    if (StringRef(" .,:;|!'()[]ijlIft").contains(c))
      em += 0.32;
    else if (StringRef("mwMW%@").contains(c))
      em += 0.86;
    else if (isUpper(c))
      em += 0.66;
    else
      em += 0.56;
  }
  return em * size;
}

StringRef svg::inkOn(StringRef fill) {
  unsigned rgb = 0;
  if (!fill.consume_front("#") || fill.getAsInteger(16, rgb))
    return "currentColor";
  // WCAG 2's relative luminance; black on what is lighter than 0.3 or so.
  auto linear = [](unsigned byte) {
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  double luminance = 0.2126 * linear(rgb >> 16 & 255) +
                     0.7152 * linear(rgb >> 8 & 255) +
                     0.0722 * linear(rgb & 255);
  return luminance > 0.25 ? "#111" : "#fff";
}

Canvas::Canvas(raw_ostream &os, double width, double height, StringRef title,
               bool background)
    : os(os) {
  os << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << number(width)
     << " " << number(height) << "' width='" << number(width) << "' height='"
     << number(height)
     << "' role='img' font-family='system-ui, \"Segoe UI\", Helvetica, Arial, "
        "sans-serif' font-size='12' fill='currentColor'"
     << (background ? " color='#222'" : "") << ">\n";
  if (background)
    os << "<rect width='" << number(width) << "' height='" << number(height)
       << "' fill='#fff'/>\n";
  if (!title.empty())
    text(width / 2, 22, title, {"middle", 15, /*bold=*/true});
}

Canvas::~Canvas() { os << "</svg>\n"; }

void Canvas::text(double x, double y, StringRef content, TextStyle style) {
  os << "<text ";
  if (style.rotate != 0)
    os << "transform='translate(" << number(x) << "," << number(y)
       << ") rotate(" << number(style.rotate) << ")'";
  else
    os << "x='" << number(x) << "' y='" << number(y) << "'";
  if (StringRef(style.anchor) != "start")
    os << " text-anchor='" << style.anchor << "'";
  if (style.size != 12)
    os << " font-size='" << number(style.size) << "'";
  if (style.bold)
    os << " font-weight='600'";
  if (style.faint)
    os << " opacity='.75'";
  if (!style.fill.empty())
    os << " fill='" << style.fill << "'";
  os << ">" << escapeXml(content) << "</text>\n";
}

void Canvas::line(double x1, double y1, double x2, double y2, double opacity,
                  bool dashed) {
  os << "<path d='M" << number(x1) << " " << number(y1) << "L" << number(x2)
     << " " << number(y2) << "' fill='none' stroke='currentColor' opacity='"
     << number(opacity) << "'" << (dashed ? " stroke-dasharray='5 4'" : "")
     << "/>\n";
}

/// "/>" or, with a tooltip, an element around it.
static void endShape(raw_ostream &os, StringRef name, StringRef tooltip) {
  if (tooltip.empty())
    os << "/>\n";
  else
    os << "><title>" << escapeXml(tooltip) << "</title></" << name << ">\n";
}

void Canvas::rect(double x, double y, double w, double h, StringRef fill,
                  StringRef tooltip) {
  os << "<rect x='" << number(x) << "' y='" << number(y) << "' width='"
     << number(std::max(w, 0.0)) << "' height='" << number(h) << "'";
  if (fill == colour::kNone)
    os << " fill='currentColor' fill-opacity='.06' stroke='currentColor' "
          "stroke-opacity='.45' stroke-dasharray='3 2'";
  else
    os << " fill='" << fill << "'";
  endShape(os, "rect", tooltip);
}

void Canvas::frame(double x, double y, double w, double h) {
  os << "<rect x='" << number(x) << "' y='" << number(y) << "' width='"
     << number(w) << "' height='" << number(h)
     << "' fill='none' stroke='currentColor' opacity='.5'/>\n";
}

void Canvas::tint(double x, double y, double w, double h, double opacity) {
  os << "<rect x='" << number(x) << "' y='" << number(y) << "' width='"
     << number(w) << "' height='" << number(h) << "' opacity='"
     << number(opacity) << "'/>\n";
}

void Canvas::polyline(StringRef points, StringRef stroke, bool dashed) {
  os << "<polyline fill='none' stroke='" << stroke << "' stroke-width='2'"
     << (dashed ? " stroke-dasharray='6 4'" : "") << " points='" << points
     << "'/>\n";
}

void Canvas::strokes(StringRef commands, double width, StringRef colour,
                     StringRef tooltip) {
  os << "<path fill='none' stroke='" << colour << "' stroke-width='"
     << number(width) << "' d='" << commands << "'";
  endShape(os, "path", tooltip);
}

void Canvas::marker(double x, double y, double r, SvgPlot::Shape shape,
                    StringRef fill, StringRef tooltip) {
  auto at = [&](double dx, double dy) {
    return number(x + dx * r) + " " + number(y + dy * r);
  };
  // Half transparent, so that markers on one spot are seen.
  constexpr StringLiteral look = " fill-opacity='.75' stroke='";
  switch (shape) {
  case SvgPlot::Shape::Circle:
    os << "<circle cx='" << number(x) << "' cy='" << number(y) << "' r='"
       << number(r) << "' fill='" << fill << "'" << look << fill << "'";
    endShape(os, "circle", tooltip);
    return;
  case SvgPlot::Shape::Square:
    os << "<path d='M" << at(-.9, -.9) << "L" << at(.9, -.9) << "L"
       << at(.9, .9) << "L" << at(-.9, .9) << "Z'";
    break;
  case SvgPlot::Shape::Diamond:
    os << "<path d='M" << at(0, -1.3) << "L" << at(1.3, 0) << "L" << at(0, 1.3)
       << "L" << at(-1.3, 0) << "Z'";
    break;
  case SvgPlot::Shape::Triangle:
    os << "<path d='M" << at(0, -1.3) << "L" << at(1.2, .9) << "L"
       << at(-1.2, .9) << "Z'";
    break;
  }
  os << " fill='" << fill << "'" << look << fill << "'";
  endShape(os, "path", tooltip);
}

/// Pixels of one entry, the gap behind it included.
static double entryWidth(const Canvas::Entry &e) {
  return 18 + textWidth(e.name, 12) + 18;
}

int svg::legendLines(double x, double right,
                     const std::vector<Canvas::Entry> &entries) {
  int lines = 1;
  double at = x;
  for (const Canvas::Entry &e : entries) {
    double w = entryWidth(e);
    if (at > x && at + w - 18 > right) {
      at = x;
      ++lines;
    }
    at += w;
  }
  return lines;
}

double Canvas::legend(double x, double y, double right,
                      const std::vector<Entry> &entries) {
  double at = x;
  for (const Entry &e : entries) {
    double w = entryWidth(e);
    if (at > x && at + w - 18 > right) {
      at = x;
      y += kLegendStep;
    }
    switch (e.look) {
    case Entry::Box:
      rect(at, y - 9.5, 11, 11, e.colour);
      break;
    case Entry::Line:
    case Entry::Dashed: {
      std::string points = number(at) + "," + number(y - 4) + " " +
                           number(at + 13) + "," + number(y - 4);
      polyline(points, e.colour, e.look == Entry::Dashed);
      break;
    }
    case Entry::Mark:
      marker(at + 6, y - 4, 4.5, e.shape, e.colour, "");
      break;
    }
    text(at + 17, y, e.name);
    at += w;
  }
  return y;
}

bool Scale::usable(double v) const {
  return std::isfinite(v) && (!log || v > 0);
}

void Scale::cover(double v) {
  low = std::min(low, v);
  high = std::max(high, v);
}

void Scale::finish() {
  if (!(low <= high))
    low = log ? 1 : 0, high = log ? 10 : 1;
  if (log) {
    if (low == high)
      low /= 2, high *= 2;
    // As much room as a marker takes.
    double pad = std::pow(high / low, 0.02);
    low /= pad, high *= pad;
    return;
  }
  double pad = (high - low) * 0.05;
  if (pad == 0)
    pad = std::max(std::abs(high) * 0.05, 0.5);
  low -= pad, high += pad;
}

void Scale::finishFromZero(double pixels) {
  low = 0;
  if (!(high > 0))
    high = 1;
  double span = std::abs(pixelTo - pixelFrom);
  high *= span / std::max(span - pixels, 1.0);
}

double Scale::pixel(double v) const {
  double t =
      log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return pixelFrom + t * (pixelTo - pixelFrom);
}

std::vector<double> svg::linearTicks(double low, double high, double unit,
                                     int count) {
  std::vector<double> result;
  double raw = (high - low) / unit / std::max(count, 1);
  if (!(raw > 0) || !std::isfinite(raw))
    return result;
  double power = std::pow(10.0, std::floor(std::log10(raw)));
  double factor = raw / power > 5   ? 10
                  : raw / power > 2 ? 5
                  : raw / power > 1 ? 2
                                    : 1;
  double step = power * factor * unit;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12);
       ++i)
    result.push_back(i == 0 ? 0.0 : i * step);
  return result;
}

std::vector<double> Scale::ticks(int count) const {
  if (!log)
    return linearTicks(low, high, unit, count);
  std::vector<double> result;
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

std::string svg::tickText(double v) {
  if (v != 0 && (std::abs(v) >= 1000 || std::abs(v) < 0.01))
    return std::abs(v) >= 1000 && std::abs(v) < 1e15
               ? formatCount(v)
               : formatv("{0:e0}", v).str();
  return number(v);
}
