//===- CompilerMesh.cpp - the part of a layout that is compiled -----------===//
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace tessera;

Expected<CompilerMesh> tessera::compilerMesh(const Layout &l) {
  static const StringMap<StringRef> kWhat = {
      {"pp", "pipeline stages"},
      {"cp", "sequences split over ranks"},
      {"ep", "experts on different ranks"},
      {"etp", "experts split over ranks"},
      {"zero", "sharded parameters"}};
  std::vector<std::string> missing;
  for (const Obstacle &o : obstaclesOf(tesseraFramework(), l, {}))
    missing.push_back(o.wanted + " (" + kWhat.lookup(o.field).str() + ")");
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
