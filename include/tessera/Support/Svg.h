//===- Svg.h - line plots as self-contained SVG ---------------------------===//
#ifndef TESSERA_SUPPORT_SVG_H
#define TESSERA_SUPPORT_SVG_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tessera {

/// Text with the characters that XML reserves escaped.
std::string escapeXml(llvm::StringRef text);

/// A plot of a few series over two axes, each linear or logarithmic. Points
/// that are not finite (or not positive on a logarithmic axis) are left out.
struct SvgPlot {
  struct Axis {
    std::string label;
    bool log = false;
  };
  struct Point {
    double x, y;
    std::string label; ///< written beside the marker
  };
  struct Series {
    std::string name;
    std::vector<Point> points;
    bool markers = false; ///< points instead of a line
  };

  std::string title;
  Axis x, y;
  std::vector<Series> series;
  int width = 720, height = 440;

  /// One `<svg>` element, without an XML declaration, fit for HTML as well.
  void write(llvm::raw_ostream &os) const;
};

} // namespace tessera

#endif // TESSERA_SUPPORT_SVG_H
