//===- TesseraShardingUtils.h - pieces that partition rules share ---------===//
#ifndef DIALECTS_TESSERA_TESSERASHARDINGUTILS_H
#define DIALECTS_TESSERA_TESSERASHARDINGUTILS_H

#include "dialects/Tessera/TesseraDialect.h"

namespace tessera {

/// `x` with no reduction pending.
TensorSharding complete(TensorSharding x);
/// The axes of `axes` that are not in `taken`, in order.
AxisList without(const AxisList &axes, const AxisList &taken);
/// "{dp, tp}", for messages.
std::string axisText(const AxisList &axes, const Mesh &mesh);
/// Whether `heads` heads can be split over `axes`; says which counts can if
/// not.
bool splitsHeads(int64_t heads, const AxisList &axes, const Mesh &mesh,
                 std::string &why);

} // namespace tessera

#endif // DIALECTS_TESSERA_TESSERASHARDINGUTILS_H
