//===- Settings.cpp - typed values out of settings ------------------------===//
#include "Settings.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

/// The parsers of YAML and JSON recurse; their files nest a few levels. YAML
/// nests by brackets, by indentation and by "- - -" or "? ? ?" on one line.
static Error checkNesting(StringRef text, StringRef where) {
  constexpr int kDeepest = 256, kWidest = 1024;
  int depth = 0, line = 1;
  auto refuse = [&] {
    return makeError(where + ":" + Twine(line) +
                     ": lists are nested more than " + Twine(kDeepest) +
                     " deep");
  };
  for (; !text.empty(); ++line) {
    StringRef rest;
    std::tie(rest, text) = text.split('\n');
    if (rest.find_first_not_of(' ') >= kWidest && rest.size() > kWidest)
      return refuse();
    int marks = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      char c = rest[i];
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
      depth = std::max(depth, 0);
      char next = i + 1 < rest.size() ? rest[i + 1] : ' ';
      marks += (c == '-' || c == '?') && isSpace(next);
      if (depth + marks > kDeepest)
        return refuse();
    }
  }
  return Error::success();
}

Expected<Settings> exports::readSettings(Syntax syntax, StringRef text,
                                         StringRef where) {
  if (syntax == Syntax::Yaml || syntax == Syntax::Json)
    if (Error error = checkNesting(text, where))
      return std::move(error);
  switch (syntax) {
  case Syntax::Arguments:
    return readArguments(text, where);
  case Syntax::Yaml:
    return readYaml(text, where);
  case Syntax::Toml:
    return readToml(text, where);
  case Syntax::Json:
    return readJsonSettings(text, where);
  }
  llvm_unreachable("all syntaxes are handled");
}

std::string exports::writeSettings(Syntax syntax, ArrayRef<Setting> settings,
                                   ArrayRef<std::string> comments) {
  switch (syntax) {
  case Syntax::Arguments:
    return writeArguments(settings, comments);
  case Syntax::Yaml:
    return writeYaml(settings, comments);
  case Syntax::Toml:
    return writeToml(settings, comments);
  case Syntax::Json:
    return writeJson(settings);
  }
  llvm_unreachable("all syntaxes are handled");
}

const Setting *exports::findSetting(ArrayRef<Setting> settings, StringRef key) {
  for (const Setting &s : settings)
    if (s.key == key)
      return &s;
  return nullptr;
}

void exports::forEachEntry(
    ArrayRef<Setting> settings, StringRef prefix,
    function_ref<void(StringRef, const json::Value &)> leaf,
    function_ref<void(StringRef, StringRef)> section) {
  std::vector<std::string> done;
  for (const Setting &s : settings) {
    StringRef key = s.key;
    if (!key.consume_front(prefix))
      continue;
    auto [name, rest] = key.split('.');
    if (is_contained(done, name))
      continue;
    done.push_back(name.str());
    if (rest.empty())
      leaf(name, s.value);
    else
      section(name, (prefix + name + ".").str());
  }
}

bool exports::hasSection(ArrayRef<Setting> settings, StringRef section) {
  return any_of(settings, [&](const Setting &s) {
    StringRef key = s.key;
    return key.consume_front(section) && (key.empty() || key.front() == '.');
  });
}

std::string SettingsReader::at(StringRef key) const {
  const Setting *setting = findSetting(settings, key);
  std::string text = where;
  if (setting && setting->line)
    text += ":" + std::to_string(setting->line);
  return text + ": '" + key.str() + "'";
}

void SettingsReader::fail(StringRef key, const Twine &message) {
  raise(at(key) + " " + message);
}

void SettingsReader::failWhole(const Twine &message) {
  raise(where + ": " + message);
}

void SettingsReader::raise(const Twine &message) {
  if (hasFailed)
    return;
  hasFailed = true;
  consumeError(std::move(error));
  error = makeError(message);
}

const Setting *SettingsReader::raw(StringRef key) {
  known.insert(key.str());
  asked.insert(key.str());
  const Setting *setting = findSetting(settings, key);
  // "auto" is how DeepSpeed's files leave a number to the Trainer.
  bool absent = hasFailed || !setting || setting->value.getAsNull() ||
                setting->value.getAsString() == "auto";
  return absent ? nullptr : setting;
}

void SettingsReader::ignore(ArrayRef<StringLiteral> keys) {
  for (StringRef key : keys)
    known.insert(key.str());
}

std::vector<std::string> SettingsReader::texts(StringRef key) {
  const Setting *setting = raw(key);
  if (!setting)
    return {};
  const json::Array *list = setting->value.getAsArray();
  if (!list)
    return {shown(setting->value)};
  std::vector<std::string> out;
  for (const json::Value &value : *list)
    out.push_back(shown(value));
  return out;
}

std::vector<const Setting *> SettingsReader::unread() const {
  std::vector<const Setting *> out;
  for (const Setting &s : settings)
    if (!asked.count(s.key))
      out.push_back(&s);
  return out;
}

std::string exports::shown(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return StringRef(text).trim('"').str();
}

std::optional<int64_t> SettingsReader::integer(StringRef key, int64_t least) {
  const Setting *setting = raw(key);
  if (!setting)
    return std::nullopt;
  std::optional<int64_t> value = setting->value.getAsInteger();
  int64_t parsed = 0;
  if (auto text = setting->value.getAsString()) {
    if (text->contains('$')) {
      fail(key, "takes its value from '" + *text +
                    "', which the file does not settle; write the number");
      return std::nullopt;
    }
    if (!text->getAsInteger(10, parsed))
      value = parsed;
  }
  if (!value || *value < least) {
    fail(key, "must be a whole number of at least " + Twine(least) + ", got '" +
                  shown(setting->value) + "'");
    return std::nullopt;
  }
  constexpr int64_t kMost = int64_t(1) << 31;
  if (*value >= kMost) {
    fail(key, "must be below " + Twine(kMost) + ", got " + Twine(*value));
    return std::nullopt;
  }
  return value;
}

std::optional<bool> SettingsReader::flag(StringRef key) {
  const Setting *setting = raw(key);
  if (!setting)
    return std::nullopt;
  if (std::optional<bool> value = setting->value.getAsBoolean())
    return value;
  fail(key, "must be true or false, got '" + shown(setting->value) + "'");
  return std::nullopt;
}

std::optional<std::string> SettingsReader::text(StringRef key) {
  const Setting *setting = raw(key);
  if (!setting)
    return std::nullopt;
  if (auto value = setting->value.getAsString())
    return value->str();
  fail(key, "must be a text, got '" + shown(setting->value) + "'");
  return std::nullopt;
}

std::optional<size_t> SettingsReader::choice(StringRef key,
                                             ArrayRef<StringLiteral> names) {
  std::optional<std::string> value = text(key);
  if (!value)
    return std::nullopt;
  SmallVector<StringRef> candidates(names.begin(), names.end());
  for (auto [i, name] : enumerate(candidates))
    if (name.equals_insensitive(*value))
      return i;
  fail(key, "must be one of " + join(candidates, ", ") + ", got '" + *value +
                "'" + didYouMean(*value, candidates));
  return std::nullopt;
}

void SettingsReader::checkSection(StringRef section) {
  for (const Setting &s : settings) {
    if (!StringRef(s.key).starts_with(section) || known.count(s.key))
      continue;
    SmallVector<StringRef> names(known.begin(), known.end());
    fail(s.key, "is no known option" + didYouMean(s.key, names));
    return;
  }
}

void SettingsReader::checkNearMisses() {
  constexpr size_t kShortest = 12;
  constexpr unsigned kSlips = 2;
  for (const Setting &s : settings) {
    if (s.key.size() < kShortest || known.count(s.key))
      continue;
    for (StringRef name : known)
      if (name.edit_distance(s.key, true, kSlips) <= kSlips) {
        fail(s.key, "is no known option; did you mean '" + name + "'?");
        return;
      }
  }
}
