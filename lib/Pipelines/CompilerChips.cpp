//===- CompilerChips.cpp - chips that kernels are compiled for ------------===//
//
// Kernels need the limits of a chip (ChipLimits) and a version of PTX that
// knows it (Ptx); what both tables have is supported.
//
//===----------------------------------------------------------------------===//
#include "CompilerChips.h"

#include "tessera/Conversion/KernelToGPU/ChipLimits.h"
#include "tessera/Hardware/Chip.h"
#include "tessera/Support/Error.h"
#include "tessera/Target/Ptx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

/// What the suite compiles to cubins and checks for spilled registers
/// (test/Tools/cubin.test).
static constexpr StringLiteral kTested[] = {"sm_80", "sm_90"};

static const std::vector<std::string> &supportedChips() {
  static const std::vector<std::string> chips = [] {
    std::vector<std::string> list;
    for (int capability = 70; capability < 200; ++capability) {
      std::string name = "sm_" + std::to_string(capability);
      if (kernels::chipLimits(capability) && !ptxFeaturesForChip(name).empty())
        list.push_back(name);
    }
    return list;
  }();
  return chips;
}

/// "sm_90" from "sm_90" or "h100-sxm".
static Expected<std::string> capabilityOf(StringRef name) {
  std::vector<StringRef> known(supportedChips().begin(),
                               supportedChips().end());
  std::string all = join(supportedChips(), ", ");
  if (name.starts_with("sm_")) {
    if (is_contained(known, name))
      return name.str();
    return makeError("expected one of " + all + ", got '" + name + "'");
  }
  Expected<Chip> chip = findChip(name);
  if (!chip)
    return makeError(toString(chip.takeError()) +
                     ", nor a compute capability (" + all + ")");
  std::string capability = "sm_" + std::to_string(chip->computeCapability);
  if (is_contained(known, capability))
    return capability;
  return makeError("no kernels for " + chip->name + ", which is " + capability +
                   "; there are kernels for " + all);
}

Expected<std::vector<std::string>>
tessera::compilerChips(ArrayRef<std::string> given,
                       std::vector<std::string> &notes) {
  std::vector<std::string> chips;
  for (const std::string &name : given) {
    Expected<std::string> chip = capabilityOf(name);
    if (!chip)
      return chip.takeError();
    if (is_contained(chips, *chip))
      continue;
    chips.push_back(*chip);
    if (!is_contained(kTested, *chip))
      notes.push_back(*chip + ": the kernels are tested for " +
                      join(ArrayRef<StringLiteral>(kTested), " and ") +
                      " alone");
  }
  return chips;
}
