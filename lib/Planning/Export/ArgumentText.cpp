//===- ArgumentText.cpp - settings as command-line arguments --------------===//
//
// Training scripts hold their arguments in shell arrays, quoted texts or plain
// lines. This reader finds every `--option value...` in such a text, follows
// variables that the text itself sets to a plain value (`GPUS_PER_NODE=8`,
// `${NODES:-4}`), and runs nothing: a value from a command or an arithmetic
// expression stays as it is written. Options are kept with dashes, whether
// they were written with dashes or underscores.
//
//===----------------------------------------------------------------------===//
#include "Settings.h"

#include "tessera/Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

namespace {
class ArgumentReader {
public:
  ArgumentReader(StringRef where) : where(where) {}

  Settings settings;

  Error read(StringRef text, int line) {
    open = npos;
    while (true) {
      text = skipBlanks(text, line);
      if (text.empty())
        return Error::success();
      int at = line;
      bool quoted = false;
      std::string word;
      if (Error error = takeWord(text, line, word, quoted))
        return error;
      if (Error error = take(word, quoted, at))
        return error;
    }
  }

private:
  static constexpr size_t npos = ~size_t(0);

  /// A line's end closes an option: its values stand beside it.
  StringRef skipBlanks(StringRef text, int &line) {
    while (!text.empty()) {
      if (text.front() == '#') {
        text = text.drop_until([](char c) { return c == '\n'; });
      } else if (text.front() == '\n') {
        ++line;
        open = npos;
        text = text.drop_front();
      } else if (isSpace(text.front()) || text.front() == '\\') {
        text = text.drop_front();
      } else {
        break;
      }
    }
    return text;
  }

  Error takeWord(StringRef &text, int &line, std::string &word, bool &quoted) {
    int start = line;
    while (!text.empty() && !isSpace(text.front())) {
      char c = text.front();
      if (c == '"' || c == '\'') {
        size_t end = text.find(c, 1);
        if (end == StringRef::npos)
          return makeError(where + ":" + Twine(start) +
                           ": a quoted text lacks its closing " + Twine(c));
        StringRef inside = text.slice(1, end);
        line += static_cast<int>(inside.count('\n'));
        word += inside;
        text = text.drop_front(end + 1);
        quoted = true;
        continue;
      }
      if (text.starts_with("$(") || text.starts_with("${")) {
        // One unit up to its own closing bracket.
        char opening = text[1], closing = opening == '(' ? ')' : '}';
        size_t depth = 0, end = 1;
        for (; end < text.size(); ++end) {
          depth += text[end] == opening;
          if (text[end] == closing && --depth == 0)
            break;
        }
        if (end >= text.size())
          return makeError(where + ":" + Twine(start) + ": '$" +
                           Twine(opening) + "' lacks its closing '" +
                           Twine(closing) + "'");
        word += text.take_front(end + 1);
        text = text.drop_front(end + 1);
        continue;
      }
      // `NAME=(` and `)` stand by themselves.
      if (c == '(' || c == ')') {
        if (!word.empty() && c == ')')
          return Error::success();
        text = text.drop_front();
        word += c;
        return Error::success();
      }
      word += c;
      text = text.drop_front();
    }
    return Error::success();
  }

  /// `$NAME`, `${NAME}` and `${NAME:-default}` for what the text has set.
  std::string expand(StringRef text) const {
    while (text.starts_with("$")) {
      StringRef name = text.drop_front(), fallback;
      bool hasDefault = false;
      if (name.consume_front("{") && name.consume_back("}")) {
        hasDefault = name.contains(":-");
        std::tie(name, fallback) = name.split(":-");
      }
      auto found = variables.find(name);
      if (found != variables.end())
        return found->second;
      if (!hasDefault)
        break;
      text = fallback.trim("\"'"); // may be one again
    }
    return text.str();
  }

  static json::Value valueOf(StringRef text) {
    int64_t integer = 0;
    if (!text.getAsInteger(10, integer))
      return integer;
    return text.str(); // json::Value would only point at a StringRef
  }

  void add(StringRef name, int line) {
    std::string key = name.str();
    std::replace(key.begin(), key.end(), '_', '-');
    auto [place, isNew] = places.try_emplace(key, settings.size());
    // The last mention wins, as in argparse.
    if (isNew)
      settings.push_back({key, true, line});
    else
      settings[place->second] = {key, true, line};
    open = place->second;
  }

  Error take(StringRef word, bool quoted, int line) {
    StringRef option = word;
    if (option.consume_front("--") && !option.empty()) {
      auto [name, value] = option.split('=');
      add(name, line);
      if (option.contains('=')) {
        settings[open].value = valueOf(expand(value));
        open = npos;
      }
      return Error::success();
    }
    StringRef name =
        word.take_while([](char c) { return isAlnum(c) || c == '_'; });
    StringRef value = word.drop_front(name.size());
    if (!name.empty() && !isDigit(name.front()) &&
        (value.consume_front("+=") || value.consume_front("="))) {
      open = npos;
      if (value == "(")
        return Error::success();
      // GPT_ARGS="--num-layers 24 ..." holds options; others are values.
      if (value.contains("--"))
        return read(value, line);
      variables[name] = expand(value);
      return Error::success();
    }
    if (word == ")" || word == "(" || word.ends_with(".py")) {
      open = npos;
      return Error::success();
    }
    if (open == npos || word.contains("[@]"))
      return Error::success();
    json::Value &held = settings[open].value;
    json::Value next =
        quoted ? json::Value(expand(word)) : valueOf(expand(word));
    if (held.getAsBoolean())
      held = std::move(next);
    else if (json::Array *list = held.getAsArray())
      list->push_back(std::move(next));
    else
      held = json::Array{std::move(held), std::move(next)};
    return Error::success();
  }

  StringRef where;
  StringMap<std::string> variables;
  StringMap<size_t> places; ///< of an option in `settings`
  size_t open = npos;       ///< the option that takes the next values
};
} // namespace

Expected<Settings> exports::readArguments(StringRef text, StringRef where) {
  ArgumentReader reader(where);
  if (Error error = reader.read(text, 1))
    return std::move(error);
  return std::move(reader.settings);
}

std::string exports::writeArguments(ArrayRef<Setting> settings,
                                    ArrayRef<std::string> comments) {
  std::string text;
  raw_string_ostream os(text);
  for (const std::string &comment : comments)
    os << "# " << comment << "\n";
  auto isLauncher = [](const Setting &s) {
    return s.key == "nnodes" || s.key == "nproc-per-node";
  };
  auto write = [&](const Setting &s) {
    os << " --" << s.key;
    if (s.value.getAsBoolean())
      return;
    auto one = [&](const json::Value &v) {
      std::string word = shown(v);
      os << " "
         << (StringRef(word).find_first_of("|()* ") == StringRef::npos
                 ? word
                 : "'" + word + "'");
    };
    if (const json::Array *list = s.value.getAsArray())
      for (const json::Value &v : *list)
        one(v);
    else
      one(s.value);
  };
  os << "torchrun";
  for (const Setting &s : settings)
    if (isLauncher(s))
      write(s);
  os << " pretrain_gpt.py";
  for (const Setting &s : settings)
    if (!isLauncher(s)) {
      os << " \\\n   ";
      write(s);
    }
  os << "\n";
  return text;
}
