//===- Phase.cpp - the way through the compiler ---------------------------===//
#include "tessera/Pipelines/Phase.h"

#include "tessera/Support/Suggest.h"

#include "llvm/ADT/SmallVector.h"

using namespace tessera;

static const PhaseInfo kPhases[] = {
    {Phase::Import, "import",
     "a Hugging Face folder or .mlir file became a forward graph"},
    {Phase::Plan, "plan",
     "the layout is decided: attributes only, no op moved"},
    {Phase::Partition, "partition",
     "one rank's program: local shapes, explicit collectives"},
    {Phase::Fuse, "fuse", "groups of ops that become one kernel each"},
    {Phase::Tile, "tile",
     "every kernel has its configuration: attributes only"},
    {Phase::Kernels, "kernels", "device code"},
    {Phase::Schedule, "schedule",
     "host code: arena offsets, launches, collectives"},
    {Phase::Binary, "binary",
     "cubins, virtual-GPU objects and host object in one executable"},
};

llvm::ArrayRef<PhaseInfo> tessera::allPhases() { return kPhases; }

const PhaseInfo &tessera::infoOf(Phase phase) {
  return kPhases[static_cast<unsigned>(phase)];
}

std::optional<Phase> tessera::parsePhase(llvm::StringRef name,
                                         std::string &why) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const PhaseInfo &info : kPhases) {
    if (info.name == name)
      return info.phase;
    names.push_back(info.name);
  }
  why = ("unknown phase '" + name + "'" + didYouMean(name, names)).str();
  return std::nullopt;
}
