//===- AnyLayout.h - layouts drawn at random for the tests of exports -----===//
#ifndef TESSERA_TEST_UNIT_PLANNING_ANYLAYOUT_H
#define TESSERA_TEST_UNIT_PLANNING_ANYLAYOUT_H

#include "tessera/Planning/Export.h"
#include <random>

namespace tessera::test {

class Dice {
public:
  explicit Dice(unsigned seed) : random(seed) {}
  int below(int n) { return static_cast<int>(random() % n); }
  bool coin() { return below(2) != 0; }
  int power(int n) { return 1 << below(n); }

private:
  std::mt19937 random;
};
/// Any layout that is consistent.
inline ExportInput anyInput(Dice &dice) {
  ExportInput input;
  Layout &l = input.layout;
  do {
    l = Layout();
    l.dp = dice.power(5) * (dice.below(4) ? 1 : 3);
    l.shardGroup = dice.coin() ? 0 : std::max(1, l.dp >> dice.below(3));
    l.zeroStage = dice.below(4);
    l.tp = dice.power(4);
    l.sequenceParallel = dice.coin();
    l.cp = dice.power(3);
    l.contextKind = static_cast<ContextKind>(dice.below(3));
    l.pp = dice.power(4);
    l.vpp = l.pp > 1 ? 1 + dice.below(3) : 1;
    l.ep = dice.power(4);
    l.etp = dice.power(3);
    l.recompute = static_cast<RecomputeKind>(dice.below(3));
    if (l.recompute == RecomputeKind::Full)
      l.recomputeLayers = dice.below(3);
    l.microBatch = 1 + dice.below(3);
    l.schedule = static_cast<ScheduleKind>(dice.below(4));
    l.dispatcher = static_cast<DispatcherKind>(dice.below(3));
    l.overlapGradients = dice.coin();
    l.overlapParameters = dice.coin();
    l.overlapTensorParallel = dice.coin();
    l.overlapExperts = dice.coin();
    l.overlapPipeline = dice.coin();
    if (l.pp > 1 && dice.coin())
      for (int c = 0; c < l.pp * l.vpp; ++c)
        l.chunkLayers.push_back(1 + dice.below(3));
    if (llvm::Error error = l.check()) {
      llvm::consumeError(std::move(error));
      l.dp = 0;
    }
  } while (l.dp == 0);
  int64_t layers = 0;
  for (int n : l.chunkLayers)
    layers += n;
  input.layers = layers ? layers : int64_t(l.pp) * l.vpp * 2;
  input.experts = l.ep > 1;
  input.workload.globalBatch =
      int64_t(l.dp) * l.microBatch * (1 + dice.below(8));
  input.workload.sequence = 1024 * dice.power(4);
  return input;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_PLANNING_ANYLAYOUT_H
