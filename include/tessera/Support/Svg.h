//===- Svg.h - charts as self-contained SVG -------------------------------===//
//
// The one place where Tessera draws: plots over two axes, stacked bars, and
// lanes over time. A chart is a value that writes one `<svg>` element, without
// an XML declaration, fit for a file as well as for HTML. Lines and text take
// `currentColor`, so a chart follows the page around it, light or dark; the
// colours of data are told apart on both and by colour-blind readers.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_SVG_H
#define TESSERA_SUPPORT_SVG_H

#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Text with the characters that XML reserves escaped, and those that it
/// forbids (control characters, broken UTF-8) replaced by U+FFFD.
std::string escapeXml(llvm::StringRef text);

/// Okabe and Ito's palette (https://jfly.uni-koeln.de/color/).
namespace colour {
constexpr llvm::StringLiteral kBlue = "#0072b2", kVermillion = "#d55e00",
                              kGreen = "#009e73", kPurple = "#cc79a7",
                              kOrange = "#e69f00", kSky = "#56b4e9",
                              kYellow = "#f0e442", kGrey = "#8b8f96";
/// What is not there: idle time, free memory. Drawn as an outline.
constexpr llvm::StringLiteral kNone = "none";
} // namespace colour

/// A kind of thing that a legend explains.
struct SvgKind {
  std::string name;
  std::string colour;
};

/// A plot of a few series over two axes, each linear or logarithmic. Points
/// that are not finite (or not positive on a logarithmic axis) are left out.
struct SvgPlot {
  struct Axis {
    std::string label;
    bool log = false;
    /// Text of a tick; a default where empty.
    std::function<std::string(double)> format = {};
  };
  struct Point {
    double x, y;
    std::string label = {};   ///< written beside the marker where there is room
    double radius = 4;        ///< of the marker
    std::string tooltip = {}; ///< shown when the marker is pointed at
  };
  enum class Shape : uint8_t { Circle, Square, Diamond, Triangle };
  struct Series {
    std::string name; ///< "": not in the legend
    std::vector<Point> points;
    bool markers = false; ///< points instead of a line
    Shape shape = Shape::Circle;
    std::string colour; ///< "": the next of the palette
    bool dashed = false;
    /// Written along the line, above its last point.
    std::string note;
  };

  std::string title; ///< "": none
  Axis x, y;
  std::vector<Series> series;
  int width = 720, height = 440;
  /// White behind the plot, for a file of its own.
  bool background = true;

  void write(llvm::raw_ostream &os) const;
};

/// Horizontal stacked bars, one below the other, with a common axis.
struct SvgBars {
  struct Bar {
    std::string label;
    /// Lengths in the order of `kinds`; missing ones are 0.
    std::vector<double> parts;
    std::string total; ///< written behind the bar
  };
  struct Limit {
    double value;
    std::string label;
  };

  std::string title; ///< "": none
  std::vector<SvgKind> kinds;
  std::vector<Bar> bars;
  /// A line across all bars.
  std::optional<Limit> limit;
  std::string axis;
  /// Text of a quantity, for ticks and tooltips.
  std::function<std::string(double)> format;
  /// What one unit of a tick is: ticks are at round multiples of it.
  double unit = 1;
  int width = 960;
  bool background = false;

  void write(llvm::raw_ostream &os) const;
};

/// Boxes on lanes over time, as in a pipeline diagram.
struct SvgLanes {
  struct Box {
    int lane, kind;
    double start, end;
    std::string label; ///< written inside where it fits
  };
  /// A stretch of time that is not drawn.
  struct Cut {
    double from, to;
    std::string label;
  };
  struct Mark {
    double time;
    std::string label;
  };

  std::string title; ///< "": none
  std::vector<std::string> lanes;
  std::vector<SvgKind> kinds;
  std::vector<Box> boxes;
  std::optional<Cut> cut;
  /// A line across the lanes, the end of the step.
  std::optional<Mark> mark;
  /// Name of what is between the boxes of a lane, for the legend.
  std::string idle;
  std::string axis;
  std::function<std::string(double)> format;
  double unit = 1;
  int width = 960;
  bool background = false;

  void write(llvm::raw_ostream &os) const;
};

} // namespace tessera

#endif // TESSERA_SUPPORT_SVG_H
