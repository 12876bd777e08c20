//===- CollectiveTest.cpp - alpha-beta times against numbers by hand ------===//
#include "tessera/CostModel/Collective.h"
#include "gtest/gtest.h"

using namespace tessera;

namespace {
struct Links : ::testing::Test {
  Links() {
    Chip chip = llvm::cantFail(findChip("a100-80g-sxm"));
    cluster = makeCluster(chip, 16, 8);
    ideal.nvlink = ideal.nic = ideal.allToAll = 1;
  }
  double seconds(CollectiveKind kind, double bytes, int size, int stride) {
    return collectiveTime(kind, bytes, groupShape(size, stride, cluster),
                          cluster, ideal)
        .seconds;
  }
  Cluster cluster;
  ChipConstants ideal;
};
} // namespace

TEST_F(Links, GroupShapes) {
  GroupShape tp = groupShape(8, 1, cluster);
  EXPECT_EQ(tp.perDomain, 8);
  EXPECT_EQ(tp.domains, 1);
  GroupShape dp = groupShape(16, 8, cluster); // one rank in each node
  EXPECT_EQ(dp.perDomain, 1);
  EXPECT_EQ(dp.domains, 16);
  GroupShape mixed = groupShape(16, 4, cluster); // two in each node
  EXPECT_EQ(mixed.perDomain, 2);
  EXPECT_EQ(mixed.domains, 8);
  EXPECT_EQ(groupShape(1, 64, cluster).domains, 1);
}

// Ranks 6 and 7 of nodes of seven GPUs lie on two of them: a group of two waits
// for the network. With six GPUs, so do two of four ranks.
TEST_F(Links, GroupsThatDoNotDivideANodeCrossItsBorder) {
  cluster = makeCluster(cluster.chip, 16, 7);
  cluster.network.nvlinkDomain = 7;
  GroupShape pair = groupShape(2, 1, cluster);
  EXPECT_EQ(pair.perDomain, 1);
  EXPECT_EQ(pair.domains, 2);
  EXPECT_EQ(pair.spanNodes, 2);
  // One NIC of 25 GB/s, shared by the GPUs of a node as the cluster says.
  double bytes = 1e9;
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, bytes, 2, 1),
              0.5 * bytes / cluster.nicBandwidthPerGPU(), 1e-3);
  EXPECT_EQ(groupShape(7, 1, cluster).domains, 1);
  cluster = makeCluster(cluster.chip, 16, 6);
  cluster.network.nvlinkDomain = 6;
  GroupShape four = groupShape(4, 1, cluster);
  EXPECT_EQ(four.perDomain, 2);
  EXPECT_EQ(four.domains, 2);
  EXPECT_EQ(groupShape(3, 1, cluster).domains, 1);
  EXPECT_EQ(groupShape(3, 2, cluster).domains, 1);
  // Alone on its node, a group crosses nothing.
  cluster = makeCluster(cluster.chip, 1, 6);
  EXPECT_EQ(groupShape(4, 1, cluster).domains, 1);
}

// nccl-tests' definition of bus bandwidth: an all-reduce of S bytes over n
// ranks moves 2(n-1)/n S through each link, the others half of that.
TEST_F(Links, LargeMessagesRunAtBusBandwidth) {
  double bytes = 8e9;
  EXPECT_NEAR(seconds(CollectiveKind::AllReduce, bytes, 8, 1),
              2.0 * 7 / 8 * bytes / 300e9, 2e-4);
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, bytes, 8, 1),
              7.0 / 8 * bytes / 300e9, 2e-4);
  EXPECT_NEAR(seconds(CollectiveKind::ReduceScatter, bytes, 8, 1),
              7.0 / 8 * bytes / 300e9, 2e-4);
}

// All 16 nodes: a node's eight NICs carry the ring, 8 * 25 GB/s.
TEST_F(Links, WholeNodesShareAllTheirNics) {
  double bytes = 8e9;
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, bytes, 128, 1),
              127.0 / 128 * bytes / 200e9, 2e-3);
}

// With one member in a node each group has one NIC: eight groups share.
TEST_F(Links, OneRankANodeHasOneNic) {
  double bytes = 1e9;
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, bytes, 16, 8),
              15.0 / 16 * bytes / 25e9, 1e-3);
}

TEST_F(Links, OversubscribedSpine) {
  double before = seconds(CollectiveKind::AllGather, 1e9, 16, 8);
  cluster.network.spineOversubscription = 2;
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllGather, 1e9, 16, 8), before);
  cluster.network.nodesPerLeaf = 4;
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, 1e9, 16, 8), 2 * before,
              0.05 * before);
}

TEST_F(Links, SmallMessagesUseLowLatencyProtocol) {
  CollectiveTime small =
      collectiveTime(CollectiveKind::AllReduce, 1024, groupShape(8, 1, cluster),
                     cluster, ideal);
  EXPECT_EQ(small.protocol, CollectiveProtocol::LL);
  // NCCL's table: 6.6 us and 14 steps of 0.6 us.
  EXPECT_NEAR(small.seconds, 15e-6, 0.1e-6);
  CollectiveTime large =
      collectiveTime(CollectiveKind::AllReduce, 1e9, groupShape(8, 1, cluster),
                     cluster, ideal);
  EXPECT_EQ(large.protocol, CollectiveProtocol::Simple);
}

TEST_F(Links, TreeForSmallMessagesOverManyNodes) {
  GroupShape group = groupShape(16, 8, cluster);
  EXPECT_EQ(
      collectiveTime(CollectiveKind::AllReduce, 4096, group, cluster, ideal)
          .algorithm,
      CollectiveAlgorithm::Tree);
  EXPECT_EQ(
      collectiveTime(CollectiveKind::AllReduce, 4e9, group, cluster, ideal)
          .algorithm,
      CollectiveAlgorithm::Ring);
}

TEST_F(Links, NvlsOnHopperOnly) {
  EXPECT_NE(collectiveTime(CollectiveKind::AllReduce, 1e9,
                           groupShape(8, 1, cluster), cluster, ideal)
                .algorithm,
            CollectiveAlgorithm::NVLS);
  cluster = makeCluster(llvm::cantFail(findChip("h100-sxm")), 2, 8);
  EXPECT_EQ(collectiveTime(CollectiveKind::AllReduce, 1e9,
                           groupShape(8, 1, cluster), cluster, ideal)
                .algorithm,
            CollectiveAlgorithm::NVLS);
}

// Half of each rank's bytes leave the node (two nodes of eight): 25 GB/s.
TEST_F(Links, AllToAllIsBoundByItsOwnNic) {
  EXPECT_NEAR(seconds(CollectiveKind::AllToAll, 1e9, 16, 1), 0.5e9 / 25e9,
              1e-3);
  EXPECT_NEAR(seconds(CollectiveKind::AllToAll, 1e9, 8, 1),
              7.0 / 8 * 1e9 / 300e9, 1e-4);
}

// Top-8 over four nodes: a token reaches 4 (1 - (3/4)^8) = 3.6 nodes on
// average, three quarters of them remote, in place of six of eight copies.
TEST_F(Links, FusedDispatchSendsATokenOncePerNode) {
  GroupShape group = groupShape(32, 1, cluster);
  double plain =
      collectiveTime(CollectiveKind::AllToAll, 1e9, group, cluster, ideal)
          .seconds;
  double fused = fusedDispatchTime(1e9, 8, group, cluster, ideal).seconds;
  EXPECT_NEAR(plain, 0.75e9 / 25e9, 1e-3);
  EXPECT_NEAR(fused, 1e9 / 8 * 3.5996 * 0.75 / 25e9, 1e-3);
}

TEST_F(Links, TimesGrowWithBytes) {
  for (auto kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                    CollectiveKind::AllToAll, CollectiveKind::SendRecv}) {
    double last = 0;
    for (double bytes = 1; bytes < 1e10; bytes *= 3) {
      double t = seconds(kind, bytes, 64, 1);
      EXPECT_GE(t, last);
      last = t;
    }
    EXPECT_EQ(seconds(kind, 1e6, 1, 1), 0.0);
    EXPECT_EQ(seconds(kind, 0, 8, 1), 0.0);
  }
}
