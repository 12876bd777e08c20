//===- Units.h - reading and printing quantities --------------------------===//
//
// Bytes are binary (KiB, MiB, GiB) when printed; "80GB" is read as 80 * 10^9
// and "80GiB" as 80 * 2^30. Times are seconds. Counts use K, M, B, T.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_UNITS_H
#define TESSERA_SUPPORT_UNITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace tessera {

constexpr double kKiB = 1024.0;
constexpr double kMiB = 1024.0 * kKiB;
constexpr double kGiB = 1024.0 * kMiB;

/// "512", "80GB", "1.5 TiB" -> bytes. Fails on anything else.
llvm::Expected<double> parseBytes(llvm::StringRef text);
/// "7", "6.7B", "1.4T", "300e9" -> a count (K, M, B or G, T are 10^3 ...
/// 10^12).
llvm::Expected<double> parseCount(llvm::StringRef text);
/// "90", "90s", "1.5h", "3 days", "20ms", "5us" -> seconds.
llvm::Expected<double> parseDuration(llvm::StringRef text);

/// "71.3 GiB"
std::string formatBytes(double bytes);
/// "46.7B"
std::string formatCount(double count);
/// "1.28 s", "3.4 ms", "2.1 days"
std::string formatDuration(double seconds);
/// `digits` digits after the point; no exponent.
std::string formatNumber(double value, int digits);
/// 0.434 -> "43.4 %"
std::string formatPercent(double fraction, int digits = 1);

} // namespace tessera

#endif // TESSERA_SUPPORT_UNITS_H
