//===- UnbuiltAxes.h - axes the partitioner does not build yet ------------===//
//
// The one place for what parallel axes do to a rank's program where the
// partitioner cannot be asked because it does not know the axis: context
// parallelism and expert parallelism. It shrinks as they arrive there.
//
//  - Context parallelism divides the positions. An attention's work is the
//    whole sequence's divided evenly (load-balanced halves, each rank has an
//    early and a late slice), and keys and values, or heads, are exchanged.
//  - Expert parallelism divides the experts' weights. Rows travel to their
//    experts and back (ProgramReader::exchange puts the exchanges into the
//    graph), under expert tensor parallelism gathered before and reduced after.
//    ForecastExactTests holds that against a partitioner told to split experts.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_FORECAST_UNBUILTAXES_H
#define TESSERA_LIB_FORECAST_UNBUILTAXES_H

#include "lib/Forecast/RankProgram.h"

namespace tessera::forecast {

/// Rows that each expert of a rank gets, on the tokens' ranks (every rank
/// routes its own) and on the experts' ranks; balanced routing.
int64_t rowsOfExpert(int64_t routed, int64_t experts);
int64_t exchangedRowsOfExpert(int64_t routed, int64_t experts,
                              const RankSizes &sizes);

/// Bytes of an exchange among expert ranks: `routed` rows of `rowBytes`.
int64_t exchangeBytes(const RankCollective &collective, int64_t routed,
                      int64_t rowBytes, const RankSizes &sizes);

/// One rank's share of an attention that costs `whole` for all positions.
OpCost contextShare(const OpCost &whole, int cp);

/// Whether a rank gets the tokens of its whole expert-parallel group.
bool gathersTokens(const Layout &layout);
/// What is then moved and held in place of the exchange of rows.
void addTokenGathering(const RankBlock &block, const Layout &layout,
                       BlockFeatures &out);

/// What context parallelism moves around one attention.
void addContextExchange(const RankBlock &block, const RankOp &attention,
                        const Layout &layout,
                        std::vector<CollectiveFeature> &collectives);

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_UNBUILTAXES_H
