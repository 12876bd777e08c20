//===- Progress.h - what is being done, for people --------------*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_PROGRESS_H
#define TESSERA_LIB_PIPELINES_PROGRESS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>

namespace tessera {

/// Shows the running step on a terminal (one line, rewritten) and keeps the
/// times of all steps.
class Progress {
public:
  Progress(bool show, unsigned total) : show(show), total(total) {}
  ~Progress() { clear(); }

  void begin(llvm::StringRef name) {
    current = name.str();
    ++number;
    if (show)
      llvm::errs() << llvm::formatv("\r\033[K[{0}/{1}] {2}", number, total,
                                    current);
    start = Clock::now();
  }
  void end() {
    times.push_back(
        {current, std::chrono::duration<double>(Clock::now() - start).count()});
  }
  /// Takes the progress line away.
  void clear() {
    if (show)
      llvm::errs() << "\r\033[K";
  }
  void printTimes(llvm::raw_ostream &out) const {
    double sum = 0;
    for (auto &[name, seconds] : times) {
      out << llvm::formatv("{0,8:f3} s  {1}\n", seconds, name);
      sum += seconds;
    }
    out << llvm::formatv("{0,8:f3} s  total\n", sum);
  }

private:
  using Clock = std::chrono::steady_clock;
  bool show;
  unsigned total, number = 0;
  std::string current;
  Clock::time_point start;
  llvm::SmallVector<std::pair<std::string, double>> times;
};

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_PROGRESS_H
