//===- DamagedClusterTest.cpp - cluster files with damage everywhere ------===//
//
// A damaged cluster is refused by one message that names the file, or is a
// cluster whose every number can be counted with.
//
//===----------------------------------------------------------------------===//
#include "tessera/Hardware/Cluster.h"
#include "tessera/Support/Printable.h"
#include "test/Support/Mutations.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace tessera;
using namespace tessera::test;

static Expected<Cluster> read(StringRef text) {
  Expected<json::Value> value = parseJson(text, "c.json");
  if (!value)
    return value.takeError();
  Expected<JsonObject> object = JsonObject::get(*value, "c.json");
  if (!object)
    return object.takeError();
  return readCluster(*object);
}

TEST(Damaged, ClusterIsRefusedOrWhole) {
  const char *whole = R"({
  "chip": {
    "base": "h100-sxm",
    "name": "h100-lab",
    "bf16_tflops": 800,
    "memory_gib": 96,
    "memory_bandwidth_gbps": 3350,
    "power_watts": 650
  },
  "nodes": 4,
  "gpus_per_node": 8,
  "nvlink_domain": 8,
  "nics_per_node": 8,
  "nic_gbps": 400,
  "nvlink_latency_us": 1.2,
  "nic_latency_us": 6,
  "nodes_per_leaf": 32,
  "spine_oversubscription": 2,
  "rail_optimized": true,
  "efficiencies": {"matmul_bf16": 0.7}
}
)";
  ASSERT_TRUE(bool(read(whole)));
  int refused = 0, accepted = 0;
  mutate(whole, [&](const Mutation &m) {
    Expected<Cluster> cluster = read(m.text);
    if (!cluster) {
      ++refused;
      std::string message = printableMessage(toString(cluster.takeError()));
      EXPECT_EQ(complaint(message, "c.json"), "") << m.what << ": " << message;
      return;
    }
    ++accepted;
    const Cluster &c = *cluster;
    EXPECT_GE(c.numGPUs(), 1) << m.what;
    EXPECT_LE(c.numGPUs(), 1000000) << m.what;
    EXPECT_GE(c.domainSize(), 1) << m.what;
    // A chip from before bf16 has none.
    for (double n : {std::max(c.chip.bf16, c.chip.fp16), c.chip.memoryBytes,
                     c.chip.memoryBandwidth, c.chip.powerWatts,
                     c.nicBandwidthPerGPU(), c.network.spineOversubscription})
      EXPECT_TRUE(std::isfinite(n) && n > 0) << m.what << ": " << n;
  });
  EXPECT_GT(refused, 300);
  EXPECT_GT(accepted, 30);
}
