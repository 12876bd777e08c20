//===- Reports.h - Defects found during a launch ----------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_REPORTS_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_REPORTS_H

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera {
namespace vgpu {

enum class Defect : uint8_t {
  SharedRace,
  OutOfBounds,
  Misaligned,
  Uninitialised,
  MissingWait,
};

/// Collects the reports of all workers of one launch. One report per kind and
/// pair of source operations: a race in a loop is one defect, not thousands.
class Reports {
public:
  explicit Reports(uint32_t limit) : limit(limit ? limit : 16) {}

  /// Whether a defect between these two operations is new and will be shown.
  bool wants(Defect kind, uint32_t location, uint32_t other) {
    std::lock_guard<std::mutex> lock(mutex);
    return seen.insert({kind, {location, other}}).second &&
           lines.size() < limit;
  }
  void add(std::string line) {
    std::lock_guard<std::mutex> lock(mutex);
    lines.push_back(std::move(line));
  }
  /// All lines, or "".
  std::string text() const {
    std::string all;
    for (const std::string &line : lines)
      all += (all.empty() ? "" : "\n") + line;
    if (seen.size() > lines.size() && !lines.empty())
      all += "\n" + std::to_string(seen.size() - lines.size()) +
             " more defects not shown";
    return all;
  }

private:
  std::mutex mutex;
  uint32_t limit;
  std::set<std::pair<Defect, std::pair<uint32_t, uint32_t>>> seen;
  std::vector<std::string> lines;
};

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_REPORTS_H
