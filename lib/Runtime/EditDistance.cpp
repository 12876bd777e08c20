//===- EditDistance.cpp - which name was meant ----------------------------===//
//
// One row of the table of Wagner and Fischer, "The String-to-String Correction
// Problem" (1974).
//
//===----------------------------------------------------------------------===//
#include "EditDistance.h"

#include <algorithm>
#include <vector>

size_t tessera::rt::editDistance(const std::string &a, const std::string &b,
                                 size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit)
    return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min(
          {row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}
