//===- HardwareTest.cpp - chip table and cluster specs --------------------===//
#include "tessera/Hardware/Cluster.h"
#include "tessera/Support/Units.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace tessera;

static Expected<Cluster> fromJson(StringRef text) {
  json::Value value = cantFail(parseJson(text, "c.json"));
  return readCluster(cantFail(JsonObject::get(value, "c.json")));
}

TEST(Chips, EveryRowIsWholeAndNamesAreUnique) {
  std::set<std::string> names;
  for (const Chip &c : builtinChips()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    for (const std::string &a : c.aliases)
      EXPECT_TRUE(names.insert(a).second) << a;
    EXPECT_GT(c.peak(DataType::BF16), 0) << c.name;
    EXPECT_GT(c.fp32, 0) << c.name;
    EXPECT_GT(c.memoryBytes, 10 * kGiB) << c.name;
    EXPECT_GT(c.memoryBandwidth, 5e11) << c.name;
    EXPECT_GT(c.l2Bytes, 0) << c.name;
    EXPECT_GT(c.sharedBytesPerSM, 0) << c.name;
    EXPECT_GT(c.numSMs, 0) << c.name;
    EXPECT_GT(c.pcieBandwidth, 0) << c.name;
    EXPECT_GT(c.powerWatts, 0) << c.name;
    EXPECT_GT(c.nicBandwidth, 0) << c.name;
    EXPECT_TRUE(c.nvlinkBandwidth == 0 || c.nvlinkDomain > 1) << c.name;
  }
  for (const char *name :
       {"a100-40g-sxm", "a100-80g-sxm", "a100-40g-pcie", "a100-80g-pcie",
        "h100-sxm", "h100-pcie", "h100-nvl", "h200", "h800", "a800", "b200",
        "b300", "gb200", "l40s", "v100", "rtx-4090"})
    EXPECT_TRUE(names.count(name)) << name;
}

// Numbers from the vendors' data sheets, each looked up apart from the table.
TEST(Chips, DataSheetNumbers) {
  Chip a100 = cantFail(findChip("a100-80g-sxm"));
  EXPECT_DOUBLE_EQ(a100.bf16, 312e12);
  EXPECT_DOUBLE_EQ(a100.memoryBandwidth, 2039e9);
  EXPECT_EQ(a100.numSMs, 108);
  EXPECT_DOUBLE_EQ(a100.peak(DataType::FP8), 312e12); // has no FP8: BF16
  Chip h100 = cantFail(findChip("H100_SXM"));
  EXPECT_NEAR(h100.bf16, 989e12, 1e12);
  EXPECT_NEAR(h100.peak(DataType::FP8), 1979e12, 1e12);
  EXPECT_DOUBLE_EQ(h100.nvlinkBandwidth, 450e9);
  EXPECT_DOUBLE_EQ(cantFail(findChip("h800")).nvlinkBandwidth, 200e9);
  EXPECT_DOUBLE_EQ(cantFail(findChip("h200")).memoryBandwidth, 4800e9);
  Chip b200 = cantFail(findChip("b200"));
  EXPECT_DOUBLE_EQ(b200.bf16, 2250e12);
  EXPECT_DOUBLE_EQ(b200.fp4, 9000e12);
  EXPECT_EQ(cantFail(findChip("gb200")).nvlinkDomain, 72);
  EXPECT_DOUBLE_EQ(cantFail(findChip("v100")).peak(DataType::BF16), 125e12);
}

TEST(Chips, TableListsAll) {
  std::string out;
  raw_string_ostream os(out);
  printChips(os);
  for (const Chip &c : builtinChips())
    EXPECT_NE(out.find(c.name), std::string::npos) << c.name;
  EXPECT_NE(out.find("312"), std::string::npos); // A100's dense BF16
}

TEST(Chips, UnknownNameSuggestsTheNearest) {
  std::string m = toString(findChip("h100-smx").takeError());
  EXPECT_TRUE(StringRef(m).contains("unknown chip 'h100-smx'; did you mean "
                                    "'h100-sxm'?"))
      << m;
}

TEST(ClusterSpec, NodesTimesGpus) {
  Cluster c = cantFail(parseCluster("h100-sxm:16x8"));
  EXPECT_EQ(c.numGPUs(), 128);
  EXPECT_EQ(c.domainSize(), 8);
  EXPECT_DOUBLE_EQ(c.nicBandwidthPerGPU(), 50e9);
  EXPECT_EQ(c.str(), "h100-sxm:16x8");
  EXPECT_EQ(cantFail(parseCluster("h100:128")).nodes, 16);
  Cluster rack = cantFail(parseCluster("gb200-nvl72:18x4"));
  EXPECT_EQ(rack.domainSize(), 72);
  // Four GPUs of a board of eight.
  EXPECT_EQ(cantFail(parseCluster("a100:2x4")).domainSize(), 4);
}

TEST(ClusterSpec, MistakesAreNamed) {
  for (const char *bad :
       {"h100-sxm", "h100-sxm:", "h100-sxm:8x", "h100-sxm:0x8", "h100-sxm:ax8",
        "h100-sxm:-2x8", "h100-sxm:9", "h100-sxm:1000000x1000000"}) {
    Expected<Cluster> c = parseCluster(bad);
    ASSERT_FALSE(bool(c)) << bad;
    std::string m = toString(c.takeError());
    EXPECT_TRUE(StringRef(m).contains("'")) << m;
  }
}

TEST(ClusterFile, ChipOfOnesOwnAndOversubscription) {
  Cluster c = cantFail(fromJson(R"({
    "chip": {"base": "h100-sxm", "name": "mine", "bf16_tflops": 700},
    "nodes": 4, "gpus_per_node": 8, "nic_gbps": 25, "nics_per_node": 4,
    "spine_oversubscription": 2})"));
  EXPECT_EQ(c.chip.name, "mine");
  EXPECT_DOUBLE_EQ(c.chip.bf16, 700e12);
  EXPECT_DOUBLE_EQ(c.chip.memoryBandwidth, 3350e9); // of the base
  EXPECT_DOUBLE_EQ(c.nicBandwidthPerGPU(), 12.5e9);
  EXPECT_DOUBLE_EQ(c.network.spineOversubscription, 2);
}

TEST(ClusterFile, MeasuredEfficienciesAndTextInPlace) {
  Cluster c = cantFail(parseCluster(
      R"({"chip": "h100", "efficiencies": {"matmul16": 0.7, "nic": 0.5}})"));
  EXPECT_EQ(c.efficiencies.size(), 2u);
  EXPECT_DOUBLE_EQ(c.efficiencies["matmul16"], 0.7);
  EXPECT_EQ(
      toString(
          parseCluster(R"({"chip": "h100", "efficiencies": 3})").takeError()),
      "cluster: field 'efficiencies' should be an object, got 3");
  EXPECT_EQ(
      toString(parseCluster(R"({"chip": "h100", "efficiencies": {"nic": "x"}})")
                   .takeError()),
      "cluster: efficiencies: field 'nic' should be a number, got "
      "\"x\"");
}

TEST(ClusterFile, MistakesAreNamed) {
  auto error = [](StringRef text) {
    return toString(fromJson(text).takeError());
  };
  EXPECT_EQ(error(R"({"nodes": 2})"), "c.json: field 'chip' is missing");
  EXPECT_EQ(error(R"({"chip": "h100", "node": 2})"),
            "c.json: unknown field 'node'; did you mean 'nodes'?");
  EXPECT_EQ(error(R"({"chip": "h100", "nodes": 0})"),
            "c.json: field 'nodes' should lie between 1 and 1000000, got 0");
  EXPECT_EQ(error(R"({"chip": {"name": "x", "fp32_tflops": 1}})"),
            "c.json: chip: field 'bf16_tflops' is missing (or name a built-in "
            "chip as \"base\")");
  EXPECT_EQ(error(R"({"chip": {"base": "h100", "architecture": "hoper"}})"),
            "c.json: chip: unknown architecture 'hoper'; did you mean "
            "'hopper'?");
}
