//===- YamlText.cpp - settings as YAML ------------------------------------===//
//
// Reading is LLVM's YAML parser; plain scalars take the types of the YAML core
// schema (null, bool, int, float, text).
//
//===----------------------------------------------------------------------===//
#include "Settings.h"

#include "tessera/Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static json::Value plainValue(StringRef text) {
  if (text.empty() || text == "~" || text.equals_insensitive("null"))
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE")
    return true;
  if (text == "false" || text == "False" || text == "FALSE")
    return false;
  int64_t integer = 0;
  StringRef digits = text;
  digits.consume_front("+");
  if (!digits.getAsInteger(10, integer))
    return integer;
  double real = 0;
  if (text.find_first_of("0123456789") != StringRef::npos &&
      text.find_first_not_of("+-.0123456789eE") == StringRef::npos &&
      !text.getAsDouble(real))
    return real;
  return text.str(); // json::Value would only point at a StringRef
}

namespace {
/// Walks one document. The parser reports its own errors to `message`.
class Walker {
public:
  Walker(SourceMgr &sources, StringRef where)
      : sources(sources), where(where) {}

  Settings settings;
  std::string message;

  void walk(yaml::Node *node, const std::string &path) {
    if (!message.empty() || !node)
      return;
    if (auto *map = dyn_cast<yaml::MappingNode>(node)) {
      for (yaml::KeyValueNode &entry : *map) {
        auto *key = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
        if (!key)
          return fail(node, "a key must be a plain text");
        SmallString<64> storage;
        std::string name = (path + key->getValue(storage)).str();
        yaml::Node *value = entry.getValue();
        if (isa_and_nonnull<yaml::MappingNode>(value))
          walk(value, name + ".");
        else
          add(name, key, value);
        if (!message.empty())
          return;
      }
      return;
    }
    if (path.empty() && !isa<yaml::NullNode>(node))
      fail(node, "expected 'key: value' lines at the top");
  }

  void fail(yaml::Node *node, const Twine &text) {
    if (message.empty())
      message = (where + ":" + Twine(line(node)) + ": " + text).str();
  }

private:
  int line(yaml::Node *node) const {
    return static_cast<int>(
        sources.getLineAndColumn(node->getSourceRange().Start).first);
  }

  void add(const std::string &name, yaml::Node *key, yaml::Node *value) {
    int at = line(key);
    auto [before, isNew] = lines.try_emplace(name, at);
    if (!isNew)
      return fail(key, "'" + name + "' is given twice, first in line " +
                           Twine(before->second));
    settings.push_back({name, valueOf(value), at});
  }

  json::Value valueOf(yaml::Node *node) {
    if (!node || isa<yaml::NullNode>(node))
      return nullptr;
    if (auto *scalar = dyn_cast<yaml::ScalarNode>(node)) {
      StringRef raw = scalar->getRawValue();
      if (!raw.empty() && raw.front() != '"' && raw.front() != '\'')
        return plainValue(raw.rtrim());
      SmallString<64> storage;
      return scalar->getValue(storage).str();
    }
    if (auto *block = dyn_cast<yaml::BlockScalarNode>(node))
      return block->getValue().str();
    if (auto *list = dyn_cast<yaml::SequenceNode>(node)) {
      json::Array values;
      for (yaml::Node &entry : *list)
        values.push_back(valueOf(&entry));
      return values;
    }
    // Objects inside lists carry nothing that a layout needs.
    if (auto *map = dyn_cast<yaml::MappingNode>(node)) {
      map->skip();
      return "{...}";
    }
    fail(node, "anchors and aliases are not read");
    return nullptr;
  }

  SourceMgr &sources;
  StringRef where;
  StringMap<int> lines; ///< where a key was given
};
} // namespace

Expected<Settings> exports::readYaml(StringRef text, StringRef where) {
  SourceMgr sources;
  Walker walker(sources, where);
  struct Context {
    Walker &walker;
    StringRef where;
  } context{walker, where};
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *opaque) {
        auto &c = *static_cast<Context *>(opaque);
        if (!c.walker.message.empty())
          return;
        std::string said = diagnostic.getMessage().rtrim(".!").str();
        if (!said.empty())
          said[0] = toLower(said[0]);
        c.walker.message = (c.where + ":" + Twine(diagnostic.getLineNo()) +
                            ": not well-formed YAML: " + said)
                               .str();
      },
      &context);
  yaml::Stream stream(text, sources, /*ShowColors=*/false);
  yaml::document_iterator document = stream.begin();
  if (document != stream.end() && walker.message.empty())
    walker.walk(document->getRoot(), "");
  if (walker.message.empty() && stream.failed())
    walker.message = (where + ": not well-formed YAML").str();
  if (!walker.message.empty())
    return makeError(walker.message);
  return std::move(walker.settings);
}

static std::string yamlValue(const json::Value &value) {
  if (value.getAsNull())
    return "null";
  if (auto text = value.getAsString()) {
    // Quoted where a reader could take it for something else.
    bool plain = !text->empty() && plainValue(*text).getAsString() &&
                 isAlpha(text->front()) && all_of(*text, [](char c) {
                   return isAlnum(c) || c == '_' || c == '.';
                 });
    if (plain && !text->equals_insensitive("no") &&
        !text->equals_insensitive("yes"))
      return text->str();
  }
  std::string out;
  raw_string_ostream(out) << value;
  return out;
}

static void writeMap(raw_ostream &os, ArrayRef<Setting> settings,
                     StringRef prefix, unsigned indent) {
  forEachEntry(
      settings, prefix,
      [&](StringRef name, const json::Value &value) {
        os.indent(indent) << name << ": " << yamlValue(value) << "\n";
      },
      [&](StringRef name, StringRef below) {
        os.indent(indent) << name << ":\n";
        writeMap(os, settings, below, indent + 2);
      });
}

std::string exports::writeYaml(ArrayRef<Setting> settings,
                               ArrayRef<std::string> comments) {
  std::string text;
  raw_string_ostream os(text);
  for (const std::string &comment : comments)
    os << "# " << comment << "\n";
  writeMap(os, settings, "", 0);
  return text;
}
