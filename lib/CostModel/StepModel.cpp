//===- StepModel.cpp - chip, framework and cluster looked up --------------===//
//
// What the user measured on a cluster replaces the fitted efficiencies of its
// chip, one by one.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Step.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

/// The fitted constants of the cluster's chip with what its user measured.
static Expected<ChipConstants> chipConstants(const Cluster &cluster,
                                             const CostConstants &constants) {
  ChipConstants chip = constants.chip(cluster.chip);
  auto fields = chipFields();
  for (const auto &[name, value] : cluster.efficiencies) {
    StringRef wanted = name;
    auto field =
        find_if(fields, [&](const auto &f) { return f.first == wanted; });
    if (field == fields.end()) {
      std::vector<StringRef> names;
      for (const auto &[known, member] : fields)
        names.push_back(known);
      return makeError("cluster: unknown efficiency '" + wanted + "'" +
                       didYouMean(wanted, names) +
                       " (known: " + join(names, ", ") + ")");
    }
    // A gap is in seconds, contention may be none; the rest are shares.
    bool isGap = wanted == "kernel_gap";
    bool mayBeZero = isGap || wanted == "contention";
    if (!(value >= 0) || (value == 0 && !mayBeZero) ||
        value > (isGap ? 1e-3 : 1.0)) {
      StringRef range = isGap       ? "seconds from 0 to 0.001"
                        : mayBeZero ? "from 0 to 1"
                                    : "above 0 and at most 1";
      return makeError("cluster: efficiency '" + wanted + "' should be " +
                       range + ", got " + formatNumber(value, 6));
    }
    chip.*field->second = value;
  }
  return chip;
}

DeviceModel StepModel::device() const {
  return {&cluster.chip,    &chip,   stack.vectorTraffic,
          traits.attention, matmuls, traits.fusedExperts};
}

Expected<StepModel> tessera::makeStepModel(const Cluster &cluster,
                                           StringRef stack,
                                           const CostConstants &constants) {
  Expected<StackTraits> traits = stackTraits(stack);
  if (!traits)
    return traits.takeError();
  Expected<ChipConstants> chip = chipConstants(cluster, constants);
  if (!chip)
    return chip.takeError();
  return StepModel{cluster, *chip, constants.stack(stack), *traits};
}
