//===- Choices.h - the decisions of a layout as a table -------------------===//
//
// Every field of a layout that a user may fix or a search may vary, with its
// name, its range of words and how it is read and written. Constraints, the
// text form of layouts ("dp=8,tp=8,pp=4,mb=1,sp"), JSON and the search for
// contradictions all go through this table.
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
  MicroBatch,
  Schedule,
  Dispatcher,
};
constexpr int kNumChoices = 15;

/// "dp", "tp", "sp", "cp", "cp-kind", "pp", "vpp", "ep", "etp", "zero",
/// "shard", "recompute", "mb", "schedule", "dispatcher"
llvm::StringRef nameOf(Choice choice);

/// The value in a layout; words are numbered as their enums are.
int64_t valueOf(const Layout &layout, Choice choice);
void setValue(Layout &layout, Choice choice, int64_t value);

/// "tp=8", "recompute=full"
std::string formatChoice(Choice choice, int64_t value);
/// The value alone: "8", "full", "on".
std::string formatValue(Choice choice, int64_t value);

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

/// Reads "dp=8,tp=8,sp,recompute=full" (commas or blanks; a word alone is
/// switched on). `where` starts the message. Fails on unknown names (with the
/// nearest), on values out of range and on a name given twice with two values.
llvm::Expected<FixedChoices> parseChoices(llvm::StringRef text,
                                          llvm::StringRef where);

/// Layout with all that is fixed set; `gpus` supplies dp where it is not fixed.
/// Fails where the axes do not divide the GPUs.
llvm::Expected<Layout> layoutFrom(const FixedChoices &fixed, int64_t gpus,
                                  llvm::StringRef where);

llvm::json::Object toJson(const Layout &layout);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_CHOICES_H
