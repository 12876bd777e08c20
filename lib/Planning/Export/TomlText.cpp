//===- TomlText.cpp - settings as TOML ------------------------------------===//
//
// The part of TOML 1.0 that training configs use: tables, dotted and quoted
// keys, strings on one line, numbers, booleans, arrays over lines. Arrays of
// tables, inline tables, texts over lines and dates are refused by name.
//
//===----------------------------------------------------------------------===//
#include "Settings.h"

#include "tessera/Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

namespace {
class TomlReader {
public:
  TomlReader(StringRef text, StringRef where) : rest(text), where(where) {}

  Expected<Settings> read() {
    std::string table;
    while (skipBlank()) {
      if (rest.starts_with("[["))
        return fail("arrays of tables ('[[...]]') are not read");
      if (rest.consume_front("[")) {
        std::string name;
        if (!readKey(name))
          return takeFailure();
        if (!rest.consume_front("]"))
          return fail("expected ']' after the table's name");
        if (!tables.insert(name).second)
          return fail("table [" + name + "] is given twice");
        table = name + ".";
      } else {
        std::string name;
        int at = line;
        if (!readKey(name))
          return takeFailure();
        if (!rest.consume_front("="))
          return fail("expected '=' after '" + name + "'");
        skipSpaces();
        json::Value value = nullptr;
        if (!readValue(value, 0))
          return takeFailure();
        name = table + name;
        auto [before, isNew] = lines.try_emplace(name, at);
        if (!isNew)
          return fail("'" + name + "' is given twice, first in line " +
                      Twine(before->second));
        settings.push_back({name, std::move(value), at});
      }
      skipSpaces();
      skipComment();
      if (!rest.empty() && !rest.starts_with("\n"))
        return fail("expected the end of the line, got '" +
                    rest.take_until([](char c) { return c == '\n'; }) + "'");
    }
    return std::move(settings);
  }

private:
  static constexpr int kDeepest = 16;

  Error fail(const Twine &message) {
    return makeError(where + ":" + Twine(line) + ": " + message);
  }
  bool stop(const Twine &message) {
    failure = (where + ":" + Twine(line) + ": " + message).str();
    return false;
  }
  Error takeFailure() { return makeError(failure); }

  void skipSpaces() { rest = rest.ltrim(" \t\r"); }
  void skipComment() {
    if (rest.starts_with("#"))
      rest = rest.drop_until([](char c) { return c == '\n'; });
  }
  /// To the next thing that means something; false at the end.
  bool skipBlank() {
    while (true) {
      skipSpaces();
      skipComment();
      if (!rest.consume_front("\n"))
        return !rest.empty();
      ++line;
    }
  }

  bool readKey(std::string &name) {
    while (true) {
      skipSpaces();
      if (rest.starts_with("\"") || rest.starts_with("'")) {
        std::string part;
        if (!readText(part))
          return false;
        name += part;
      } else {
        StringRef part = rest.take_while(
            [](char c) { return isAlnum(c) || c == '_' || c == '-'; });
        if (part.empty())
          return stop("expected a key, got '" +
                      rest.take_until([](char c) { return c == '\n'; }) + "'");
        name += part;
        rest = rest.drop_front(part.size());
      }
      skipSpaces();
      if (!rest.consume_front("."))
        return true;
      name += ".";
    }
  }

  bool readText(std::string &out) {
    char quote = rest.front();
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''"))
      return stop("texts over several lines are not read");
    rest = rest.drop_front();
    while (true) {
      if (rest.empty() || rest.front() == '\n')
        return stop(Twine("a text lacks its closing ") + Twine(quote));
      char c = rest.front();
      rest = rest.drop_front();
      if (c == quote)
        return true;
      if (c != '\\' || quote == '\'') {
        out += c;
        continue;
      }
      char escaped = rest.empty() ? '\0' : rest.front();
      StringRef known = "btnfr\"\\", means = "\b\t\n\f\r\"\\";
      size_t which = known.find(escaped);
      if (which == StringRef::npos)
        return stop(Twine("unknown escape '\\") + Twine(escaped) + "'");
      out += means[which];
      rest = rest.drop_front();
    }
  }

  bool readArray(json::Value &out, int depth) {
    json::Array values;
    while (true) {
      if (!skipBlank())
        return stop("an array lacks its closing ']'");
      if (rest.consume_front("]"))
        break;
      json::Value value = nullptr;
      if (!readValue(value, depth + 1))
        return false;
      values.push_back(std::move(value));
      if (!skipBlank())
        return stop("an array lacks its closing ']'");
      if (!rest.consume_front(",") && !rest.starts_with("]"))
        return stop("expected ',' or ']' in an array");
    }
    out = std::move(values);
    return true;
  }

  bool readValue(json::Value &out, int depth) {
    if (depth > kDeepest)
      return stop("arrays are nested more than " + Twine(kDeepest) + " deep");
    if (rest.starts_with("\"") || rest.starts_with("'")) {
      std::string text;
      if (!readText(text))
        return false;
      out = std::move(text);
      return true;
    }
    if (rest.consume_front("["))
      return readArray(out, depth);
    if (rest.starts_with("{"))
      return stop("inline tables ('{...}') are not read");
    StringRef word = rest.take_until(
        [](char c) { return StringRef(" \t\r\n,]#").contains(c); });
    rest = rest.drop_front(word.size());
    std::string digits = word.str();
    erase(digits, '_');
    int64_t integer = 0;
    double real = 0;
    if (word == "true" || word == "false")
      out = word == "true";
    else if (!StringRef(digits).getAsInteger(0, integer))
      out = integer;
    else if (StringRef(digits).find_first_not_of("+-.0123456789eE") ==
                 StringRef::npos &&
             !StringRef(digits).getAsDouble(real))
      out = real;
    else
      return stop("'" + word + "' is no value; texts need quotes");
    return true;
  }

  StringRef rest, where;
  int line = 1;
  std::string failure;
  StringSet<> tables;
  StringMap<int> lines; ///< where a key was given
  Settings settings;
};
} // namespace

Expected<Settings> exports::readToml(StringRef text, StringRef where) {
  return TomlReader(text, where).read();
}

std::string exports::writeToml(ArrayRef<Setting> settings,
                               ArrayRef<std::string> comments) {
  std::string text;
  raw_string_ostream os(text);
  for (const std::string &comment : comments)
    os << "# " << comment << "\n";
  std::vector<std::string> done;
  for (const Setting &first : settings) {
    StringRef table = StringRef(first.key).rsplit('.').first;
    if (is_contained(done, table))
      continue;
    done.push_back(table.str());
    os << (text.empty() ? "" : "\n") << "[" << table << "]\n";
    // JSON's texts, numbers, booleans and arrays are TOML's as well.
    for (const Setting &s : settings)
      if (StringRef(s.key).rsplit('.').first == table)
        os << StringRef(s.key).rsplit('.').second << " = " << s.value << "\n";
  }
  return text;
}
