//===- PrintCounts.cpp - prints what is counted ---------------------------===//
#include "tessera/Analysis/Passes.h"

#include "tessera/Analysis/Counts.h"

using namespace mlir;
using namespace tessera;

namespace tessera {
#define GEN_PASS_DEF_PRINTCOUNTS
#include "lib/Analysis/Passes.h.inc"
} // namespace tessera

static void printText(const ProgramCounts &counts, llvm::raw_ostream &os) {
  os << "matrix operations " << counts.forward.matmulFlops << '\n'
     << "vector operations " << counts.forward.vectorFlops << '\n'
     << "bytes read " << counts.forward.bytesRead << '\n'
     << "bytes written " << counts.forward.bytesWritten << '\n'
     << "parameter bytes " << counts.parameterBytes << '\n'
     << "peak live bytes " << counts.peakLiveBytes << '\n'
     << "arena bytes " << counts.arenaBytes << '\n';
  for (const auto &[key, count] : counts.collectives) {
    os << "collective " << key.op << " over ";
    llvm::interleave(key.axes, os, "x");
    os << ", " << key.dtype << " x " << key.count << ": " << count.calls
       << (count.calls == 1 ? " call, " : " calls, ") << count.bytes
       << " bytes\n";
  }
  for (const auto &[name, n] : counts.ops)
    os << "op " << name << ": " << n << '\n';
}

namespace {
struct PrintCountsPass : tessera::impl::PrintCountsBase<PrintCountsPass> {
  using PrintCountsBase::PrintCountsBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<ProgramCounts> counts = countProgram(getOperation());
    if (failed(counts))
      return signalPassFailure();
    if (json)
      llvm::outs() << llvm::formatv("{0:2}", counts->toJSON()) << '\n';
    else
      printText(*counts, llvm::outs());
  }
};
} // namespace
