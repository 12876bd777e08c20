//===- Cluster.h - GPUs joined by links of several levels -----------------===//
//
// Level 0 is the NVLink domain (a board of 8, a rack of 72), level 1 the NICs
// of a node into leaf switches ("rails": GPU i of every node on switch i),
// level 2 the spine, which may be oversubscribed.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_HARDWARE_CLUSTER_H
#define TESSERA_HARDWARE_CLUSTER_H

#include "tessera/Hardware/Chip.h"
#include <map>

namespace tessera {

struct Network {
  /// GPUs that reach each other over NVLink.
  int nvlinkDomain = 8;
  int nicsPerNode = 8;
  /// One NIC, one direction, bytes per second.
  double nicBandwidth = 50e9;
  /// Seconds for a small message between two GPUs: NCCL's own measured
  /// constants are of this size (NCCL src/graph/tuning.cc: NVLink about 1 us
  /// and network about 5 us for each step of the simple protocol, plus 6 us
  /// once).
  double nvlinkLatency = 1.2e-6;
  double nicLatency = 6e-6;
  /// Nodes that share their leaf switches before the spine is crossed.
  int nodesPerLeaf = 32;
  /// 1: full bisection; 2: half of it.
  double spineOversubscription = 1.0;
  bool railOptimized = true;
};

struct Cluster {
  Chip chip;
  int nodes = 1;
  int gpusPerNode = 8;
  Network network;
  /// What the user measured on it, by the cost model's names (ChipConstants):
  /// replaces the fitted numbers. Hardware does not know the names; the cost
  /// model checks them.
  std::map<std::string, double> efficiencies;

  int numGPUs() const { return nodes * gpusPerNode; }
  /// Ranks in one NVLink domain, at most the whole cluster.
  int domainSize() const;
  /// Bytes per second and direction that one GPU can send into the network
  /// when all GPUs of its node do.
  double nicBandwidthPerGPU() const;
  /// "h100-sxm:16x8"
  std::string str() const;
};

/// `nodes` usual servers of the chip; the network is the chip's default.
Cluster makeCluster(const Chip &chip, int nodes, int gpusPerNode);

/// CHIP:NODESxGPUS ("h100-sxm:16x8", "h100-sxm:128" meaning GPUs), the path of
/// a JSON file ending in .json, or JSON text that begins with a brace. Fails
/// with the nearest chip name.
llvm::Expected<Cluster> parseCluster(llvm::StringRef spec);

/// A cluster as JSON: "chip" (a name or an object, see readChip), "nodes",
/// "gpus_per_node", "nvlink_domain", "nics_per_node", "nic_gbps",
/// "nvlink_latency_us", "nic_latency_us", "nodes_per_leaf",
/// "spine_oversubscription", "rail_optimized", "efficiencies" (an object of
/// numbers, see Cluster::efficiencies).
llvm::Expected<Cluster> readCluster(const JsonObject &object);

} // namespace tessera

#endif // TESSERA_HARDWARE_CLUSTER_H
