//===- Choices.cpp - reading and printing the decisions of a layout -------===//
#include "Choices.h"
#include "tessera/Support/Suggest.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ChoiceInfo {
  StringRef name;
  /// Words of an enumeration, else empty.
  ArrayRef<StringRef> words;
  int64_t least;
};
} // namespace

static const StringRef kOnOff[] = {"off", "on"};
static const StringRef kContext[] = {"ring", "all-gather", "ulysses"};
static const StringRef kRecompute[] = {"none", "selective", "full"};
static const StringRef kSchedule[] = {"gpipe", "1f1b", "interleaved",
                                      "zero-bubble"};
static const StringRef kDispatcher[] = {"all-gather", "all-to-all", "fused"};

static const ChoiceInfo &infoOf(Choice choice) {
  static const ChoiceInfo table[kNumChoices] = {
      {"dp", {}, 1},
      {"tp", {}, 1},
      {"sp", kOnOff, 0},
      {"cp", {}, 1},
      {"cp-kind", kContext, 0},
      {"pp", {}, 1},
      {"vpp", {}, 1},
      {"ep", {}, 1},
      {"etp", {}, 1},
      {"zero", {}, 0},
      {"shard", {}, 0},
      {"recompute", kRecompute, 0},
      {"mb", {}, 1},
      {"schedule", kSchedule, 0},
      {"dispatcher", kDispatcher, 0},
  };
  return table[static_cast<int>(choice)];
}

StringRef tessera::nameOf(Choice choice) { return infoOf(choice).name; }

int64_t tessera::valueOf(const Layout &l, Choice choice) {
  switch (choice) {
  case Choice::DP:
    return l.dp;
  case Choice::TP:
    return l.tp;
  case Choice::SequenceParallel:
    return l.sequenceParallel;
  case Choice::CP:
    return l.cp;
  case Choice::ContextKind:
    return static_cast<int64_t>(l.contextKind);
  case Choice::PP:
    return l.pp;
  case Choice::VPP:
    return l.vpp;
  case Choice::EP:
    return l.ep;
  case Choice::ETP:
    return l.etp;
  case Choice::Zero:
    return l.zeroStage;
  case Choice::ShardGroup:
    return l.shardGroup;
  case Choice::Recompute:
    return static_cast<int64_t>(l.recompute);
  case Choice::MicroBatch:
    return l.microBatch;
  case Choice::Schedule:
    return static_cast<int64_t>(l.schedule);
  case Choice::Dispatcher:
    return static_cast<int64_t>(l.dispatcher);
  }
  return 0;
}

void tessera::setValue(Layout &l, Choice choice, int64_t v) {
  int i = static_cast<int>(v);
  switch (choice) {
  case Choice::DP:
    l.dp = i;
    return;
  case Choice::TP:
    l.tp = i;
    return;
  case Choice::SequenceParallel:
    l.sequenceParallel = v != 0;
    return;
  case Choice::CP:
    l.cp = i;
    return;
  case Choice::ContextKind:
    l.contextKind = static_cast<ContextKind>(i);
    return;
  case Choice::PP:
    l.pp = i;
    return;
  case Choice::VPP:
    l.vpp = i;
    return;
  case Choice::EP:
    l.ep = i;
    return;
  case Choice::ETP:
    l.etp = i;
    return;
  case Choice::Zero:
    l.zeroStage = i;
    return;
  case Choice::ShardGroup:
    l.shardGroup = i;
    return;
  case Choice::Recompute:
    l.recompute = static_cast<RecomputeKind>(i);
    return;
  case Choice::MicroBatch:
    l.microBatch = v;
    return;
  case Choice::Schedule:
    l.schedule = static_cast<ScheduleKind>(i);
    return;
  case Choice::Dispatcher:
    l.dispatcher = static_cast<DispatcherKind>(i);
    return;
  }
}

std::string tessera::formatValue(Choice choice, int64_t value) {
  const ChoiceInfo &info = infoOf(choice);
  if (!info.words.empty() && value >= 0 &&
      value < static_cast<int64_t>(info.words.size()))
    return info.words[value].str();
  return std::to_string(value);
}

std::string tessera::formatChoice(Choice choice, int64_t value) {
  return nameOf(choice).str() + "=" + formatValue(choice, value);
}

bool FixedChoices::allows(const Layout &layout) const {
  for (int i = 0; i < kNumChoices; ++i)
    if (values[i] && *values[i] != valueOf(layout, static_cast<Choice>(i)))
      return false;
  return true;
}

static Expected<int64_t> parseValue(Choice choice, StringRef text,
                                    StringRef where) {
  const ChoiceInfo &info = infoOf(choice);
  if (!info.words.empty()) {
    for (size_t i = 0; i < info.words.size(); ++i)
      if (text.equals_insensitive(info.words[i]))
        return static_cast<int64_t>(i);
    std::string all;
    for (StringRef word : info.words)
      all += (all.empty() ? "" : ", ") + word.str();
    return makeError(where + ": '" + info.name + "' should be one of " + all +
                     "; got '" + text + "'" + didYouMean(text, info.words));
  }
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < info.least || value > (1 << 24))
    return makeError(where + ": '" + info.name +
                     "' should be a whole number of at least " +
                     Twine(info.least) + ", got '" + text + "'");
  if (choice == Choice::Zero && value > 3)
    return makeError(where + ": 'zero' should be 0, 1, 2 or 3, got '" + text +
                     "'");
  return value;
}

Expected<FixedChoices> tessera::parseChoices(StringRef text, StringRef where) {
  FixedChoices fixed;
  SmallVector<StringRef> names;
  for (int i = 0; i < kNumChoices; ++i)
    names.push_back(nameOf(static_cast<Choice>(i)));
  std::string normal = text.str();
  for (char &c : normal)
    if (c == ' ' || c == ';')
      c = ',';
  SmallVector<StringRef> parts;
  StringRef(normal).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    const auto *at = llvm::find(names, name.trim());
    if (at == names.end())
      return makeError(where + ": unknown axis '" + name.trim() + "'" +
                       didYouMean(name.trim(), names));
    auto choice = static_cast<Choice>(at - names.begin());
    if (!part.contains('=')) {
      if (choice != Choice::SequenceParallel)
        return makeError(where + ": '" + name + "' needs a value, like '" +
                         name + "=2'");
      value = "on";
    }
    Expected<int64_t> parsed = parseValue(choice, value.trim(), where);
    if (!parsed)
      return parsed.takeError();
    if (!fixed.allows(choice, *parsed))
      return makeError(where + ": '" + formatChoice(choice, *parsed) +
                       "' contradicts '" +
                       formatChoice(choice, *fixed.get(choice)) + "'");
    fixed.set(choice, *parsed);
  }
  return fixed;
}

Expected<Layout> tessera::layoutFrom(const FixedChoices &fixed, int64_t gpus,
                                     StringRef where) {
  Layout l;
  for (int i = 0; i < kNumChoices; ++i)
    if (fixed.values[i])
      setValue(l, static_cast<Choice>(i), *fixed.values[i]);
  if (!fixed.get(Choice::Schedule) && l.vpp > 1)
    l.schedule = ScheduleKind::Interleaved;
  if (!fixed.get(Choice::DP)) {
    int64_t others = int64_t(l.tp) * l.cp * l.pp;
    if (gpus % others)
      return makeError(where + ": tp=" + Twine(l.tp) + ", cp=" + Twine(l.cp) +
                       " and pp=" + Twine(l.pp) + " make groups of " +
                       Twine(others) + " GPUs, which do not divide " +
                       Twine(gpus));
    l.dp = int(gpus / others);
  }
  return l;
}

json::Object tessera::toJson(const Layout &l) {
  json::Object o;
  for (int i = 0; i < kNumChoices; ++i) {
    auto choice = static_cast<Choice>(i);
    int64_t value = valueOf(l, choice);
    if (choice == Choice::SequenceParallel)
      o[nameOf(choice)] = value != 0;
    else if (infoOf(choice).words.empty())
      o[nameOf(choice)] = value;
    else
      o[nameOf(choice)] = formatValue(choice, value);
  }
  json::Array chunks;
  for (int n : l.chunkLayers)
    chunks.push_back(n);
  if (!chunks.empty())
    o["chunk_layers"] = std::move(chunks);
  return o;
}
