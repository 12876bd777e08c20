//===- Choices.cpp - reading and printing the decisions of a layout -------===//
#include "Choices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace tessera;

StringRef tessera::nameOf(Choice choice) {
  static const StringRef names[kNumChoices] = {"dp",
                                               "tp",
                                               "sp",
                                               "cp",
                                               "cp-kind",
                                               "pp",
                                               "vpp",
                                               "ep",
                                               "etp",
                                               "zero",
                                               "shard",
                                               "recompute",
                                               "recompute-layers",
                                               "mb",
                                               "schedule",
                                               "dispatcher"};
  return names[static_cast<int>(choice)];
}

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
  case Choice::RecomputeLayers:
    return l.recomputeLayers;
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
  case Choice::RecomputeLayers:
    l.recomputeLayers = i;
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

/// The word for the value; "" where the choice is a number.
static StringRef wordOf(Choice choice, int64_t value) {
  int i = static_cast<int>(value);
  switch (choice) {
  case Choice::ContextKind:
    return nameOf(static_cast<ContextKind>(i));
  case Choice::Recompute:
    return nameOf(static_cast<RecomputeKind>(i));
  case Choice::Schedule:
    return nameOf(static_cast<ScheduleKind>(i));
  case Choice::Dispatcher:
    return nameOf(static_cast<DispatcherKind>(i));
  default:
    return "";
  }
}

std::string tessera::formatChoice(Choice choice, int64_t value) {
  StringRef word = wordOf(choice, value);
  return nameOf(choice).str() + "=" +
         (word.empty() ? std::to_string(value) : word.str());
}

bool FixedChoices::allows(const Layout &layout) const {
  for (int i = 0; i < kNumChoices; ++i)
    if (values[i] && *values[i] != valueOf(layout, static_cast<Choice>(i)))
      return false;
  return true;
}

Expected<FixedChoices> tessera::parseChoices(StringRef text) {
  Layout layout;
  SmallVector<StringRef> given;
  if (Error e = parseLayoutEntries(text, layout, &given))
    return std::move(e);
  FixedChoices fixed;
  for (StringRef name : given) {
    int i = 0;
    while (i < kNumChoices && nameOf(static_cast<Choice>(i)) != name)
      ++i;
    if (i == kNumChoices)
      return makeError("'" + name + "' cannot be fixed: the search decides it");
    fixed.values[i] = valueOf(layout, static_cast<Choice>(i));
  }
  return fixed;
}

/// Fills in what was not given: dp from the GPUs, the schedule from vpp.
static Error complete(Layout &l, bool hasDP, bool hasSchedule, int64_t gpus) {
  if (!hasSchedule && l.vpp > 1)
    l.schedule = ScheduleKind::Interleaved;
  if (hasDP)
    return Error::success();
  int64_t others = int64_t(l.tp) * l.cp * l.pp;
  if (gpus % others)
    return makeError("tp=" + Twine(l.tp) + ", cp=" + Twine(l.cp) + " and pp=" +
                     Twine(l.pp) + " make groups of " + Twine(others) +
                     " GPUs, which do not divide " + Twine(gpus));
  l.dp = int(gpus / others);
  return Error::success();
}

Expected<Layout> tessera::layoutFrom(const FixedChoices &fixed, int64_t gpus) {
  Layout l;
  for (int i = 0; i < kNumChoices; ++i)
    if (fixed.values[i])
      setValue(l, static_cast<Choice>(i), *fixed.values[i]);
  if (Error e = complete(l, fixed.get(Choice::DP).has_value(),
                         fixed.get(Choice::Schedule).has_value(), gpus))
    return std::move(e);
  return l;
}

Expected<Layout> tessera::layoutFrom(StringRef text, int64_t gpus) {
  Layout l;
  SmallVector<StringRef> given;
  if (Error e = parseLayoutEntries(text, l, &given))
    return std::move(e);
  if (Error e = complete(l, is_contained(given, "dp"),
                         is_contained(given, "schedule"), gpus))
    return std::move(e);
  return l;
}

json::Object tessera::toJson(const Layout &l) {
  json::Object o;
  for (int i = 0; i < kNumChoices; ++i) {
    auto choice = static_cast<Choice>(i);
    int64_t value = valueOf(l, choice);
    if (choice == Choice::SequenceParallel)
      o[nameOf(choice)] = value != 0;
    else if (StringRef word = wordOf(choice, value); !word.empty())
      o[nameOf(choice)] = word;
    else
      o[nameOf(choice)] = value;
  }
  json::Array chunks;
  for (int n : l.chunkLayers)
    chunks.push_back(n);
  if (!chunks.empty())
    o["chunk_layers"] = std::move(chunks);
  return o;
}
