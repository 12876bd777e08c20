//===- LayoutText.cpp - layouts as text and back --------------------------===//
//
// One table of entries serves printing and parsing, so that a field that is
// printed can be read.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Layout.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Suggest.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace llvm;
using namespace tessera;

namespace {
/// A whole number of the text form, at least `least`.
struct NumberEntry {
  StringLiteral name;
  int Layout::*field;
  int least;
  int usual;
};
/// A word that is there or not; it sets the field to `value`.
struct FlagEntry {
  StringLiteral name;
  bool Layout::*field;
  bool value;
};
} // namespace

static constexpr NumberEntry kNumbers[] = {
    {"dp", &Layout::dp, 1, 0}, // always printed
    {"shard", &Layout::shardGroup, 0, 0},
    {"tp", &Layout::tp, 1, 1},
    {"cp", &Layout::cp, 1, 1},
    {"pp", &Layout::pp, 1, 1},
    {"vpp", &Layout::vpp, 1, 1},
    {"ep", &Layout::ep, 1, 1},
    {"etp", &Layout::etp, 1, 1},
    {"zero", &Layout::zeroStage, 0, 0},
};

static constexpr FlagEntry kFlags[] = {
    {"sp", &Layout::sequenceParallel, true},
    {"no-grad-overlap", &Layout::overlapGradients, false},
    {"no-param-overlap", &Layout::overlapParameters, false},
    {"no-tp-overlap", &Layout::overlapTensorParallel, false},
    {"ep-overlap", &Layout::overlapExperts, true},
    {"no-pp-overlap", &Layout::overlapPipeline, false},
};

static constexpr RecomputeKind kRecomputes[] = {
    RecomputeKind::None, RecomputeKind::Selective, RecomputeKind::Full};
static constexpr ContextKind kContexts[] = {
    ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses};
static constexpr ScheduleKind kSchedules[] = {
    ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
    ScheduleKind::ZeroBubble};
static constexpr DispatcherKind kDispatchers[] = {
    DispatcherKind::AllGather, DispatcherKind::AllToAll, DispatcherKind::Fused};

/// Virtual stages beyond this are a mistake, not a plan.
static constexpr int kMostChunks = 1 << 16;

/// More sequences than any step has.
static constexpr int64_t kMostSamples = int64_t(1) << 31;

/// The schedule that goes without saying.
static ScheduleKind usualSchedule(const Layout &l) {
  return l.vpp > 1 ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB;
}

/// "7+8*14+7"
static std::string layersText(ArrayRef<int> layers) {
  std::string s;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[i])
      ++end;
    s += (i ? "+" : "") + std::to_string(layers[i]);
    if (end - i > 1)
      s += "*" + std::to_string(end - i);
    i = end;
  }
  return s;
}

std::string Layout::str() const {
  std::string s;
  auto add = [&](StringRef text) { s += (s.empty() ? "" : " ") + text.str(); };
  for (const NumberEntry &e : kNumbers)
    if (this->*e.field != e.usual)
      add((e.name + "=" + Twine(this->*e.field)).str());
  add("mb=" + std::to_string(microBatch));
  if (sequenceParallel)
    add("sp");
  if (recompute != RecomputeKind::None)
    add(("recompute=" + nameOf(recompute)).str());
  if (recomputeLayers > 0)
    add("recompute-layers=" + std::to_string(recomputeLayers));
  if (contextKind != ContextKind::Ring)
    add(("cp-kind=" + nameOf(contextKind)).str());
  if (schedule != usualSchedule(*this))
    add(("schedule=" + nameOf(schedule)).str());
  if (dispatcher != DispatcherKind::AllToAll)
    add(("dispatcher=" + nameOf(dispatcher)).str());
  if (!chunkLayers.empty())
    add("layers=" + layersText(chunkLayers));
  for (const FlagEntry &e : ArrayRef(kFlags).drop_front())
    if (this->*e.field == e.value)
      add(e.name);
  return s;
}

/// A whole number from `least` on.
template <typename T>
static Error readNumber(StringRef name, StringRef text, T least, T &out) {
  T value = 0;
  if (text.getAsInteger(10, value) || value < least)
    return makeError("layout: '" + name +
                     "' must be a whole number of at least " + Twine(least) +
                     ", got '" + text + "'");
  out = value;
  return Error::success();
}

template <typename Kind>
static Error readKind(StringRef name, StringRef text, ArrayRef<Kind> kinds,
                      Kind &out) {
  SmallVector<StringRef> names;
  for (Kind kind : kinds) {
    if (text == nameOf(kind)) {
      out = kind;
      return Error::success();
    }
    names.push_back(nameOf(kind));
  }
  return makeError("layout: '" + name + "' must be one of " +
                   join(names, ", ") + ", got '" + text + "'" +
                   didYouMean(text, names));
}

static Error readLayers(StringRef text, SmallVectorImpl<int> &out) {
  SmallVector<StringRef> parts;
  text.split(parts, '+');
  out.clear();
  for (StringRef part : parts) {
    auto [layers, times] = part.split('*');
    int count = 0, repeat = 1;
    if (Error error = readNumber("layers", layers, 0, count))
      return error;
    if (part.contains('*'))
      if (Error error = readNumber("layers", times, 1, repeat))
        return error;
    if (repeat > kMostChunks - static_cast<int>(out.size()))
      return makeError("layout: 'layers' lists more than " +
                       Twine(kMostChunks) + " chunks");
    out.append(repeat, count);
  }
  return Error::success();
}

static Error readEntry(StringRef name, StringRef value, bool hasValue,
                       Layout &layout) {
  SmallVector<StringRef> names = {"mb",      "recompute", "recompute-layers",
                                  "cp-kind", "schedule",  "dispatcher",
                                  "layers"};
  for (const FlagEntry &e : kFlags) {
    if (name == e.name) {
      bool off = value == "0" || value == "off";
      if (hasValue && !off && value != "1" && value != "on")
        return makeError("layout: '" + name +
                         "' takes no value, or on or off, got '" + value + "'");
      layout.*e.field = off ? !e.value : e.value;
      return Error::success();
    }
    names.push_back(e.name);
  }
  for (const NumberEntry &e : kNumbers)
    names.push_back(e.name);
  if (!is_contained(names, name))
    return makeError("layout: unknown entry '" + name + "'" +
                     didYouMean(name, names) + "; the entries are " +
                     join(names, ", "));
  if (!hasValue)
    return makeError("layout: '" + name + "' needs a value, as in '" + name +
                     "=...'");
  for (const NumberEntry &e : kNumbers)
    if (name == e.name)
      return readNumber(name, value, e.least, layout.*e.field);
  if (name == "mb")
    return readNumber<int64_t>(name, value, 1, layout.microBatch);
  if (name == "recompute")
    return readKind<RecomputeKind>(name, value, kRecomputes, layout.recompute);
  if (name == "recompute-layers")
    return readNumber(name, value, 0, layout.recomputeLayers);
  if (name == "cp-kind")
    return readKind<ContextKind>(name, value, kContexts, layout.contextKind);
  if (name == "schedule")
    return readKind<ScheduleKind>(name, value, kSchedules, layout.schedule);
  if (name == "dispatcher")
    return readKind<DispatcherKind>(name, value, kDispatchers,
                                    layout.dispatcher);
  return readLayers(value, layout.chunkLayers);
}

/// Whoever multiplies the axes must not overflow.
static Error checkProduct(const Layout &l) {
  double gpus = double(l.dp) * l.tp * l.cp * l.pp;
  if (gpus > std::numeric_limits<int>::max())
    return makeError("layout: dp*tp*cp*pp is more GPUs than can be counted");
  return Error::success();
}

Error tessera::parseLayoutEntries(StringRef text, Layout &layout,
                                  SmallVectorImpl<StringRef> *given) {
  SmallVector<StringRef> seen;
  StringRef whole = text;
  while (true) {
    // One comma, or none, between two entries.
    text = text.ltrim(" \t\n");
    bool comma = text.consume_front(",");
    text = text.ltrim(" \t\n");
    if (comma && (seen.empty() || text.empty() || text.starts_with(",")))
      return makeError("layout: an entry is missing beside a comma of '" +
                       whole + "'");
    if (text.empty())
      break;
    StringRef entry = text.take_until(
        [](char c) { return c == ',' || c == ' ' || c == '\t' || c == '\n'; });
    text = text.drop_front(entry.size());
    auto [name, value] = entry.split('=');
    if (is_contained(seen, name))
      return makeError("layout: '" + name + "' is given twice");
    seen.push_back(name);
    if (Error error = readEntry(name, value, entry.contains('='), layout))
      return error;
  }
  if (layout.zeroStage > 3)
    return makeError("layout: 'zero' must be from 0 to 3, got " +
                     Twine(layout.zeroStage));
  if (layout.microBatch > kMostSamples)
    return makeError("layout: 'mb' must be from 1 to " + Twine(kMostSamples) +
                     ", got " + Twine(layout.microBatch));
  if (Error error = checkProduct(layout))
    return error;
  if (given)
    given->append(seen.begin(), seen.end());
  return Error::success();
}

Expected<Layout> tessera::parseLayout(StringRef text) {
  Layout layout;
  SmallVector<StringRef> given;
  if (Error error = parseLayoutEntries(text, layout, &given))
    return std::move(error);
  if (given.empty())
    return makeError("layout: nothing given; write, say, 'dp=8,tp=4,mb=1'");
  if (!is_contained(given, "schedule"))
    layout.schedule = usualSchedule(layout);
  if (Error error = layout.check())
    return std::move(error);
  return layout;
}

Error Layout::check() const {
  for (const NumberEntry &e : kNumbers)
    if (this->*e.field < e.least)
      return makeError("layout: '" + e.name + "' must be at least " +
                       Twine(e.least) + ", got " + Twine(this->*e.field));
  if (microBatch < 1 || microBatch > kMostSamples)
    return makeError("layout: 'mb' must be from 1 to " + Twine(kMostSamples) +
                     ", got " + Twine(microBatch));
  if (zeroStage > 3)
    return makeError("layout: 'zero' must be from 0 to 3, got " +
                     Twine(zeroStage));
  if (recomputeLayers < 0)
    return makeError("layout: 'recompute-layers' must be at least 0, got " +
                     Twine(recomputeLayers));
  if (recomputeLayers > 0 && recompute != RecomputeKind::Full)
    return makeError("layout: 'recompute-layers' needs recompute=full, got " +
                     nameOf(recompute));
  if (Error error = checkProduct(*this))
    return error;
  if (shardGroup > dp || (shardGroup > 0 && dp % shardGroup != 0))
    return makeError("layout: 'shard' must divide dp = " + Twine(dp) +
                     ", got " + Twine(shardGroup));
  int64_t ranks = int64_t(dp) * cp * tp;
  if (ranks % (int64_t(ep) * etp) != 0)
    return makeError("layout: ep*etp must divide dp*cp*tp = " + Twine(ranks) +
                     ", got " + Twine(int64_t(ep) * etp));
  if (vpp > 1 && pp == 1)
    return makeError("layout: 'vpp' needs pp > 1, got vpp = " + Twine(vpp) +
                     " and pp = 1");
  int64_t chunks = int64_t(pp) * vpp;
  if (chunks > kMostChunks)
    return makeError("layout: pp*vpp must be at most " + Twine(kMostChunks) +
                     ", got " + Twine(chunks));
  if (!chunkLayers.empty() && int64_t(chunkLayers.size()) != chunks)
    return makeError("layout: 'layers' must list pp*vpp = " + Twine(chunks) +
                     " chunks, got " + Twine(chunkLayers.size()));
  return Error::success();
}
