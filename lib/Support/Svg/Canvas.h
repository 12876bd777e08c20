//===- Canvas.h - what the charts are drawn with ----------------*- C++ -*-===//
#ifndef TESSERA_LIB_SUPPORT_SVG_CANVAS_H
#define TESSERA_LIB_SUPPORT_SVG_CANVAS_H

#include "tessera/Support/Svg.h"

namespace tessera::svg {

/// At most two digits after the point, no trailing zeros: "12.5".
std::string number(double value);

/// Width of `text` in pixels at a font size; an estimate from the average
/// widths of sans-serif letters.
double textWidth(llvm::StringRef text, double size);

/// Black or white, whichever is read better on `fill` ("#rrggbb").
llvm::StringRef inkOn(llvm::StringRef fill);

struct TextStyle {
  const char *anchor = "start";
  double size = 12;
  bool bold = false;
  bool faint = false;
  /// "": that of the page.
  llvm::StringRef fill = "";
  /// Degrees about the text's own position.
  double rotate = 0;
};

/// Writes one `<svg>` element; the destructor ends it.
class Canvas {
public:
  Canvas(llvm::raw_ostream &os, double width, double height,
         llvm::StringRef title, bool background);
  ~Canvas();
  Canvas(const Canvas &) = delete;
  Canvas &operator=(const Canvas &) = delete;

  void text(double x, double y, llvm::StringRef content, TextStyle style = {});
  /// A thin line in the text's colour.
  void line(double x1, double y1, double x2, double y2, double opacity,
            bool dashed = false);
  void rect(double x, double y, double w, double h, llvm::StringRef fill,
            llvm::StringRef tooltip = "");
  /// An outline, or with `fill` a tint, in the text's colour.
  void frame(double x, double y, double w, double h);
  void tint(double x, double y, double w, double h, double opacity);
  void polyline(llvm::StringRef points, llvm::StringRef stroke, bool dashed);
  /// Level strokes of one width: "M10 5h20M..."; as short as boxes can be
  /// written.
  void strokes(llvm::StringRef commands, double width, llvm::StringRef colour,
               llvm::StringRef tooltip = "");
  void marker(double x, double y, double radius, SvgPlot::Shape shape,
              llvm::StringRef fill, llvm::StringRef tooltip);
  /// A row of names with their colours that starts at (x, y) and wraps before
  /// `right`; returns the baseline of its last line.
  struct Entry {
    std::string name, colour;
    enum { Box, Line, Dashed, Mark } look = Box;
    SvgPlot::Shape shape = SvgPlot::Shape::Circle;
  };
  double legend(double x, double y, double right,
                const std::vector<Entry> &entries);

private:
  llvm::raw_ostream &os;
};

/// Lines that a legend takes; what `Canvas::legend` will draw.
int legendLines(double x, double right,
                const std::vector<Canvas::Entry> &entries);

/// Pixels between two lines of a legend.
constexpr double kLegendStep = 20;

/// Maps values of one axis to pixels and places its ticks.
class Scale {
public:
  Scale(bool log, double pixelFrom, double pixelTo, double unit = 1)
      : log(log), pixelFrom(pixelFrom), pixelTo(pixelTo), unit(unit) {}

  bool usable(double v) const;
  void cover(double v);
  /// Leaves room around the data; makes an empty range a legal one.
  void finish();
  /// From 0 to the largest value, with room for `pixels` behind it.
  void finishFromZero(double pixels);
  double pixel(double v) const;
  /// At most about `count` of them.
  std::vector<double> ticks(int count = 6) const;
  double lowest() const { return low; }
  double highest() const { return high; }

private:
  bool log;
  double pixelFrom, pixelTo, unit;
  double low = __builtin_inf(), high = -__builtin_inf();
};

/// "0.25", "1.5M"
std::string tickText(double v);

/// Round multiples of `unit` in [low, high].
std::vector<double> linearTicks(double low, double high, double unit,
                                int count);

} // namespace tessera::svg

#endif // TESSERA_LIB_SUPPORT_SVG_CANVAS_H
