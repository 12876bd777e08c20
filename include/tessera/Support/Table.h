//===- Table.h - text tables that fit a terminal --------------------------===//
#ifndef TESSERA_SUPPORT_TABLE_H
#define TESSERA_SUPPORT_TABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tessera {

/// Collects rows and prints them in aligned columns. Where the table would be
/// wider than the terminal the widest left-aligned columns are shortened with
/// "..", never the numbers.
class TextTable {
public:
  enum class Align { Left, Right };

  /// A left-aligned column that may not shrink keeps its text whole. A header
  /// may have several lines, "nccl\nbuffers".
  TextTable &column(llvm::StringRef header, Align align = Align::Right,
                    bool mayShrink = true);
  /// One cell per column; missing cells are empty, further ones an assertion.
  void row(std::vector<std::string> cells);
  /// A thin rule between the rows added so far and the next.
  void rule();
  bool empty() const { return rows.empty(); }
  void print(llvm::raw_ostream &os, unsigned width) const;
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::string> headers;
  std::vector<Align> aligns;
  std::vector<bool> shrinks;
  std::vector<std::vector<std::string>> rows; ///< an empty row is a rule
};

/// Columns of the terminal: $COLUMNS, the terminal behind standard output, or
/// 100 where there is none.
unsigned terminalWidth();

} // namespace tessera

#endif // TESSERA_SUPPORT_TABLE_H
