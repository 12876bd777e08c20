//===- Units.h - reading and printing quantities --------------------------===//
//
// Bytes are binary (KiB, MiB, GiB) when printed, which is what drivers and
// frameworks show of a GPU; where papers count in 10^9 bytes the decimal form
// stands beside. "80GB" is read as 80 * 10^9 and "80GiB" as 80 * 2^30. Times
// are seconds. Counts use K, M, B, T.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_UNITS_H
#define TESSERA_SUPPORT_UNITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

constexpr double kKiB = 1024.0;
constexpr double kMiB = 1024.0 * kKiB;
constexpr double kGiB = 1024.0 * kMiB;

/// "512", "80GB", "1.5 TiB" -> bytes. Fails on anything else.
llvm::Expected<double> parseBytes(llvm::StringRef text);
/// The same for the memory of a GPU: at least 1 MB, so that a number without
/// its unit is found.
llvm::Expected<double> parseMemory(llvm::StringRef text);
/// "7", "6.7B", "1.4T", "300e9" -> a count (K, M, B or G, T are 10^3 ...
/// 10^12).
llvm::Expected<double> parseCount(llvm::StringRef text);
/// "4096", "1K", "128Ki" (of 1,024 each): a whole number, with the units of
/// parseCount.
llvm::Expected<int64_t> parseWholeCount(llvm::StringRef text);
/// "90", "90s", "1.5h", "3 days", "20ms", "5us" -> seconds.
llvm::Expected<double> parseDuration(llvm::StringRef text);

/// An amount of money in the currency that its text had, if any.
struct Price {
  double amount = 0; ///< 0: none
  /// "$" before or "EUR" behind the number.
  std::string before, behind;
};

/// "2.5", "$2.5", "2.5 EUR"
llvm::Expected<Price> parsePrice(llvm::StringRef text);
/// `amount`, a text, in the currency of `price`: "$570.4K", "570.4K EUR".
std::string withCurrency(llvm::StringRef amount, const Price &price);

/// "71.3 GiB"
std::string formatBytes(double bytes);
/// "46.7B"
std::string formatCount(double count);
/// "1.28 s", "3.4 ms", "2.1 days"
std::string formatDuration(double seconds);
/// The values of one column: one unit for all, by the largest.
std::vector<std::string> formatDurations(llvm::ArrayRef<double> seconds);
std::vector<std::string> formatSizes(llvm::ArrayRef<double> bytes);
/// The same in units of 10^9 bytes, "107.2 GB".
std::vector<std::string> formatDecimalSizes(llvm::ArrayRef<double> bytes);
/// `digits` digits after the point; no exponent.
std::string formatNumber(double value, int digits);
/// 0.434 -> "43.4 %"
std::string formatPercent(double fraction, int digits = 1);

} // namespace tessera

#endif // TESSERA_SUPPORT_UNITS_H
