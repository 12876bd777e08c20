//===- ConfigReader.cpp - fields of a config.json -------------------------===//
#include "lib/Import/ConfigReader.h"

#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tessera;
using llvm::StringRef;
using llvm::Twine;

std::string tessera::describeJson(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  if (text.size() > 40)
    text = text.substr(0, 37) + "...";
  return text;
}

void ConfigReader::fail(const Twine &message) const {
  if (failure.empty())
    failure = (where + ": " + message).str();
}

void ConfigReader::failField(StringRef name, const Twine &message) const {
  fail("field '" + name + "' " + message);
}

std::pair<StringRef, const llvm::json::Value *>
ConfigReader::find(Names names) const {
  for (StringRef name : names)
    asked.insert(name);
  for (StringRef name : names)
    if (const llvm::json::Value *value = object.get(name))
      if (value->kind() != llvm::json::Value::Null)
        return {name, value};
  return {*names.begin(), nullptr};
}

int64_t ConfigReader::integer(Names names, std::optional<int64_t> otherwise,
                              int64_t least, int64_t most) const {
  auto [name, value] = find(names);
  if (!value) {
    if (!otherwise)
      failField(name, "is missing");
    return otherwise.value_or(least);
  }
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= least && *number <= most)
    return *number;
  failField(name, "must be an integer from " + Twine(least) + " to " +
                      Twine(most) + ", got " + describeJson(*value));
  return least;
}

double ConfigReader::number(Names names, double otherwise, double least) const {
  auto [name, value] = find(names);
  if (!value)
    return otherwise;
  std::optional<double> number = value->getAsNumber();
  if (!number || !std::isfinite(*number))
    failField(name, "must be a number, got " + describeJson(*value));
  else if (*number < least)
    failField(name, "must be a number of at least " + describeJson(least) +
                        ", got " + describeJson(*value));
  else
    return *number;
  return otherwise;
}

std::optional<double> ConfigReader::maybeNumber(StringRef name) const {
  if (!has(name))
    return std::nullopt;
  return number({name}, 0.0);
}

bool ConfigReader::boolean(StringRef name, bool otherwise) const {
  auto [found, value] = find({name});
  if (!value)
    return otherwise;
  if (std::optional<bool> flag = value->getAsBoolean())
    return *flag;
  failField(name, "must be true or false, got " + describeJson(*value));
  return otherwise;
}

std::string ConfigReader::text(Names names, StringRef otherwise) const {
  auto [name, value] = find(names);
  if (!value)
    return otherwise.str();
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  failField(name, "must be text, got " + describeJson(*value));
  return otherwise.str();
}

const llvm::json::Object *ConfigReader::child(StringRef name) const {
  auto [found, value] = find({name});
  if (!value)
    return nullptr;
  if (const llvm::json::Object *child = value->getAsObject())
    return child;
  failField(name, "must be an object, got " + describeJson(*value));
  return nullptr;
}

const llvm::json::Array *ConfigReader::array(StringRef name) const {
  auto [found, value] = find({name});
  if (!value)
    return nullptr;
  if (const llvm::json::Array *list = value->getAsArray())
    return list;
  failField(name, "must be a list, got " + describeJson(*value));
  return nullptr;
}

/// Says nothing: null, false, zero, "", [] or {}.
static bool isBlank(const llvm::json::Value &value) {
  if (std::optional<bool> flag = value.getAsBoolean())
    return !*flag;
  if (std::optional<double> number = value.getAsNumber())
    return *number == 0;
  if (std::optional<StringRef> text = value.getAsString())
    return text->empty();
  if (const llvm::json::Array *list = value.getAsArray())
    return list->empty();
  const llvm::json::Object *child = value.getAsObject();
  return !child || child->empty();
}

std::vector<std::string>
ConfigReader::unread(const llvm::StringSet<> &neutral) const {
  std::vector<StringRef> known, left;
  for (const auto &entry : asked)
    if (!object.get(entry.getKey()))
      known.push_back(entry.getKey());
  llvm::sort(known);
  for (const auto &[key, value] : object)
    if (StringRef name(key); !name.starts_with("_") && !asked.contains(name) &&
                             !neutral.contains(name) && !isBlank(value))
      left.push_back(name);
  llvm::sort(left);
  std::vector<std::string> lines;
  for (StringRef name : left)
    lines.push_back(where + ": field '" + printableName(name) + "' (" +
                    printableName(describeJson(*object.get(name))) +
                    ") is not read" + nearlyNamed(name, known));
  return lines;
}

void ConfigReader::onlySupported(StringRef name, bool supported) const {
  if (boolean(name, supported) != supported)
    failField(name, Twine("is ") + (supported ? "false" : "true") +
                        ", which is not supported");
}
