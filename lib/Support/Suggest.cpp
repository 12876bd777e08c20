//===- Suggest.cpp - "did you mean" for names -----------------------------===//
//
// Levenshtein distance on lower-case text. A name that begins with what was
// typed wins over an equally distant one.
//
//===----------------------------------------------------------------------===//
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

StringRef tessera::nearestName(StringRef name, ArrayRef<StringRef> candidates) {
  if (name.empty())
    return StringRef();
  std::string typed = name.lower();
  StringRef best;
  double bestScore = 0.0;
  for (StringRef candidate : candidates) {
    std::string lower = candidate.lower();
    double distance = StringRef(typed).edit_distance(lower);
    bool oneSlip = distance == 1;
    if (StringRef(lower).starts_with(typed) ||
        StringRef(typed).starts_with(lower))
      distance /= 2.0;
    double longest = std::max(typed.size(), lower.size());
    double score = longest > 0 ? 1.0 - distance / longest : 0.0;
    // Less alike is another name, not a mistyped one.
    if (score > bestScore && (score > 0.5 || oneSlip)) {
      bestScore = score;
      best = candidate;
    }
  }
  return best;
}

std::string tessera::didYouMean(StringRef name,
                                ArrayRef<StringRef> candidates) {
  StringRef best = nearestName(name, candidates);
  return best.empty() ? std::string() : "; did you mean '" + best.str() + "'?";
}

static std::string digitsOf(StringRef name) {
  std::string digits;
  for (char c : name)
    if (isDigit(c))
      digits += c;
  return digits;
}

std::string tessera::nearlyNamed(StringRef name,
                                 ArrayRef<StringRef> candidates) {
  constexpr unsigned kMostSlips = 2;
  StringRef best;
  unsigned least = kMostSlips + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = StringRef(name.lower())
                            .edit_distance(candidate.lower(),
                                           /*AllowReplacements=*/true, least);
    if (distance < least && 3 * distance < candidate.size() &&
        digitsOf(name) == digitsOf(candidate)) {
      best = candidate;
      least = distance;
    }
  }
  return best.empty() ? std::string() : "; did you mean '" + best.str() + "'?";
}
