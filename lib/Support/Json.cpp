//===- Json.cpp - reading JSON objects with good messages -----------------===//
#include "tessera/Support/Json.h"
#include "tessera/Support/Suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>

using namespace llvm;
using namespace tessera;

/// LLVM's parser recurses, and a deep enough text would overflow the stack.
static constexpr unsigned kDeepestJson = 200;

std::optional<size_t> tessera::findTooDeep(StringRef text) {
  unsigned depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if ((c == '[' || c == '{') && ++depth > kDeepestJson)
      return i;
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return std::nullopt;
}

/// LLVM's "[3:7, byte=31]: Expected object key" in the way of all messages.
static Error notWellFormed(StringRef what, StringRef message) {
  unsigned line = 0;
  if (!message.consume_front("[") || message.consumeInteger(10, line))
    return makeError(what + ": " + message);
  std::string reason = message.split("]: ").second.str();
  if (!reason.empty())
    reason[0] = toLower(reason[0]);
  return makeError(what + ": line " + Twine(line) +
                   ": not well-formed JSON: " + reason);
}

Expected<json::Value> tessera::parseJson(StringRef text, StringRef what) {
  // Editors of some systems begin a file with a byte order mark.
  text.consume_front("\xEF\xBB\xBF");
  if (text.trim().empty())
    return makeError(what + ": is empty, expected JSON");
  if (std::optional<size_t> byte = findTooDeep(text))
    return makeError(what + ": nested deeper than " + Twine(kDeepestJson) +
                     " levels at byte " + Twine(*byte));
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return notWellFormed(what, toString(value.takeError()));
  return value;
}

Expected<JsonObject> JsonObject::get(const json::Value &value,
                                     StringRef where) {
  if (const json::Object *o = value.getAsObject())
    return JsonObject(o, where.str());
  return makeError(where + ": expected an object");
}

Error JsonObject::wrong(StringRef key, StringRef expected) const {
  std::string got;
  raw_string_ostream os(got);
  os << *object->get(key);
  return makeError(where + ": field '" + key + "' should be " + expected +
                   ", got " + got);
}

Error JsonObject::read(StringRef key, double &out) const {
  note(key);
  const json::Value *v = object->get(key);
  if (!v)
    return Error::success();
  auto n = v->getAsNumber();
  if (!n || !std::isfinite(*n))
    return wrong(key, "a number");
  out = *n;
  return Error::success();
}

Error JsonObject::read(StringRef key, int64_t &out) const {
  note(key);
  const json::Value *v = object->get(key);
  if (!v)
    return Error::success();
  auto n = v->getAsInteger();
  if (!n)
    return wrong(key, "an integer");
  out = *n;
  return Error::success();
}

Error JsonObject::read(StringRef key, bool &out) const {
  note(key);
  const json::Value *v = object->get(key);
  if (!v)
    return Error::success();
  auto b = v->getAsBoolean();
  if (!b)
    return wrong(key, "true or false");
  out = *b;
  return Error::success();
}

Error JsonObject::read(StringRef key, std::string &out) const {
  note(key);
  const json::Value *v = object->get(key);
  if (!v)
    return Error::success();
  auto s = v->getAsString();
  if (!s)
    return wrong(key, "a string");
  out = s->str();
  return Error::success();
}

Expected<std::optional<JsonObject>> JsonObject::child(StringRef key) const {
  note(key);
  const json::Value *v = object->get(key);
  if (!v)
    return std::optional<JsonObject>();
  if (!v->getAsObject())
    return wrong(key, "an object");
  return std::optional<JsonObject>(
      JsonObject(v->getAsObject(), where + ": " + key.str()));
}

Error JsonObject::checkAllRead() const {
  for (const auto &entry : *object) {
    StringRef key = entry.first;
    if (known.count(key.str()))
      continue;
    std::vector<StringRef> names(known.begin(), known.end());
    return makeError(where + ": unknown field '" + key + "'" +
                     didYouMean(key, names));
  }
  return Error::success();
}

static bool isFlat(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Object:
    return value.getAsObject()->empty();
  case json::Value::Array:
    return value.getAsArray()->empty();
  default:
    return true;
  }
}

static void write(const json::Value &value, raw_ostream &os, unsigned depth) {
  if (isFlat(value)) {
    os << value;
    return;
  }
  auto newLine = [&](unsigned levels) { (os << '\n').indent(2 * levels); };
  if (const json::Array *array = value.getAsArray()) {
    if (llvm::all_of(*array, isFlat)) {
      os << value;
      return;
    }
    os << '[';
    for (const json::Value &element : *array) {
      if (&element != &array->front())
        os << ',';
      newLine(depth + 1);
      write(element, os, depth + 1);
    }
    newLine(depth);
    os << ']';
    return;
  }
  // In the order of names, as llvm::json prints objects.
  std::map<StringRef, const json::Value *> fields;
  for (const auto &field : *value.getAsObject())
    fields[field.first] = &field.second;
  os << '{';
  bool first = true;
  for (auto [name, field] : fields) {
    if (!first)
      os << ',';
    first = false;
    newLine(depth + 1);
    os << json::Value(name) << ": ";
    write(*field, os, depth + 1);
  }
  newLine(depth);
  os << '}';
}

void tessera::printJson(const json::Value &value, raw_ostream &os) {
  write(value, os, 0);
  os << '\n';
}
