//===- Collective.cpp - alpha-beta costs of NCCL's algorithms -------------===//
//
// Bandwidth: a ring moves (n-1)/n of the payload through every link (twice for
// an all-reduce); across nodes each member of a group in a node drives its own
// rail, so a group with g members in a node has g NICs and the other groups of
// the node have the others. The slower of the two levels decides, because
// NCCL pipelines them. NVLS lets the switch reduce, so a rank moves the payload
// once up and once down.
//
// Latency: base plus hardware latency per step for each algorithm and protocol,
// the table of NCCL (src/graph/tuning.cc, baseLatencies and hwLatencies). LL
// sends eight bytes of flag with eight of data (half the bandwidth), LL128 120
// of 128. The cluster's link latencies scale the table, which was measured with
// about 1.2 us over NVLink and 6 us over a network.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Collective.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera;

GroupShape tessera::groupShape(int size, int stride, const Cluster &cluster) {
  GroupShape g;
  g.size = std::max(size, 1);
  stride = std::max(stride, 1);
  int domain = cluster.domainSize();
  g.perDomain =
      stride >= domain ? 1 : std::max(1, std::min(g.size, domain / stride));
  g.domains = (g.size + g.perDomain - 1) / g.perDomain;
  int64_t span = static_cast<int64_t>(g.size - 1) * stride + 1;
  g.spanNodes =
      static_cast<int>((span + cluster.gpusPerNode - 1) / cluster.gpusPerNode);
  // Groups that would fit a domain but do not divide it: one of them lies on
  // either side of a boundary, and all wait for it. Boundaries fall on the
  // multiples of the greatest common divisor inside a group.
  int64_t block = static_cast<int64_t>(g.size) * stride;
  if (g.size > 1 && block <= domain && domain % block != 0 &&
      cluster.numGPUs() > domain) {
    g.perDomain = static_cast<int>(
        std::max<int64_t>(1, std::gcd<int64_t>(domain, block) / stride));
    g.domains = 2;
    if (cluster.gpusPerNode % block != 0)
      g.spanNodes = std::max(g.spanNodes, 2);
  }
  return g;
}

GroupShape tessera::groupOf(ParallelAxis axis, const Layout &l,
                            const Cluster &cluster) {
  switch (axis) {
  case ParallelAxis::TP:
    return groupShape(l.tp, 1, cluster);
  case ParallelAxis::CP:
    return groupShape(l.cp, l.tp, cluster);
  case ParallelAxis::ETP:
    return groupShape(l.etp, 1, cluster);
  case ParallelAxis::EP:
    return groupShape(l.ep, l.etp, cluster);
  case ParallelAxis::DP:
    return groupShape(l.dp * l.cp, l.tp, cluster);
  case ParallelAxis::PP:
    return groupShape(l.pp, l.tp * l.cp * l.dp, cluster);
  }
  return {};
}

GroupShape tessera::expertReplicaGroup(const Layout &l,
                                       const Cluster &cluster) {
  return groupShape(l.expertReplicas(), l.ep * l.etp, cluster);
}

namespace {
/// Microseconds; order LL, LL128, Simple.
struct Latencies {
  double base[3];
  double nvlink[3];
  double network[3];
};
} // namespace
static constexpr Latencies kRing = {
    {6.6, 14.0, 8.4}, {0.6, 1.9, 3.4}, {2.7, 4.0, 14.0}};
static constexpr Latencies kTree = {
    {6.8, 14.0, 8.4}, {0.6, 1.25, 4.0}, {5.0, 8.5, 14.0}};
static constexpr double kProtocolBandwidth[3] = {0.5, 120.0 / 128.0, 1.0};

namespace {
/// Bytes per second that one rank of a group can use at each level.
struct Bandwidths {
  double nvlink;
  double network;
};
} // namespace

static Bandwidths bandwidths(const GroupShape &g, const Cluster &cluster,
                             const ChipConstants &c) {
  Bandwidths b;
  double link = cluster.chip.nvlinkBandwidth > 0 ? cluster.chip.nvlinkBandwidth
                                                 : cluster.chip.pcieBandwidth;
  b.nvlink = link * c.nvlink;
  double over = g.spanNodes > cluster.network.nodesPerLeaf
                    ? cluster.network.spineOversubscription
                    : 1.0;
  b.network = cluster.nicBandwidthPerGPU() * c.nic / over;
  // Without NVLink the group's traffic inside the node goes over PCIe; where
  // the domain is smaller than the node, "between domains" may also be PCIe.
  if (g.domains > 1 && g.spanNodes <= 1)
    b.network = cluster.chip.pcieBandwidth * 0.5 * c.nvlink;
  return b;
}

/// Bandwidth of a ring through the whole group, seen by one rank.
static double ringBandwidth(const GroupShape &g, const Bandwidths &b) {
  if (g.domains <= 1)
    return b.nvlink;
  if (g.perDomain <= 1)
    return b.network;
  return std::min(b.nvlink, g.perDomain * b.network);
}

static CollectiveTime ringOrTree(CollectiveKind kind, double bytes,
                                 const GroupShape &g, const Cluster &cluster,
                                 const ChipConstants &c) {
  Bandwidths b = bandwidths(g, cluster, c);
  double n = g.size;
  double nvScale = cluster.network.nvlinkLatency / 1.2e-6;
  double netScale = cluster.network.nicLatency / 6e-6;
  bool reduceAll = kind == CollectiveKind::AllReduce;
  CollectiveTime best;
  best.seconds = 1e30;
  auto consider = [&](CollectiveAlgorithm algorithm, int protocol,
                      double bandwidth, double moved, double nvSteps,
                      double netSteps, const Latencies &t) {
    double latency =
        (t.base[protocol] + nvSteps * t.nvlink[protocol] * nvScale +
         netSteps * t.network[protocol] * netScale) *
        1e-6;
    double seconds =
        latency + moved / (bandwidth * kProtocolBandwidth[protocol]);
    if (seconds < best.seconds)
      best = {seconds, algorithm, static_cast<CollectiveProtocol>(protocol)};
  };
  double rounds = reduceAll ? 2 : 1;
  double netSteps = g.domains > 1 ? rounds * (g.domains - 1) : 0;
  double nvSteps = rounds * (n - 1) - netSteps;
  for (int p = 0; p < 3; ++p) {
    consider(CollectiveAlgorithm::Ring, p, ringBandwidth(g, b),
             rounds * bytes * (n - 1) / n, nvSteps, netSteps, kRing);
    if (!reduceAll)
      continue;
    // A double binary tree across nodes, chains inside (NCCL 2.4): bandwidth
    // of the ring, less the pipeline's fill.
    double depth = g.domains > 1 ? std::ceil(std::log2(g.domains)) : 0;
    if (g.domains > 1)
      consider(CollectiveAlgorithm::Tree, p, 0.9 * ringBandwidth(g, b),
               2 * bytes, 2 * (g.perDomain - 1), 2 * depth, kTree);
  }
  if (reduceAll && g.domains <= 1 && cluster.chip.nvls && g.size > 2) {
    // In-switch reduction: each rank sends and receives the payload once.
    double seconds = (18.0 * nvScale) * 1e-6 + bytes / (b.nvlink * 0.75);
    if (seconds < best.seconds)
      best = {seconds, CollectiveAlgorithm::NVLS, CollectiveProtocol::Simple};
  }
  return best;
}

CollectiveTime tessera::collectiveTime(CollectiveKind kind, double bytes,
                                       const GroupShape &g,
                                       const Cluster &cluster,
                                       const ChipConstants &c) {
  if (g.size <= 1 || bytes <= 0)
    return {};
  Bandwidths b = bandwidths(g, cluster, c);
  double nvLatency = cluster.network.nvlinkLatency;
  double netLatency = cluster.network.nicLatency;
  CollectiveTime t;
  switch (kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    return ringOrTree(kind, bytes, g, cluster, c);
  case CollectiveKind::AllToAll: {
    // Every rank sends 1/n of its bytes to each other one; both levels run at
    // the same time, each rank with its own NIC.
    double n = g.size;
    double inside = bytes * (g.perDomain - 1) / n / (b.nvlink * c.allToAll);
    double outside = bytes * (n - g.perDomain) / n / (b.network * c.allToAll);
    double latency = 10e-6 + (g.perDomain - 1) * 0.3 * nvLatency +
                     (n - g.perDomain) * 0.2 * netLatency;
    t.seconds = latency + std::max(inside, outside);
    return t;
  }
  case CollectiveKind::SendRecv: {
    bool network = g.perDomain <= 1;
    t.seconds = 6e-6 + (network ? netLatency : nvLatency) +
                bytes / (network ? b.network : b.nvlink);
    return t;
  }
  }
  return t;
}

CollectiveTime tessera::fusedDispatchTime(double bytes, int copies,
                                          const GroupShape &g,
                                          const Cluster &cluster,
                                          const ChipConstants &c) {
  if (g.size <= 1 || bytes <= 0)
    return {};
  Bandwidths b = bandwidths(g, cluster, c);
  // Its kernels drive the NICs themselves at about line rate (DeepEP's README:
  // 43-58 GB/s of 50 on H800). Uniform routing: `copies` picks among the
  // domains reach this many of them.
  double domains = g.domains, k = std::max(copies, 1);
  double reached = domains * (1.0 - std::pow(1.0 - 1.0 / domains, k));
  double remote = bytes / k * reached * (domains - 1) / domains;
  double inside = bytes * (g.perDomain - 1) / g.perDomain;
  CollectiveTime t;
  t.seconds = 10e-6 + (g.domains > 1 ? 2 * cluster.network.nicLatency : 0) +
              std::max(inside / (b.nvlink * c.allToAll), remote / b.network);
  return t;
}
