//===- JsonText.cpp - settings as JSON ------------------------------------===//
#include "Settings.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static void flatten(const json::Object &object, const std::string &prefix,
                    Settings &out) {
  for (const auto &[key, value] : object) {
    std::string path = prefix + StringRef(key).str();
    if (const json::Object *inner = value.getAsObject())
      flatten(*inner, path + ".", out);
    else
      out.push_back({path, value, 0});
  }
}

Expected<Settings> exports::readJsonSettings(StringRef text, StringRef where) {
  Expected<json::Value> value = parseJson(text, where);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError(where + ": expected an object at the top");
  Settings settings;
  flatten(*object, "", settings);
  sort(settings,
       [](const Setting &a, const Setting &b) { return a.key < b.key; });
  return settings;
}

/// The settings below `prefix`.
static void writeObject(json::OStream &os, ArrayRef<Setting> settings,
                        StringRef prefix) {
  forEachEntry(
      settings, prefix,
      [&](StringRef name, const json::Value &value) {
        os.attribute(name, value);
      },
      [&](StringRef name, StringRef below) {
        os.attributeObject(name, [&] { writeObject(os, settings, below); });
      });
}

std::string exports::writeJson(ArrayRef<Setting> settings) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream os(stream, 2);
  os.object([&] { writeObject(os, settings, ""); });
  return text + "\n";
}
