//===- Constants.cpp - reading the fitted numbers -------------------------===//
#include "tessera/CostModel/Constants.h"
#include "lib/CostModel/DefaultConstants.inc"
#include "lib/CostModel/DefaultText.h"
#include "tessera/Support/Suggest.h"

using namespace llvm;
using namespace tessera;

std::vector<std::pair<std::string, double ChipConstants::*>>
tessera::chipFields() {
  using C = ChipConstants;
  return {{"matmul16", &C::matmul16},
          {"matmul8", &C::matmul8},
          {"matmul4", &C::matmul4},
          {"attention", &C::attention},
          {"attention_backward", &C::attentionBackward},
          {"grouped_matmul", &C::groupedMatmul},
          {"memory", &C::memory},
          {"kernel_gap", &C::kernelGap},
          {"nvlink", &C::nvlink},
          {"nic", &C::nic},
          {"all_to_all", &C::allToAll},
          {"contention", &C::contention}};
}

std::vector<std::pair<std::string, double StackConstants::*>>
tessera::stackFields() {
  using S = StackConstants;
  return {{"host_per_launch", &S::hostPerLaunch},
          {"vector_traffic", &S::vectorTraffic},
          {"tp_overlap", &S::tpOverlap},
          {"dp_overlap", &S::dpOverlap},
          {"ep_overlap", &S::epOverlap},
          {"collective_wait", &S::collectiveWait},
          {"pp_overlap", &S::ppOverlap},
          {"jitter", &S::jitter}};
}

const ChipConstants &CostConstants::chip(const Chip &c) const {
  for (const std::string &name : {c.name, c.base})
    if (auto it = chips.find(name); it != chips.end())
      return it->second;
  if (auto it = chips.find(nameOf(c.architecture).str()); it != chips.end())
    return it->second;
  static const ChipConstants defaults;
  return defaults;
}

const StackConstants &CostConstants::stack(StringRef name) const {
  if (auto it = stacks.find(name.str()); it != stacks.end())
    return it->second;
  if (auto it = stacks.find("default"); it != stacks.end())
    return it->second;
  static const StackConstants defaults;
  return defaults;
}

std::string CostConstants::originOf(const Chip &c) const {
  if (measuredChips.count(c.name))
    return "fitted to measured runs";
  if (measuredChips.count(c.base))
    return "from " + c.base + ", not fitted";
  std::string family = nameOf(c.architecture).str();
  for (const Chip &other : builtinChips())
    if (other.architecture == c.architecture && measuredChips.count(other.name))
      return "from " + family + "'s family, not fitted";
  return "priors for " + family + ", nothing of it was measured";
}

std::string CostConstants::originOf(StringRef name) const {
  if (measuredStacks.count(name.str()))
    return "fitted to measured runs";
  return stacks.count(name.str()) ? "from its family, not fitted"
                                  : "what all frameworks share, not fitted";
}

/// Reads one table of named records.
template <typename Record, typename Fields>
static Error readTable(const JsonObject &root, StringRef key,
                       const Fields &fields,
                       std::map<std::string, Record> &out) {
  auto table = root.child(key);
  if (!table)
    return table.takeError();
  if (!*table)
    return Error::success();
  for (const auto &entry : (*table)->raw()) {
    StringRef name = entry.first;
    auto child = (*table)->child(name);
    if (!child)
      return child.takeError();
    Record record;
    for (auto &[field, member] : fields) {
      double v = record.*member;
      if (Error e = (*child)->read(field, v))
        return e;
      if (v < 0)
        return makeError((*child)->location() + ": field '" + field +
                         "' is negative");
      record.*member = v;
    }
    if (Error e = (*child)->checkAllRead())
      return e;
    out[name.str()] = record;
  }
  return Error::success();
}

static Error readNames(const JsonObject &object, StringRef key,
                       std::set<std::string> &out) {
  object.note(key);
  const json::Value *value = object.raw().get(key);
  if (!value)
    return Error::success();
  const json::Array *list = value->getAsArray();
  for (const json::Value &name : list ? *list : json::Array{nullptr}) {
    auto text = name.getAsString();
    if (!text)
      return makeError(object.location() + ": field '" + key +
                       "' should be a list of names");
    out.insert(text->str());
  }
  return Error::success();
}

Expected<CostConstants> tessera::readConstants(const json::Value &value,
                                               StringRef where) {
  Expected<JsonObject> root = JsonObject::get(value, where);
  if (!root)
    return root.takeError();
  CostConstants constants;
  root->note("comment");
  root->note("validation"); // Validation.cpp reads it
  if (Error e = readTable(*root, "chips", chipFields(), constants.chips))
    return e;
  if (Error e = readTable(*root, "stacks", stackFields(), constants.stacks))
    return e;
  auto measured = root->child("measured");
  if (!measured)
    return measured.takeError();
  if (*measured) {
    if (Error e = readNames(**measured, "chips", constants.measuredChips))
      return e;
    if (Error e = readNames(**measured, "stacks", constants.measuredStacks))
      return e;
    if (Error e = readNames(**measured, "sources", constants.measuredSources))
      return e;
    if (Error e = (*measured)->checkAllRead())
      return e;
  }
  if (Error e = root->checkAllRead())
    return e;
  return constants;
}

json::Value tessera::toJson(const CostConstants &constants) {
  json::Object chips, stacks;
  for (const auto &[name, record] : constants.chips) {
    json::Object o;
    for (auto &[field, member] : chipFields())
      o[field] = record.*member;
    chips[name] = std::move(o);
  }
  for (const auto &[name, record] : constants.stacks) {
    json::Object o;
    for (auto &[field, member] : stackFields())
      o[field] = record.*member;
    stacks[name] = std::move(o);
  }
  json::Object measured{{"chips", json::Array(constants.measuredChips)},
                        {"stacks", json::Array(constants.measuredStacks)},
                        {"sources", json::Array(constants.measuredSources)}};
  return json::Object{{"chips", std::move(chips)},
                      {"stacks", std::move(stacks)},
                      {"measured", std::move(measured)}};
}

const json::Value &tessera::defaultConstantsJson() {
  static const json::Value value = [] {
    // The file is part of the build; a test reads it, so it parses.
    Expected<json::Value> parsed =
        parseJson(kDefaultConstants, "cost_model_constants.json");
    if (!parsed)
      report_fatal_error(parsed.takeError());
    return std::move(*parsed);
  }();
  return value;
}

const CostConstants &tessera::defaultConstants() {
  static const CostConstants constants = [] {
    Expected<CostConstants> read =
        readConstants(defaultConstantsJson(), "cost_model_constants.json");
    if (!read)
      report_fatal_error(read.takeError());
    return *read;
  }();
  return constants;
}
