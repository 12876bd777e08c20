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
  auto expected = [&, what, example](const Twine &got) {
    return makeError("expected " + what + " like " + example + ", got " + got);
  };
  double number = 0.0;
  if (end == 0 || s.take_front(end).getAsDouble(number) ||
      !std::isfinite(number))
    return expected("'" + text + "'");
  if (number < 0)
    return expected("'" + text + "', which is negative");
  StringRef unit = s.drop_front(end).trim();
  for (const Unit &u : units) {
    if (!unit.equals_insensitive(u.name))
      continue;
    double value = number * u.factor;
    if (value != 0 && (value < kLeastQuantity || value > kMostQuantity))
      return expected("'" + text + "', which is out of range");
    return value;
  }
  std::string names;
  for (const Unit &u : units)
    if (!u.name.empty())
      names += (names.empty() ? "" : ", ") + u.name.str();
  return expected("'" + text + "'; the units are " + names);
}

Expected<double> tessera::parseBytes(StringRef text) {
  static const Unit units[] = {{"", 1},       {"B", 1},
                               {"KB", 1e3},   {"MB", 1e6},
                               {"GB", 1e9},   {"TB", 1e12},
                               {"KiB", kKiB}, {"MiB", kMiB},
                               {"GiB", kGiB}, {"TiB", 1024 * kGiB}};
  return parseQuantity(text, units, "a size", "80GB or 80GiB");
}

Expected<double> tessera::parseMemory(StringRef text) {
  Expected<double> bytes = parseBytes(text);
  // No GPU has so little; whoever writes a bare number means another unit.
  if (!bytes || *bytes >= 1e6)
    return bytes;
  StringRef number = text.trim().rtrim("Bb ");
  std::string hint;
  if (double value = 0; !number.getAsDouble(value) && value >= 1)
    hint = ("; did you mean " + number + "GB?").str();
  return makeError("expected at least 1MB, got " + formatBytes(*bytes) + hint);
}

Expected<double> tessera::parseCount(StringRef text) {
  static const Unit units[] = {{"", 1},      {"K", 1e3},         {"M", 1e6},
                               {"B", 1e9},   {"G", 1e9},         {"T", 1e12},
                               {"Ki", 1024}, {"Mi", 1024 * 1024}};
  return parseQuantity(text, units, "a count", "6.7B or 1.4T");
}

Expected<int64_t> tessera::parseWholeCount(StringRef text) {
  int64_t value = 0;
  if (!text.trim().getAsInteger(10, value))
    return value;
  // What has a unit; a double holds whole numbers up to here.
  constexpr double kMostWhole = 9007199254740992.0;
  StringRef digits = text.trim();
  Expected<double> count = parseCount(digits);
  if (!count) {
    consumeError(count.takeError());
  } else if (*count <= kMostWhole && *count == std::floor(*count) &&
             isalpha(static_cast<unsigned char>(digits.back()))) {
    return int64_t(*count);
  }
  return makeError("expected a whole number like 4096 or 1K, got '" + text +
                   "'");
}

Expected<double> tessera::parseDuration(StringRef text) {
  static const Unit units[] = {
      {"", 1},         {"s", 1},       {"ms", 1e-3},     {"us", 1e-6},
      {"min", 60},     {"h", 3600},    {"hours", 3600},  {"d", 86400},
      {"days", 86400}, {"day", 86400}, {"weeks", 604800}};
  return parseQuantity(text, units, "a duration", "1.5h or 20ms");
}

Expected<Price> tessera::parsePrice(StringRef text) {
  StringRef s = text.trim();
  size_t begin = s.find_first_of("+-.0123456789");
  auto wrong = [&](StringRef hint = "") {
    return makeError("expected a price like 2.5, '$2.5' or '2.5 EUR', got '" +
                     text + "'" + hint);
  };
  if (begin == StringRef::npos)
    return wrong();
  // Without quotes a shell leaves ".5" of "$2.5".
  if (s[begin] == '.')
    return wrong("; write '$2.5' in single quotes, and 0.5 for a half");
  size_t end = s.find_first_not_of("+-.0123456789", begin);
  Price price;
  price.before = s.take_front(begin).trim().str();
  price.behind = end == StringRef::npos ? "" : s.drop_front(end).trim().str();
  auto isCurrency = [](StringRef name) {
    return name.size() <= 4 &&
           name.find_first_of("+-.,/0123456789 \t\"'<>&") == StringRef::npos;
  };
  if (s.slice(begin, end).getAsDouble(price.amount) ||
      !std::isfinite(price.amount) || !isCurrency(price.before) ||
      !isCurrency(price.behind) ||
      (!price.before.empty() && !price.behind.empty()))
    return wrong();
  if (!(price.amount > 0))
    return wrong(", which is not above 0");
  return price;
}

std::string tessera::withCurrency(StringRef amount, const Price &price) {
  // A sign stands at its number, letters apart.
  bool letters = !price.before.empty() &&
                 isalpha(static_cast<unsigned char>(price.before.back()));
  return price.before + (letters ? " " : "") + amount.str() +
         (price.behind.empty() ? "" : " " + price.behind);
}

std::string tessera::formatNumber(double value, int digits) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  std::string out;
  raw_string_ostream os(out);
  // Beyond 10^15 nobody counts digits, and a double has no more of them.
  if (std::fabs(value) >= 1e15)
    os << format("%.*e", std::max(digits, 2), value);
  else
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

namespace {
/// A unit of time for the values from `least` on.
struct TimeUnit {
  double least, size;
  StringLiteral name;
};
} // namespace

static constexpr TimeUnit kTimeUnits[] = {
    {2 * 86400, 86400, " days"}, {2 * 3600, 3600, " h"},
    {120, 60, " min"},           {1, 1, " s"},
    {1e-3, 1e-3, " ms"},         {0, 1e-6, " us"}};

static const TimeUnit &timeUnit(double seconds) {
  for (const TimeUnit &unit : kTimeUnits)
    if (std::fabs(seconds) >= unit.least)
      return unit;
  return std::end(kTimeUnits)[-1];
}

std::string tessera::formatDuration(double s) {
  const TimeUnit &unit = timeUnit(s);
  bool small =
      unit.size <= 1 && unit.least > 0 && std::fabs(s) < 10 * unit.least;
  return formatNumber(s / unit.size, small ? 2 : 1) + unit.name.str();
}

std::vector<std::string> tessera::formatDurations(ArrayRef<double> seconds) {
  double most = 0;
  for (double s : seconds)
    most = std::max(most, std::fabs(s));
  // Up to ten minutes seconds are easier to compare.
  const TimeUnit &unit =
      most >= 1 && most < 600 ? kTimeUnits[3] : timeUnit(most);
  int digits = most / unit.size < 100 ? 2 : 1;
  std::vector<std::string> out;
  for (double s : seconds)
    out.push_back(formatNumber(s / unit.size, digits) + unit.name.str());
  return out;
}

/// `units` from the largest; nobody compares the memory of GPUs in more than
/// 10^9 bytes.
static std::vector<std::string>
sizesIn(ArrayRef<double> bytes,
        ArrayRef<std::pair<double, StringLiteral>> units) {
  double most = 0;
  for (double b : bytes)
    most = std::max(most, std::fabs(b));
  double size = 1;
  StringRef name = " B";
  for (auto &[least, unit] : units)
    if (most >= least) {
      size = least;
      name = unit;
      break;
    }
  int digits = size == 1 ? 0 : most / size < 10 ? 2 : 1;
  std::vector<std::string> out;
  for (double b : bytes)
    out.push_back(formatNumber(b / size, digits) + name.str());
  return out;
}

std::vector<std::string> tessera::formatSizes(ArrayRef<double> bytes) {
  return sizesIn(bytes, {{kGiB, " GiB"}, {kMiB, " MiB"}, {kKiB, " KiB"}});
}

std::vector<std::string> tessera::formatDecimalSizes(ArrayRef<double> bytes) {
  return sizesIn(bytes, {{1e9, " GB"}, {1e6, " MB"}, {1e3, " KB"}});
}

std::string tessera::formatPercent(double fraction, int digits) {
  return formatNumber(fraction * 100, digits) + " %";
}
