//===- Csv.cpp - comma-separated values with a header ---------------------===//
#include "Csv.h"
#include "tessera/Support/Error.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace tessera;

StringRef CsvTable::field(size_t row, StringRef column) const {
  auto it = columns.find(column);
  return it == columns.end() ? StringRef() : StringRef(rows[row][it->second]);
}

Expected<CsvTable> tessera::parseCsv(StringRef text, StringRef name) {
  CsvTable table;
  text.consume_front("\xEF\xBB\xBF");
  size_t offset = 0;
  if (!json::isUTF8(text, &offset) || text.contains('\0'))
    return makeError(name + ":" +
                     Twine(text.take_front(offset).count('\n') + 1) +
                     ": is no text in UTF-8");
  std::vector<std::string> row;
  std::string field;
  unsigned line = 1, begin = 1;
  bool quoted = false, any = false;
  auto endRow = [&]() -> Error {
    row.push_back(std::move(field));
    field.clear();
    if (table.header.empty()) {
      table.header = row;
      for (auto [separator, word] :
           {std::pair(';', "semicolons"), {'\t', "tabs"}})
        if (row.size() == 1 && StringRef(row[0]).contains(separator))
          return makeError(name + ":" + Twine(begin) +
                           ": fields are separated by commas, the header has " +
                           word);
      for (size_t i = 0; i < row.size(); ++i)
        if (!table.columns.try_emplace(row[i], i).second)
          return makeError(name + ":" + Twine(begin) + ": column '" + row[i] +
                           "' is there twice");
    } else if (row.size() == table.header.size()) {
      table.rows.push_back(row);
      table.lines.push_back(begin);
    } else {
      return makeError(name + ":" + Twine(begin) + ": expected " +
                       Twine(table.header.size()) + " fields, got " +
                       Twine(row.size()));
    }
    row.clear();
    any = false;
    return Error::success();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    // Lines may end in "\n", "\r\n" or, from old programs, "\r".
    if (c == '\r' && !quoted && text.substr(i + 1, 1) != "\n")
      c = '\n';
    if (c == '\n')
      ++line;
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      row.push_back(std::move(field));
      field.clear();
      any = true;
    } else if (c == '\n') {
      if (any || !row.empty())
        if (Error e = endRow())
          return e;
      begin = line;
    } else if (c != '\r') {
      field += c;
      any = true;
    }
  }
  if (quoted)
    return makeError(name + ":" + Twine(begin) + ": a quote is not closed");
  if (any || !row.empty())
    if (Error e = endRow())
      return e;
  if (table.header.empty())
    return makeError(name + ": no header line");
  return table;
}
