//===- ValidationTest.cpp - what a plan says of its step time -------------===//
#include "tessera/CostModel/Validation.h"
#include "tessera/Hardware/Chip.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

static Expected<StepValidation> read(StringRef text) {
  return readValidation(cantFail(json::parse(text)), "test");
}

static std::string said(const StepValidation &validation, StringRef chip,
                        StringRef stack) {
  return expectedError(validation, makeCluster(cantFail(findChip(chip)), 1, 8),
                       stack);
}

TEST(Validation, SaysWhatWasMeasured) {
  StepValidation v = cantFail(read(R"({
    "runs": {"h100-sxm": {"nemo": {"runs": 50, "median": 0.041, "p90": 0.118},
                          "jax": {"runs": 2, "median": 0.004, "p90": 0.02}}},
    "held_out": {"runs": 100, "median": 0.06, "p90": 0.223}})"));
  EXPECT_EQ(said(v, "h100-sxm", "nemo"),
            "runs on h100-sxm with nemo: within 5 % half the time, 12 % nine "
            "times of ten");
  EXPECT_EQ(said(v, "h100-sxm", "jax"),
            "the 2 runs on h100-sxm with jax: within 1 % half the time, 2 % "
            "nine times of ten; sources left out of a fit: within 6 % "
            "half the time, 23 % nine times of ten");
  EXPECT_EQ(said(v, "h200-sxm", "nemo"),
            "no run on h200-sxm with nemo was measured; sources left out of a "
            "fit: within 6 % half the time, 23 % nine times of ten");
  Cluster own = makeCluster(cantFail(findChip("h100-sxm")), 1, 8);
  own.efficiencies["matmul16"] = 0.7;
  EXPECT_TRUE(StringRef(expectedError(v, own, "nemo"))
                  .starts_with("efficiencies of your own"));
}

TEST(Validation, FieldsAreChecked) {
  for (const char *text :
       {R"({"runs": {"a": {"b": {"runs": 0, "median": 0, "p90": 1}}}})",
        R"({"runs": {"a": {"b": {"runs": 1, "median": 2, "p90": 1}}}})",
        R"({"runs": {"a": 3}})", R"({"held": {}})",
        R"({"held_out": {"runs": 1, "median": 0, "p90": 1, "mean": 1}})"}) {
    Expected<StepValidation> v = read(text);
    EXPECT_FALSE(static_cast<bool>(v)) << text;
    consumeError(v.takeError());
  }
}

/// The figures that ship are there, and are those of a fit that is one.
TEST(Validation, Shipped) {
  const StepValidation &v = defaultValidation();
  ASSERT_TRUE(v.heldOut.has_value());
  EXPECT_GT(v.heldOut->runs, 100);
  const StepError *nemo = v.find("h100-sxm", "nemo");
  ASSERT_NE(nemo, nullptr);
  EXPECT_LT(nemo->median, 0.1);
  EXPECT_EQ(v.find("rtx-4090", "nemo"), nullptr);
}
