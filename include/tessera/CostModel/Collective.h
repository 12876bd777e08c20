//===- Collective.h - how long a collective takes -------------------------===//
//
// Alpha-beta per link, with NCCL's algorithms and protocols. Pure functions;
// bytes as in CollectiveFeature, seconds.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_COLLECTIVE_H
#define TESSERA_COSTMODEL_COLLECTIVE_H

#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Features.h"
#include "tessera/Hardware/Cluster.h"

namespace tessera {

/// How a group of ranks lies on the cluster.
struct GroupShape {
  int size = 1;
  /// Members in one NVLink domain, and how many domains they span.
  int perDomain = 1;
  int domains = 1;
  /// Nodes between the first and the last member (oversubscription).
  int spanNodes = 1;
};

/// `size` ranks, `stride` apart in global rank order.
GroupShape groupShape(int size, int stride, const Cluster &cluster);

/// The group of an axis under a layout (DP means dp*cp for dense gradients).
GroupShape groupOf(ParallelAxis axis, const Layout &layout,
                   const Cluster &cluster);
/// Replicas of the experts' weights.
GroupShape expertReplicaGroup(const Layout &layout, const Cluster &cluster);

enum class CollectiveAlgorithm : uint8_t { Ring, Tree, NVLS, Direct };
enum class CollectiveProtocol : uint8_t { LL, LL128, Simple };

struct CollectiveTime {
  double seconds = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Direct;
  CollectiveProtocol protocol = CollectiveProtocol::Simple;
};

/// An all-to-all that sends each token once to every node that holds one of its
/// `copies` experts and fans it out over NVLink (DeepEP and its like).
CollectiveTime fusedDispatchTime(double bytes, int copies,
                                 const GroupShape &group,
                                 const Cluster &cluster,
                                 const ChipConstants &constants);

/// The fastest algorithm and protocol for the message, as NCCL's tuner picks.
CollectiveTime collectiveTime(CollectiveKind kind, double bytes,
                              const GroupShape &group, const Cluster &cluster,
                              const ChipConstants &constants);

} // namespace tessera

#endif // TESSERA_COSTMODEL_COLLECTIVE_H
