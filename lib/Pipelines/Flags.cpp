//===- Flags.cpp - reading the values of flags ----------------------------===//
#include "Flags.h"
#include "CommandLine.h"

#include "tessera/Support/Units.h"

#include <cmath>

using namespace llvm;
using namespace tessera;

static std::string &firstMistake() {
  static std::string message;
  return message;
}

bool tessera::badValue(const cl::Option &option, const Twine &message) {
  if (firstMistake().empty())
    firstMistake() = flagText(option) + ": " + message.str();
  return true;
}

std::string tessera::takeFlagMistake() {
  return std::exchange(firstMistake(), {});
}

std::string tessera::flagText(const cl::Option &option) {
  return (option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr.str();
}

bool tessera::readWhole(const cl::Option &option, StringRef text, int64_t least,
                        int64_t most, long long &value) {
  Expected<int64_t> count = parseWholeCount(text);
  if (!count) {
    consumeError(count.takeError());
  } else if (*count >= least && *count <= most) {
    value = *count;
    return false;
  }
  bool open = most == std::numeric_limits<int64_t>::max();
  return badValue(option,
                  "expected a whole number " +
                      (open ? "of at least " + Twine(least)
                            : "from " + Twine(least) + " to " + Twine(most)) +
                      ", got '" + text + "'");
}

bool tessera::readNumber(const cl::Option &option, StringRef text,
                         NumberRange range, double &value) {
  bool ok = !text.getAsDouble(value) && std::isfinite(value);
  StringRef what;
  switch (range) {
  case NumberRange::Positive:
    what = "a number above 0";
    ok &= value > 0;
    break;
  case NumberRange::Share:
    what = "a number above 0 and at most 1";
    ok &= value > 0 && value <= 1;
    break;
  case NumberRange::AtLeastOne:
    what = "a number of at least 1";
    ok &= value >= 1;
    break;
  }
  if (ok)
    return false;
  std::string hint;
  StringRef number = text.trim();
  double percent = 0;
  if (range == NumberRange::Share && (number.consume_back("%"), true) &&
      !number.trim().getAsDouble(percent) && percent > 1 && percent <= 100)
    hint = ("; did you mean " +
            StringRef(formatNumber(percent / 100, 3)).rtrim('0') + "?")
               .str();
  return badValue(option, "expected " + what + ", got '" + text + "'" + hint);
}

bool tessera::readCount(const cl::Option &option, StringRef text, double least,
                        char unit, double &value) {
  Expected<double> count = parseCount(text);
  if (!count)
    return badValue(option, toString(count.takeError()));
  value = *count;
  if (value >= least && value > 0)
    return false;
  std::string hint;
  double number = 0;
  if (StringRef digits = text.trim();
      !digits.getAsDouble(number) && number >= 1)
    hint = ("; did you mean " + digits + Twine(unit) + "?").str();
  return badValue(option, "expected " +
                              (least > 0 ? "at least " + formatCount(least)
                                         : std::string("a count above 0")) +
                              ", got '" + text + "'" + hint);
}

bool tessera::readSeconds(const cl::Option &option, StringRef text,
                          double &value) {
  Expected<double> seconds = parseDuration(text);
  if (!seconds)
    return badValue(option, toString(seconds.takeError()));
  value = *seconds;
  return false;
}
