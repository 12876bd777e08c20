//===- Mutations.h - what a hand or a disk does to a text file ------------===//
//
// Systematic, not random: every line and every value of the file is hit by
// every kind of damage, so that a failure names its cause.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_SUPPORT_MUTATIONS_H
#define TESSERA_TEST_SUPPORT_MUTATIONS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <iterator>
#include <string>

namespace tessera::test {

struct Mutation {
  std::string what, text;
};

/// A number (or true, false, a word in quotes) as it stands in the text.
struct Token {
  size_t begin, end;
};

inline llvm::SmallVector<Token> valuesIn(llvm::StringRef text) {
  llvm::SmallVector<Token> out;
  auto part = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#') // a comment
      i = std::min(text.find('\n', i), text.size() - 1);
    if (!part(text[i]))
      continue;
    size_t end = i;
    while (end < text.size() && part(text[end]))
      ++end;
    llvm::StringRef word = text.slice(i, end);
    int64_t number;
    if (!word.getAsInteger(10, number) || word == "true" || word == "false" ||
        word == "null")
      out.push_back({i, end});
    i = end;
  }
  return out;
}

inline void mutate(llvm::StringRef text,
                   llvm::function_ref<void(const Mutation &)> take) {
  auto splice = [&](size_t begin, size_t end, const llvm::Twine &with) {
    return (text.take_front(begin) + with + text.drop_front(end)).str();
  };
  auto at = [](llvm::StringRef what, size_t place) {
    return (what + " at byte " + llvm::Twine(place)).str();
  };

  take({"empty", ""});
  take({"blanks only", " \n\t\n  \n"});
  take({"byte order mark", "\xEF\xBB\xBF" + text.str()});
  take({"twice over", text.str() + text.str()});
  std::string crlf, tabs;
  for (char c : text)
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
  take({"lines that end in CR LF", crlf});
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    llvm::StringRef inner = line.ltrim(' ');
    tabs += std::string((line.size() - inner.size() + 1) / 2, '\t') +
            inner.str() + "\n";
    rest = after;
  }
  take({"tabs instead of blanks", tabs});

  // Cut off, and one byte replaced, wherever a word begins or ends.
  static const llvm::StringRef kBytes[] = {llvm::StringRef("\0", 1),
                                           "\xFF",
                                           "\xE2\x82\xAC",
                                           "\"",
                                           "'",
                                           "[",
                                           "}",
                                           "\n",
                                           "#",
                                           "$",
                                           "\\",
                                           ":",
                                           "="};
  size_t kind = 0;
  char before = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool border =
        llvm::isAlnum(c) != llvm::isAlnum(before) || !llvm::isAlnum(c);
    before = c;
    if (!border)
      continue;
    take({at("cut off", i), text.take_front(i).str()});
    // Three of them in turn: the borders of a file are many.
    for (int n = 0; n < 3; ++n) {
      llvm::StringRef with = kBytes[kind++ % std::size(kBytes)];
      take({at(("byte 0x" + llvm::toHex(with)).c_str(), i),
            splice(i, i + 1, with)});
    }
  }

  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    llvm::StringRef line = text.slice(begin, end);
    take({at("line left out", begin), splice(begin, end, "")});
    take({at("line twice", begin), splice(begin, begin, line)});
    take({at("line at the end again", begin), text.str() + line.str()});
    begin = end;
  }

  for (Token t : valuesIn(text))
    for (llvm::StringRef with : {"0",
                                 "-1",
                                 "1.5",
                                 "1e3",
                                 "7",
                                 "2147483647",
                                 "2147483648",
                                 "9223372036854775807",
                                 "99999999999999999999",
                                 "1e999",
                                 "nan",
                                 "-0",
                                 "0x10",
                                 "\"2\"",
                                 "\"two\"",
                                 "true",
                                 "false",
                                 "null",
                                 "~",
                                 "auto",
                                 "[]",
                                 "[1, 2]",
                                 "{}",
                                 "{a: 1}",
                                 "\xCF\x80",
                                 "$N",
                                 "$(nproc)",
                                 "*a",
                                 "",
                                 " "})
      take(
          {at(("value " + with).str(), t.begin), splice(t.begin, t.end, with)});
  llvm::SmallVector<Token> values = valuesIn(text);
  if (!values.empty())
    for (llvm::StringRef bracket : {"[", "{\"a\":", "- ", "${A:-", "("}) {
      std::string deep;
      for (int i = 0; i < 20000; ++i)
        deep += bracket;
      take({("deep " + bracket).str(),
            splice(values.back().begin, values.back().end, deep)});
    }
}

/// "" where `message` is one line of text that begins with `where` (in quotes
/// or not), else what is wrong with it.
inline std::string complaint(llvm::StringRef message, llvm::StringRef where) {
  message.consume_front("'");
  if (!message.starts_with(where))
    return "does not begin with the file's name";
  if (message.size() > 2000)
    return "is too long";
  if (!llvm::json::isUTF8(message) ||
      llvm::any_of(message, [](char c) { return (unsigned char)c < 0x20; }))
    return "is no single line of text";
  return "";
}

} // namespace tessera::test

#endif // TESSERA_TEST_SUPPORT_MUTATIONS_H
