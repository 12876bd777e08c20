//===- ChunkSum.h - what a pipeline chunk adds up to ------------*- C++ -*-===//
//
// Shared by the parts of stepTime: chunks and stages as sums over their blocks.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_COSTMODEL_CHUNKSUM_H
#define TESSERA_LIB_COSTMODEL_CHUNKSUM_H

#include "tessera/CostModel/Step.h"

namespace tessera {

/// What one chunk or stage adds up to for one microbatch.
struct ChunkSum {
  PassTime forward, backward, recompute;
  double denseParameters = 0, expertParameters = 0;
  void add(const BlockFeatures &block, const BlockTime &t, double count) {
    auto into = [&](PassTime &a, const PassTime &b) {
      a.compute += count * b.compute;
      a.weightGradient += count * b.weightGradient;
      a.host += count * b.host;
      for (int i = 0; i < kNumParallelAxes; ++i)
        a.exposed[i] += count * b.exposed[i];
    };
    into(forward, t.forward);
    into(backward, t.backward);
    into(recompute, t.recompute);
    denseParameters += count * block.denseParameters;
    expertParameters += count * block.expertParameters;
  }
};

/// What one stage does after its last backward pass, in seconds.
struct EndOfStep {
  double communication = 0; ///< gradient reduction, parameter gathering
  double optimizer = 0;
};
EndOfStep endOfStep(const ChunkSum &stage, const Layout &layout,
                    const Workload &workload, const StepModel &model);

} // namespace tessera

#endif // TESSERA_LIB_COSTMODEL_CHUNKSUM_H
