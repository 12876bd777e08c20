//===- Csv.h - comma-separated values with a header -----------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_CSV_H
#define TESSERA_LIB_PLANNING_VALIDATE_CSV_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tessera {

/// RFC 4180: quoted fields may hold commas, line breaks and doubled quotes.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<unsigned> lines; ///< where each row begins
  llvm::StringMap<unsigned> columns;

  /// Empty where the column is unknown.
  llvm::StringRef field(size_t row, llvm::StringRef column) const;
};

/// Fails on an unterminated quote or a row with the wrong number of fields.
llvm::Expected<CsvTable> parseCsv(llvm::StringRef text, llvm::StringRef name);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_CSV_H
