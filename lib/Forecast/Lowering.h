//===- Lowering.h - what a software stack makes of a rank's program -------===//
//
// The graph says what has to be computed. Training stacks differ in how: which
// products are one, whether attention is fused, in how many kernels an
// element-wise op runs, what is kept in 8 bits, how weight gradients are added
// up. This is the one place for that; it looks at an op's role and the stack's
// traits, never at the model.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_FORECAST_LOWERING_H
#define TESSERA_LIB_FORECAST_LOWERING_H

#include "lib/Forecast/Backward.h"
#include "tessera/Planning/FeatureSource.h"

namespace tessera::forecast {

/// Looks at nothing of the layout but tp, sp, cp and its kind, whether
/// parameters are sharded, and for blocks with experts ep and the dispatcher.
BlockFeatures lowerToStack(const RankBlock &block, const BlockFacts &facts,
                           const Layout &layout, const FeatureQuery &query);

/// The role of what a linear's result ends up in, biases, positions and norms
/// of heads apart; View where there is no such thing.
OpRole consumer(const RankBlock &block, int op);
/// By op: the first product that a stack may make one with it (BlockFacts).
std::vector<JointProduct> jointProducts(const RankBlock &block);

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_LOWERING_H
