//===- Table.cpp - text tables that fit a terminal ------------------------===//
#include "tessera/Support/Table.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Locale.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace tessera;

unsigned tessera::terminalWidth() {
  if (auto columns = sys::Process::GetEnv("COLUMNS")) {
    unsigned n = 0;
    if (!StringRef(*columns).getAsInteger(10, n) && n >= 20)
      return n;
  }
  unsigned n = sys::Process::StandardOutColumns();
  return n >= 20 ? n : 100;
}

TextTable &TextTable::column(StringRef header, Align align, bool mayShrink) {
  headers.push_back(header.str());
  shrinks.push_back(mayShrink);
  aligns.push_back(align);
  return *this;
}

void TextTable::row(std::vector<std::string> cells) {
  assert(cells.size() <= headers.size() && "more cells than columns");
  cells.resize(headers.size());
  rows.push_back(std::move(cells));
}

void TextTable::rule() { rows.emplace_back(); }

static int displayWidth(StringRef s) {
  int w = sys::locale::columnWidth(s);
  return w < 0 ? static_cast<int>(s.size()) : w;
}

/// Shortens to `width` columns by whole UTF-8 sequences.
static std::string shorten(StringRef s, int width) {
  if (displayWidth(s) <= width)
    return s.str();
  std::string out;
  int room = std::max(0, width - 2);
  for (size_t i = 0; i < s.size();) {
    size_t n = 1;
    while (i + n < s.size() &&
           (static_cast<unsigned char>(s[i + n]) & 0xC0) == 0x80)
      ++n;
    if (displayWidth(out) + 1 > room)
      break;
    out += s.substr(i, n);
    i += n;
  }
  return out + "..";
}

void TextTable::print(raw_ostream &os) const { print(os, terminalWidth()); }

void TextTable::print(raw_ostream &os, unsigned width) const {
  std::vector<int> widths;
  // Lines of the headers, which stand on the rule.
  std::vector<std::vector<std::string>> head;
  for (size_t i = 0; i < headers.size(); ++i) {
    SmallVector<StringRef> lines;
    StringRef(headers[i]).split(lines, '\n');
    if (lines.size() > head.size())
      head.insert(head.begin(), lines.size() - head.size(),
                  std::vector<std::string>(headers.size()));
    size_t first = head.size() - lines.size();
    widths.push_back(0);
    for (size_t j = 0; j < lines.size(); ++j) {
      head[first + j][i] = lines[j].str();
      widths.back() = std::max(widths.back(), displayWidth(lines[j]));
    }
  }
  for (const auto &r : rows)
    for (size_t i = 0; i < r.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(r[i]));
  auto total = [&] {
    int t = 0;
    for (int w : widths)
      t += w + 2;
    return t - 2;
  };
  // Take one column at a time from the widest left-aligned column.
  while (total() > static_cast<int>(width)) {
    int widest = -1;
    for (size_t i = 0; i < widths.size(); ++i)
      if (aligns[i] == Align::Left && shrinks[i] && widths[i] > 8 &&
          (widest < 0 || widths[i] > widths[widest]))
        widest = static_cast<int>(i);
    if (widest < 0)
      break;
    --widths[widest];
  }
  auto line = [&](const std::vector<std::string> &cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string cell =
          aligns[i] == Align::Left ? shorten(cells[i], widths[i]) : cells[i];
      std::string pad(std::max(0, widths[i] - displayWidth(cell)), ' ');
      text += aligns[i] == Align::Left ? cell + pad : pad + cell;
      text += "  ";
    }
    os << StringRef(text).rtrim() << '\n';
  };
  std::string bar(std::max(0, total()), '-');
  for (const std::vector<std::string> &cells : head)
    line(cells);
  os << bar << '\n';
  for (const auto &r : rows) {
    if (r.empty())
      os << bar << '\n';
    else
      line(r);
  }
}
