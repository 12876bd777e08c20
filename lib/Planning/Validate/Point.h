//===- Point.h - one published measurement --------------------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_POINT_H
#define TESSERA_LIB_PLANNING_VALIDATE_POINT_H

#include "Csv.h"
#include <cstdint>

namespace tessera {

enum class Metric : uint8_t {
  StepTime,
  TokensPerSecond,
  Tflops,
  Mfu,
  Memory,
  GpuHours,
  Days,
};
llvm::StringRef nameOf(Metric metric);

/// A row of the file; 0 or "" where the source says nothing.
struct Point {
  /// Software by the name of --stack; "": by the words of the row.
  std::string stack;
  std::string id, run, source, table, model, chip, interconnect, precision;
  std::string sequenceParallel, recompute, notes;
  int64_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, ffn = 0, vocab = 0;
  int64_t sequence = 0, experts = 0, topk = 0;
  double paramsB = 0, activeB = 0;
  int64_t gpus = 0, gpusPerNode = 0, dp = 0, tp = 0, pp = 0, ep = 0, cp = 0;
  int64_t zeroStage = -1, vpp = 0;
  bool interleaved = false; ///< stages are, how finely is not said
  int64_t microBatch = 0, globalBatch = 0;
  Metric metric = Metric::StepTime;
  double value = 0;
  /// The note says so, or says nothing and all that a prediction needs is
  /// there.
  bool complete = false;
  unsigned line = 0;
  /// A field that cannot be read ("p.csv:7: column 'dp': ..."); the row is of
  /// no use then, the others are.
  std::string problem;
};

/// The columns of such a file, and a row that shows what goes into them.
std::string pointsTemplate();

/// Fails on missing columns, and where no row at all can be read.
llvm::Expected<std::vector<Point>> readPoints(llvm::StringRef text,
                                              llvm::StringRef name);

/// The number after "key=" in a note ("moe_ffn=2048"), or 0.
int64_t noteNumber(llvm::StringRef notes, llvm::StringRef key);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_POINT_H
