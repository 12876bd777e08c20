//===- Choices.h - the decisions of a layout as a table -------------------===//
//
// Every field of a layout that a user may fix and the search varies, under the
// name that its text form has (Layout::str). Constraints, JSON and the search
// for contradictions all go through this table.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_CHOICES_H
#define TESSERA_LIB_PLANNING_SEARCH_CHOICES_H

#include "tessera/CostModel/Layout.h"
#include "tessera/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>

namespace tessera {

enum class Choice : uint8_t {
  DP,
  TP,
  SequenceParallel,
  CP,
  ContextKind,
  PP,
  VPP,
  EP,
  ETP,
  Zero,
  ShardGroup,
  Recompute,
  RecomputeLayers,
  MicroBatch,
  Schedule,
  Dispatcher,
};
constexpr int kNumChoices = 16;

/// "dp", "tp", "sp", "cp", "cp-kind", "pp", "vpp", "ep", "etp", "zero",
/// "shard", "recompute", "recompute-layers", "mb", "schedule", "dispatcher"
llvm::StringRef nameOf(Choice choice);

/// The value in a layout; words are numbered as their enums are.
int64_t valueOf(const Layout &layout, Choice choice);
void setValue(Layout &layout, Choice choice, int64_t value);

/// "tp=8", "recompute=full"
std::string formatChoice(Choice choice, int64_t value);

/// Values that are fixed, by choice.
struct FixedChoices {
  std::array<std::optional<int64_t>, kNumChoices> values;

  std::optional<int64_t> get(Choice c) const {
    return values[static_cast<int>(c)];
  }
  void set(Choice c, int64_t value) { values[static_cast<int>(c)] = value; }
  bool allows(Choice c, int64_t value) const {
    return !get(c) || *get(c) == value;
  }
  bool allows(const Layout &layout) const;
};

/// Reads "dp=8,tp=8,sp,recompute=full" as parseLayoutEntries does. Fails on
/// entries that the search decides by itself (layers, overlap).
llvm::Expected<FixedChoices> parseChoices(llvm::StringRef text);

/// Layout with all that is fixed set; `gpus` supplies dp where it is not fixed.
/// Fails where the axes do not divide the GPUs.
llvm::Expected<Layout> layoutFrom(const FixedChoices &fixed, int64_t gpus);
/// The same from text, with everything that a layout's text can say.
llvm::Expected<Layout> layoutFrom(llvm::StringRef text, int64_t gpus);

llvm::json::Object toJson(const Layout &layout);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_CHOICES_H
