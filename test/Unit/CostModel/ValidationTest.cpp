//===- ValidationTest.cpp - what a plan says of its step time -------------===//
#include "tessera/CostModel/Validation.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

static Expected<StepValidation> read(StringRef text) {
  return readValidation(cantFail(json::parse(text)), "test");
}

static RunKind dense() {
  RunKind kind;
  kind.chip = "h100-sxm";
  kind.stack = "nemo";
  kind.sequence = 4096;
  kind.gpus = 128;
  kind.networkGbps = 400;
  return kind;
}

/// Three sources of four runs each that are like dense(), and two runs with
/// experts of one source.
static StepValidation measured() {
  StepValidation v;
  for (auto [source, error] :
       {std::pair<const char *, double>{"a", 0.01}, {"b", 0.02}, {"c", 0.05}})
    v.push_back({dense(), source, 4, {error, error}, {3 * error, 4 * error}});
  RunKind experts = dense();
  experts.experts = true;
  v.push_back({experts, "a", 2, {0.001, 0.002}, {0.3, 0.4}});
  return v;
}

// Of three sources that weigh the same the median is the second's, nine tenths
// the third's.
TEST(Validation, TheFitsErrorWhereEnoughRunsAreAlike) {
  ExpectedError e = expectedError(measured(), dense());
  EXPECT_FALSE(e.heldOut);
  EXPECT_EQ(e.likeRuns, 12);
  EXPECT_EQ(e.likeSources, 3);
  EXPECT_DOUBLE_EQ(e.median, 0.02);
  EXPECT_DOUBLE_EQ(e.p90, 0.05);
  EXPECT_EQ(e.text(), "12 runs of 3 sources like it: within 2 % half the time, "
                      "5 % nine times of ten");
}

// Every way to lie apart from the measured runs ends in the errors of sources
// left out, with its reason.
TEST(Validation, LeftOutSourcesElsewhere) {
  StepValidation v = measured();
  auto why = [&](auto change) {
    RunKind kind = dense();
    change(kind);
    ExpectedError e = expectedError(v, kind);
    EXPECT_TRUE(e.heldOut) << e.why;
    EXPECT_GT(e.p90, 0.15) << e.why;
    return e.why;
  };
  EXPECT_EQ(why([](RunKind &k) { k.chip = "h200-sxm"; }),
            "no run on h200-sxm with nemo");
  EXPECT_EQ(why([](RunKind &k) { k.stack = "jax"; }),
            "no run on h100-sxm with jax");
  EXPECT_EQ(why([](RunKind &k) { k.experts = true; }),
            "only 2 runs of 1 source on h100-sxm with nemo with experts");
  EXPECT_EQ(why([](RunKind &k) { k.contextParallel = true; }),
            "no run on h100-sxm with nemo with context parallelism");
  EXPECT_EQ(why([](RunKind &k) { k.bits = 8; }),
            "no run on h100-sxm with nemo in 8 bits");
  EXPECT_EQ(why([](RunKind &k) { k.sequence = 131072; }),
            "no run on h100-sxm with nemo near 131072 tokens");
  EXPECT_EQ(why([](RunKind &k) { k.gpus = 16384; }),
            "no run on h100-sxm with nemo near 16384 GPUs");
  EXPECT_EQ(why([](RunKind &k) { k.networkGbps = 12.5; }),
            "no run on h100-sxm with nemo over a network of about 12 Gb/s a "
            "GPU");
  EXPECT_EQ(why([](RunKind &k) { k.ownEfficiencies = true; }),
            "efficiencies of your own, with which no run was compared");
  // Within a factor of two and of four it is still like them.
  RunKind near = dense();
  near.sequence = 8192;
  near.gpus = 512;
  EXPECT_FALSE(expectedError(v, near).heldOut);
}

// Few runs, however near, have no quantiles of their own.
TEST(Validation, NoBandOfFewRuns) {
  StepValidation v = measured();
  v[2].source = "b"; // two sources are left
  ExpectedError e = expectedError(v, dense());
  EXPECT_TRUE(e.heldOut);
  EXPECT_EQ(e.why, "only 14 runs of 2 sources on h100-sxm with nemo");
  for (MeasuredRuns &runs : v)
    runs.heldOut.clear();
  e = expectedError(v, dense());
  EXPECT_EQ(e.runs, 0);
  EXPECT_EQ(e.text(), "only 14 runs of 2 sources on h100-sxm with nemo");
}

TEST(Validation, FieldsAreChecked) {
  const std::string good =
      R"("source": "s", "chip": "c", "stack": "n", "experts": false,
         "context_parallel": false, "bits": 16, "sequence": 4096, "gpus": 8,
         "network_gbps": 0, "runs": 1)";
  auto fails = [&](const std::string &rest) {
    Expected<StepValidation> v = read(R"({"runs": [{)" + good + rest + "}]}");
    bool failed = !v;
    consumeError(v.takeError());
    return failed;
  };
  EXPECT_FALSE(fails(R"(, "fitted": [0.1], "held_out": [])"));
  EXPECT_TRUE(fails(R"(, "fitted": [0.1, 0.2], "held_out": [])"));
  EXPECT_TRUE(fails(R"(, "fitted": [], "held_out": [])"));
  EXPECT_TRUE(fails(R"(, "fitted": [-1], "held_out": [])"));
  EXPECT_TRUE(fails(R"(, "fitted": [0.1])"));
  EXPECT_TRUE(fails(R"(, "fitted": [0.1], "held_out": [], "mean": 1)"));
  for (const char *text :
       {R"({"runs": 3})", R"({})", R"({"runs": [], "x": 1})"}) {
    Expected<StepValidation> v = read(text);
    EXPECT_FALSE(static_cast<bool>(v)) << text;
    consumeError(v.takeError());
  }
}

/// What ships has errors of both kinds for every kind of run, and says less of
/// what was measured less.
TEST(Validation, Shipped) {
  const StepValidation &v = defaultValidation();
  int64_t runs = 0;
  for (const MeasuredRuns &r : v) {
    runs += r.runs;
    EXPECT_FALSE(r.fitted.empty()) << r.source;
    EXPECT_FALSE(r.heldOut.empty()) << r.source;
  }
  EXPECT_GT(runs, 2000);
  ExpectedError near = expectedError(v, dense());
  EXPECT_FALSE(near.heldOut) << near.why;
  RunKind far = dense();
  far.sequence = 1 << 20;
  EXPECT_GT(expectedError(v, far).p90, near.p90);
}
