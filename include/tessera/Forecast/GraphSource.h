//===- GraphSource.h - features from a model's graph ----------------------===//
//
// Builds the graph of a model and answers for any layout what one rank's
// program costs: the compiler's own plan and partition for the axes that it
// knows, the ops' cost interface on the local shapes that the layout implies,
// and what the software stack makes of each op. Plain C++ for its users.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_FORECAST_GRAPHSOURCE_H
#define TESSERA_FORECAST_GRAPHSOURCE_H

#include "tessera/Planning/FeatureSource.h"

namespace tessera {

/// A source that builds graphs of `config` as they are asked for and keeps
/// what it worked out. Not for several threads at once.
llvm::Expected<FeatureSourcePtr> makeGraphSource(const ModelConfig &config);

} // namespace tessera

#endif // TESSERA_FORECAST_GRAPHSOURCE_H
