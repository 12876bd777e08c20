//===- Phase.h - the way through the compiler -------------------*- C++ -*-===//
//
// The one enumeration of phases. It drives --compile-to, --compile-from, the
// numbered dumps, progress, `tessera phases` (which the docs and the Python
// package read) and the pipelines; nothing else lists the phases.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PIPELINES_PHASE_H
#define TESSERA_PIPELINES_PHASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tessera {

enum class Phase : unsigned {
  Import,
  Plan,
  Partition,
  Fuse,
  Tile,
  Kernels,
  Schedule,
  Binary,
};

struct PhaseInfo {
  Phase phase;
  llvm::StringRef name;
  /// What has happened when the phase ends.
  llvm::StringRef description;
};

/// All phases, in order.
llvm::ArrayRef<PhaseInfo> allPhases();
const PhaseInfo &infoOf(Phase phase);
/// The phase of that name; otherwise nothing, and `why` with the nearest name.
std::optional<Phase> parsePhase(llvm::StringRef name, std::string &why);

} // namespace tessera

#endif // TESSERA_PIPELINES_PHASE_H
