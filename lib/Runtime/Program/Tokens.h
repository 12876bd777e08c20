//===- Tokens.h - token files -----------------------------------*- C++ -*-===//
//
// Private to Program. The formats are described in docs/running.md.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_TOKENS_H
#define TESSERA_LIB_RUNTIME_PROGRAM_TOKENS_H

#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::rt {

/// Label of a position that does not count.
inline constexpr int32_t noLabel = -100;

/// Both [batch, sequence], row-major.
struct TokenBatch {
  std::vector<int32_t> tokens, labels;
  /// Labels that count.
  int64_t counted = 0;
};

/// Reads `batch` rows of `sequence` tokens (and the label after the last, if
/// the file has it), checks every id against `vocab`, and shifts by one to get
/// the labels.
Expected<TokenBatch> readTokens(const std::string &path, int64_t batch,
                                int64_t sequence, int64_t vocab);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_TOKENS_H
