//===- Units.cpp - reading and printing quantities ------------------------===//
#include "tessera/Support/Units.h"
#include "tessera/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace tessera;

namespace {
struct Unit {
  StringRef name;
  double factor;
};
} // namespace

/// Nothing that is asked for lies beyond, and products of a few do not
/// overflow.
static constexpr double kLeastQuantity = 1e-12, kMostQuantity = 1e36;

/// Splits "1.5 TiB" into a number and one of `units` (compared without case).
static Expected<double> parseQuantity(StringRef text, ArrayRef<Unit> units,
                                      StringRef what, StringRef example) {
  StringRef s = text.trim();
  size_t end = 0;
  while (end < s.size()) {
    char c = s[end];
    bool exponent =
        (c == 'e' || c == 'E') && end + 1 < s.size() &&
        (isdigit(static_cast<unsigned char>(s[end + 1])) ||
         ((s[end + 1] == '+' || s[end + 1] == '-') && end + 2 < s.size() &&
          isdigit(static_cast<unsigned char>(s[end + 2]))));
    bool sign = (c == '+' || c == '-') &&
                (end == 0 || s[end - 1] == 'e' || s[end - 1] == 'E');
    if (!isdigit(static_cast<unsigned char>(c)) && c != '.' && !exponent &&
        !sign)
      break;
    ++end;
  }
  double number = 0.0;
  if (end == 0 || s.take_front(end).getAsDouble(number) ||
      !std::isfinite(number))
    return makeError("'" + text + "' is not " + what + " (write it like " +
                     example + ")");
  if (number < 0)
    return makeError("'" + text + "' is negative; expected " + what + " like " +
                     example);
  StringRef unit = s.drop_front(end).trim();
  for (const Unit &u : units) {
    if (!unit.equals_insensitive(u.name))
      continue;
    double value = number * u.factor;
    if (value != 0 && (value < kLeastQuantity || value > kMostQuantity))
      return makeError("'" + text + "' is out of range; expected " + what +
                       " like " + example);
    return value;
  }
  std::string names;
  for (const Unit &u : units)
    if (!u.name.empty())
      names += (names.empty() ? "" : ", ") + u.name.str();
  return makeError("unknown unit '" + unit + "' in '" + text +
                   "'; expected one of " + names);
}

Expected<double> tessera::parseBytes(StringRef text) {
  static const Unit units[] = {{"", 1},       {"B", 1},
                               {"KB", 1e3},   {"MB", 1e6},
                               {"GB", 1e9},   {"TB", 1e12},
                               {"KiB", kKiB}, {"MiB", kMiB},
                               {"GiB", kGiB}, {"TiB", 1024 * kGiB}};
  return parseQuantity(text, units, "a size", "80GB or 80GiB");
}

Expected<double> tessera::parseCount(StringRef text) {
  static const Unit units[] = {{"", 1},    {"K", 1e3}, {"M", 1e6},
                               {"B", 1e9}, {"G", 1e9}, {"T", 1e12}};
  return parseQuantity(text, units, "a count", "6.7B or 1.4T");
}

Expected<double> tessera::parseDuration(StringRef text) {
  static const Unit units[] = {
      {"", 1},         {"s", 1},       {"ms", 1e-3},     {"us", 1e-6},
      {"min", 60},     {"h", 3600},    {"hours", 3600},  {"d", 86400},
      {"days", 86400}, {"day", 86400}, {"weeks", 604800}};
  return parseQuantity(text, units, "a duration", "1.5h or 20ms");
}

std::string tessera::formatNumber(double value, int digits) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  std::string out;
  raw_string_ostream os(out);
  os << format("%.*f", digits, value);
  return os.str();
}

/// Three significant digits with the largest unit that leaves at least 1.
static std::string scaled(double value, double base,
                          ArrayRef<StringRef> suffixes) {
  size_t i = 0;
  double v = std::fabs(value);
  while (v >= base * 0.99995 && i + 1 < suffixes.size()) {
    v /= base;
    ++i;
  }
  int digits = i == 0 && v == std::floor(v) ? 0 : v < 10 ? 2 : v < 1000 ? 1 : 0;
  return (value < 0 ? "-" : "") + formatNumber(v, digits) + suffixes[i].str();
}

std::string tessera::formatBytes(double bytes) {
  return scaled(bytes, 1024.0, {" B", " KiB", " MiB", " GiB", " TiB", " PiB"});
}

std::string tessera::formatCount(double count) {
  return scaled(count, 1000.0, {"", "K", "M", "B", "T"});
}

std::string tessera::formatDuration(double s) {
  double a = std::fabs(s);
  if (a >= 2 * 86400)
    return formatNumber(s / 86400, 1) + " days";
  if (a >= 2 * 3600)
    return formatNumber(s / 3600, 1) + " h";
  if (a >= 120)
    return formatNumber(s / 60, 1) + " min";
  if (a >= 1)
    return formatNumber(s, a < 10 ? 2 : 1) + " s";
  if (a >= 1e-3)
    return formatNumber(s * 1e3, a < 1e-2 ? 2 : 1) + " ms";
  return formatNumber(s * 1e6, 1) + " us";
}

std::string tessera::formatPercent(double fraction, int digits) {
  return formatNumber(fraction * 100, digits) + " %";
}
