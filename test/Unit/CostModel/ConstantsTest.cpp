//===- ConstantsTest.cpp - the fitted numbers that come with Tessera ------===//
#include "tessera/CostModel/Constants.h"
#include "tessera/Support/Json.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

TEST(Constants, BuiltInOnesAreSane) {
  const CostConstants &c = defaultConstants();
  EXPECT_FALSE(c.chips.empty());
  EXPECT_FALSE(c.stacks.empty());
  // The rule of the house: a dozen for a chip, a few for a framework.
  EXPECT_LE(chipFields().size(), 12u);
  EXPECT_LE(stackFields().size(), 8u);
  for (const auto &[name, record] : c.chips)
    for (const auto &[field, member] : chipFields()) {
      EXPECT_GT(record.*member, 0) << name << " " << field;
      EXPECT_LT(record.*member, 1) << name << " " << field;
    }
  for (const auto &[name, record] : c.stacks)
    for (double share : {record.tpOverlap, record.dpOverlap, record.epOverlap,
                         record.ppOverlap}) {
      EXPECT_GE(share, 0) << name;
      EXPECT_LE(share, 1) << name;
    }
}

TEST(Constants, AChipFallsBackOnItsArchitecture) {
  CostConstants c;
  c.chips["hopper"].matmul16 = 0.6;
  c.chips["h200-sxm"].matmul16 = 0.7;
  EXPECT_EQ(c.chip(cantFail(findChip("h100"))).matmul16, 0.6);
  EXPECT_EQ(c.chip(cantFail(findChip("h200"))).matmul16, 0.7);
  EXPECT_EQ(c.chip(cantFail(findChip("v100"))).matmul16,
            ChipConstants().matmul16);
  // A chip of one's own has what was fitted to the one that it starts from.
  auto own = [](StringRef json) {
    json::Value value = cantFail(json::parse(json));
    return cantFail(readChip(cantFail(JsonObject::get(value, "chip"))));
  };
  Chip limited = own(R"({"base": "H200", "name": "mine", "power_watts": 500})");
  EXPECT_EQ(c.chip(limited).matmul16, 0.7);
  EXPECT_EQ(c.originOf(limited),
            "priors for hopper, nothing of it was measured");
  c.measuredChips = {"h200-sxm"};
  EXPECT_EQ(c.originOf(limited), "from h200-sxm, not fitted");
  EXPECT_EQ(c.chip(own(R"({"base": "h200", "name": "mine",
                           "architecture": "ampere"})"))
                .matmul16,
            ChipConstants().matmul16);
}

TEST(Constants, SayWhereTheyComeFrom) {
  CostConstants c;
  c.measuredChips = {"h100-sxm"};
  c.measuredStacks = {"nemo"};
  c.stacks["nemo"] = c.stacks["jax"] = {};
  auto chip = [&](StringRef name) {
    return c.originOf(cantFail(findChip(name)));
  };
  EXPECT_EQ(chip("h100"), "fitted to measured runs");
  EXPECT_EQ(chip("h200"), "from hopper's family, not fitted");
  EXPECT_EQ(chip("rtx-4090"), "priors for ada, nothing of it was measured");
  EXPECT_EQ(c.originOf("nemo"), "fitted to measured runs");
  EXPECT_EQ(c.originOf("jax"), "from its family, not fitted");
  EXPECT_EQ(c.originOf("other"), "what all frameworks share, not fitted");
  // Every chip of the table has numbers for its architecture, every framework
  // its own, in what ships.
  const CostConstants &d = defaultConstants();
  for (const Chip &known : builtinChips())
    EXPECT_TRUE(d.chips.count(nameOf(known.architecture).str())) << known.name;
  for (const std::string &name : stackNames())
    EXPECT_TRUE(d.stacks.count(name)) << name;
  EXPECT_FALSE(d.measuredSources.empty());
}

TEST(Constants, RoundTripAndMistakes) {
  json::Value value = toJson(defaultConstants());
  CostConstants again = cantFail(readConstants(value, "x.json"));
  EXPECT_EQ(toJson(again), value);
  auto error = [](StringRef text) {
    json::Value v = cantFail(json::parse(text));
    return toString(readConstants(v, "x.json").takeError());
  };
  EXPECT_EQ(error(R"({"chips": {"hopper": {"matmul_16": 1}}})"),
            "x.json: chips: hopper: unknown field 'matmul_16'; did you mean "
            "'matmul16'?");
  EXPECT_EQ(error(R"({"chips": {"hopper": {"nic": -1}}})"),
            "x.json: chips: hopper: field 'nic' is negative");
  EXPECT_EQ(error(R"({"measured": {"chips": [3]}})"),
            "x.json: measured: field 'chips' should be a list of names");
  EXPECT_EQ(error(R"({"stacks": 3})"),
            "x.json: field 'stacks' should be an object, got 3");
}

TEST(Constants, StackNames) {
  EXPECT_TRUE(cantFail(stackTraits("llm-foundry")).fsdp);
  EXPECT_EQ(toString(stackTraits("nemoo").takeError()),
            "unknown software stack 'nemoo'; did you mean 'nemo'?");
}
