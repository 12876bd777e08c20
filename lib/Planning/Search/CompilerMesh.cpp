//===- CompilerMesh.cpp - the part of a layout that is compiled -----------===//
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

Expected<CompilerMesh> tessera::compilerMesh(const Layout &l) {
  std::vector<std::string> missing;
  auto cannot = [&](bool used, StringRef name, int64_t value, StringRef what) {
    if (used)
      missing.push_back((name + "=" + Twine(value) + " (" + what + ")").str());
  };
  cannot(l.pp > 1, "pp", l.pp, "pipeline stages");
  cannot(l.cp > 1, "cp", l.cp, "sequences split over ranks");
  cannot(l.ep > 1, "ep", l.ep, "experts on different ranks");
  cannot(l.etp > 1, "etp", l.etp, "experts split over ranks");
  cannot(l.zeroStage >= 3, "zero", l.zeroStage, "sharded parameters");
  if (!missing.empty())
    return makeError("the compiler cannot build " + join(missing, ", ") +
                     " yet; it builds the forward pass under dp, tp and sp");
  CompilerMesh m;
  m.mesh = "dp=" + std::to_string(l.dp) + ",tp=" + std::to_string(l.tp);
  m.sequenceParallel = l.sequenceParallel && l.tp > 1;
  m.rows = int64_t(l.dp) * l.microBatch;
  if (l.zeroStage > 0)
    m.unused.push_back("zero=" + std::to_string(l.zeroStage));
  if (l.recompute != RecomputeKind::None)
    m.unused.push_back(("recompute=" + nameOf(l.recompute)).str());
  return m;
}
