//===- Wrap.cpp - running text that fits a terminal -----------------------===//
#include "tessera/Support/Wrap.h"
#include "tessera/Support/Table.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Locale.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

unsigned tessera::textWidth() { return std::min(terminalWidth(), 100u); }

static size_t columns(StringRef text) {
  int width = sys::locale::columnWidth(text);
  return width < 0 ? text.size() : size_t(width);
}

/// Fills lines with `words`, the first of `first` columns, the others of
/// `width`.
static std::vector<std::string> fill(ArrayRef<StringRef> words, size_t first,
                                     size_t width) {
  std::vector<std::string> lines(1);
  size_t used = 0, room = first;
  for (StringRef word : words) {
    size_t size = columns(word);
    if (used > 0 && used + 1 + size > room) {
      lines.emplace_back();
      used = 0;
      room = width;
    }
    if (used > 0)
      lines.back() += " ";
    lines.back() += word;
    used += (used > 0) + size;
  }
  return lines;
}

static std::vector<StringRef> wordsOf(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

std::vector<std::string> tessera::wrapText(StringRef text, size_t width) {
  return fill(wordsOf(text), width, width);
}

void tessera::printWrapped(raw_ostream &out, StringRef text, unsigned hang) {
  size_t width = textWidth();
  bool isFirst = true;
  for (const std::string &line :
       fill(wordsOf(text), width, std::max<size_t>(width - hang, 1))) {
    out.indent(isFirst ? 0 : hang) << line << "\n";
    isFirst = false;
  }
}

/// The words of a command line, quotes and what is in them kept together.
static std::vector<StringRef> shellWords(StringRef text) {
  std::vector<StringRef> words;
  size_t begin = 0;
  char quote = 0;
  bool escapes = true; // not within '...', but within $'...'
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && escapes) {
      ++i; // what follows is taken as it is
    } else if (quote) {
      if (c == quote) {
        quote = 0;
        escapes = true;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      escapes = c == '"' || (i > 0 && text[i - 1] == '$');
    } else if (c == ' ') {
      if (i > begin)
        words.push_back(text.slice(begin, i));
      begin = i + 1;
    }
  }
  if (begin < text.size())
    words.push_back(text.drop_front(begin));
  return words;
}

/// An option and its value stay on one line: pairs "--option value" as one
/// slice of the text.
static std::vector<StringRef> shellPieces(StringRef text) {
  std::vector<StringRef> pieces;
  for (StringRef word : shellWords(text)) {
    StringRef last = pieces.empty() ? StringRef() : pieces.back();
    bool isValue = last.starts_with("-") && !last.contains(' ') &&
                   !last.contains('=') && !word.starts_with("-");
    if (isValue)
      pieces.back() = StringRef(last.data(), size_t(word.end() - last.data()));
    else
      pieces.push_back(word);
  }
  return pieces;
}

std::vector<std::string> tessera::commandLines(StringRef command,
                                               size_t width) {
  // Two columns for the backslash, two of further indentation.
  size_t first = width > 2 ? width - 2 : 1;
  std::vector<std::string> lines =
      fill(shellPieces(command), first, first > 2 ? first - 2 : 1);
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i] = (i ? "  " : "") + lines[i] + (i + 1 < lines.size() ? " \\" : "");
  return lines;
}

void tessera::printCommand(raw_ostream &out, StringRef command,
                           unsigned indent) {
  size_t width = textWidth();
  for (const std::string &line :
       commandLines(command, width > indent ? width - indent : 1))
    out.indent(indent) << line << "\n";
}
